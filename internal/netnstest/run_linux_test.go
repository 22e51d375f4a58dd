package netnstest

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	return err == nil
}

// If this fails, tests that were killed leave machines behind for good, with all
// that ran on them, or a run takes away those of another that is under way.
func TestDeadRunsAreTakenAway(t *testing.T) {
	Need(t)
	dir := t.TempDir()
	dead, err := begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	alive, err := begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{dead.name, alive.name} {
		ip(t, "netns", "add", run+"-1-node")
	}
	t.Cleanup(func() {
		_ = alive.file.Close() // that it is open so long is what counts
		if err := remove(alive.name + "-1-node"); err != nil {
			t.Error(err)
		}
	})
	left := Namespace(dead.name+"-1-node").Command(t.Context(), "sleep", "infinity")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	// It is in its namespace when the output of another program there comes.
	for !strings.Contains(pids(t, dead.name+"-1-node"), "\n") {
		if t.Context().Err() != nil {
			t.Fatal("it does not get into its namespace")
		}
	}
	if err := dead.file.Close(); err != nil { // as the end of its process does
		t.Fatal(err)
	}
	if _, err := begin(dir); err != nil {
		t.Fatal(err)
	}
	if err := left.Wait(); err == nil {
		t.Error("what ran there ended by itself")
	}
	for path, want := range map[string]bool{
		namespaces + dead.name + "-1-node": false, filepath.Join(dir, dead.name): false,
		namespaces + alive.name + "-1-node": true, filepath.Join(dir, alive.name): true,
	} {
		if got := exists(t, path); got != want {
			t.Errorf("%s is there: %v, want %v", path, got, want)
		}
	}
}

func pids(t *testing.T, ns string) string {
	t.Helper()
	out, err := exec.Command("ip", "netns", "pids", ns).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// If this fails, tests in which packets are cut off, or go through, show nothing.
func TestWire(t *testing.T) {
	a, b := New(t, "a"), New(t, "b")
	Wire(t, End{a, "wire"}, End{b, "wire"})
	a.IP(t, "addr add 192.0.2.1/24 dev wire")
	b.IP(t, "addr add 192.0.2.2/24 dev wire")
	b.Do(t, func() error {
		l, err := net.Listen("tcp", "192.0.2.2:7")
		if err == nil {
			t.Cleanup(func() { _ = l.Close() })
		}
		return err
	})
	dial := func() error {
		c, err := net.Dial("tcp", "192.0.2.2:7")
		if err == nil {
			_ = c.Close() // it was only to come about
		}
		return err
	}
	a.Do(t, dial)
	b.NFT(t, "table inet t { chain in { type filter hook input priority 0; tcp dport 7 reject with tcp reset; }; }")
	if err := a.Enter(dial); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("with a rule that refuses: %v", err)
	}
	if out := b.Run(t, "ip", "-brief", "addr"); !strings.Contains(out, "192.0.2.2/24") {
		t.Errorf("the other end has no address:\n%s", out)
	}
}
