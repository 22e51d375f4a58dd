package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// numbered is a batch all of whose parts say n.
func numbered(n uint64) Batch {
	text := []byte(strconv.FormatUint(n, 10))
	return Batch{
		Sites: map[string]SiteState{"a": stored(string(text)), "b": stored(string(text))}, Global: text,
		Serials: map[string]uint32{"zone": uint32(n)}, Events: []sites.Event{event(n, string(text))},
	}
}

// checkNumbered says whether a state is that of one batch, and which.
func checkNumbered(state State) (uint64, error) {
	n := state.LastEvent
	text := strconv.FormatUint(n, 10)
	if n > 0 && (string(state.Sites["a"]) != text || string(state.Sites["b"]) != text ||
		string(state.Global) != text || state.Serials["zone"] != uint32(n)) {
		return n, fmt.Errorf("a mixture of batches: %+v", state)
	}
	return n, nil
}

// writeForEver commits numbered batches and says each number when it is
// acknowledged.
func writeForEver(dir string) error {
	s, report, err := Open(dir, Options{MaxEvents: 50})
	if err != nil {
		return err
	}
	if report.Damage != "" {
		return fmt.Errorf("start: %s", report)
	}
	state, err := s.Load()
	if err != nil {
		return err
	}
	n, err := checkNumbered(state)
	if err != nil {
		return err
	}
	for {
		n++
		if err := s.Commit(numbered(n)); err != nil {
			return err
		}
		fmt.Println(n)
		if n%16 == 0 {
			if err := s.Snapshot(); err != nil {
				return err
			}
		}
	}
}

// If this fails, a kill -9 or a crash loses a transition or an event that was
// acted upon, or leaves a file that is not read (S1).
func TestKills(t *testing.T) {
	kills := 60
	if n, err := strconv.Atoi(os.Getenv("DNSTEER_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	started := time.Now()
	total := uint64(0)
	for i := range kills {
		acked := killWriter(t, dir, time.Duration(random.IntN(25_000))*time.Microsecond)
		s, report, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if report.Damage != "" {
			t.Fatalf("kill %d: %s", i, report)
		}
		n, err := checkNumbered(load(t, s))
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		if n < acked || n > acked+1 {
			t.Fatalf("kill %d: commit %d was acknowledged last, %d is stored", i, acked, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		total = n
	}
	t.Logf("%d kills within %d commits, %v", kills, total, time.Since(started).Round(time.Millisecond))
}

// killWriter has another process write to dir, kills it some time after its
// first commit, and gives the last number that was acknowledged.
func killWriter(t *testing.T, dir string, after time.Duration) (acked uint64) {
	t.Helper()
	cmd := childCommand("write", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var kill *time.Timer
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			t.Errorf("the writer says: %s", lines.Text())
			break
		}
		acked = n
		if kill == nil {
			kill = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
	}
	if kill == nil {
		_ = cmd.Process.Kill()
		t.Error("the writer never committed")
	}
	_ = cmd.Wait() // it was killed
	return acked
}
