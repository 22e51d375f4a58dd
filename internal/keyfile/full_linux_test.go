package keyfile_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// fullAfter is the variable that has a test's child write no file of more octets.
const fullAfter = "KEYFILE_FULL_AFTER"

// If this fails, a start on a full disk leaves half a key behind: no later one serves the
// zone before somebody removes it, or each leaves another file.
func TestFullDisk(t *testing.T) {
	if octets := os.Getenv(fullAfter); octets != "" {
		makeKey(t, octets)
		return
	}
	for _, octets := range []int{0, 120} { // in the private file, and in the public one
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$")
		cmd.Env = append(os.Environ(), fullAfter+"="+strconv.Itoa(octets))
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		left, err := os.ReadDir(filepath.Join(dir, "keys"))
		if err != nil || len(left) > 0 {
			t.Errorf("full after %d octets: %v is left: %v", octets, left, err)
		}
		if _, made, err := kept(filepath.Join(dir, "keys"), "example.lan", dns.ED25519); err != nil || !made {
			t.Errorf("full after %d octets: made %v later: %v", octets, made, err)
		}
	}
}

// makeKey fails to make a key on a disk that is as good as full.
func makeKey(t *testing.T, octets string) {
	t.Helper()
	n, err := strconv.ParseUint(octets, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		t.Fatal(err)
	}
	if k, _, err := kept("keys", "example.lan", dns.ED25519); err == nil {
		t.Errorf("made %v", k)
	}
}
