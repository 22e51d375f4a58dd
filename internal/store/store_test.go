package store

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/sites"
)

// childEnv has the test program play another process.
const childEnv = "DNSTEER_STORE_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(child(role, os.Args[len(os.Args)-1]))
	}
	goleak.VerifyTestMain(m)
}

// child is what the test program does as another process in the folder dir; it
// gives its exit code.
func child(role, dir string) int {
	roles := map[string]func(dir string) error{
		"open":  func(dir string) error { _, _, err := Open(dir, Options{}); return err },
		"write": writeForEver,
	}
	maps.Copy(roles, systemRoles())
	runtime.LockOSThread() // strace counts the system calls of each thread apart
	if err := roles[role](dir); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func childCommand(role, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	return cmd
}

// stored makes a state of a site that is ready.
func stored(text string) SiteState { return func() []byte { return []byte(text) } }

var epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string, opts Options) (*Store, Report) {
	t.Helper()
	s, report, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, report
}

// reopen closes a store and opens its folder as the next start does.
func reopen(t *testing.T, s *Store) (*Store, Report) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, s.dir, Options{Now: s.opts.Now})
}

func commit(t *testing.T, s *Store, b Batch) {
	t.Helper()
	if err := s.Commit(b); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, s *Store) State {
	t.Helper()
	state, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func event(id uint64, text string) sites.Event {
	return sites.Event{
		ID: id, Time: epoch.Add(time.Duration(id) * time.Minute), Kind: sites.NodeOffline,
		Severity: sites.Warning, Site: "berlin", Node: "a", Text: text,
	}
}

// If this fails, a restart forgets which nodes were out, and moves healthy ones
// (S1, S4).
func TestStateSurvivesARestart(t *testing.T) {
	s, report := open(t, filepath.Join(t.TempDir(), "made", "here"), Options{})
	if !report.Empty || report.Alarming() || report.String() != "" {
		t.Errorf("a first start reports %+v", report)
	}
	commit(t, s, Batch{
		Sites:   map[string]SiteState{"berlin": stored(`{"a":1}`), "paris": stored(`{"b":2}`), "gone": stored("{}")},
		Global:  []byte(`{"isolated":false}`),
		Serials: map[string]uint32{"example.lan": 4294967295, "corp": 1},
		Events:  []sites.Event{event(1, "first"), event(2, "second")},
		Wall:    epoch,
	})
	commit(t, s, Batch{Sites: map[string]SiteState{"berlin": stored(`{"a":3}`), "gone": nil}, Serials: map[string]uint32{"corp": 2}})
	s, report = reopen(t, s)
	if diff := cmp.Diff(Report{}, report); diff != "" {
		t.Errorf("report: %s", diff)
	}
	want := State{
		Sites:     map[string][]byte{"berlin": []byte(`{"a":3}`), "paris": []byte(`{"b":2}`)},
		Global:    []byte(`{"isolated":false}`),
		Serials:   map[string]uint32{"example.lan": 4294967295, "corp": 2},
		LastEvent: 2, Wall: epoch,
	}
	if diff := cmp.Diff(want, load(t, s)); diff != "" {
		t.Errorf("state: %s", diff)
	}
	events, err := s.Events(Query{})
	if diff := cmp.Diff([]sites.Event{event(2, "second"), event(1, "first")}, events); err != nil || diff != "" {
		t.Errorf("events: %v %s", err, diff)
	}
}

// If this fails, a start with a broken configuration has nothing to run with.
func TestLastGoodConfiguration(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	if _, ok, err := s.Config(); ok || err != nil {
		t.Errorf("there is a configuration before one was stored: %v", err)
	}
	want := Config{When: epoch, Files: []ConfigFile{
		{Name: "dnsteer.yaml", Data: []byte("sites: []\n")},
		{Name: "sites/berlin.yaml", Data: []byte(strings.Repeat("# \xff\x00 not UTF-8\n", 3_000))},
	}}
	for _, c := range []Config{{When: epoch.Add(-time.Hour)}, want} {
		if err := s.PutConfig(c); err != nil {
			t.Fatal(err)
		}
	}
	s, _ = reopen(t, s)
	got, ok, err := s.Config()
	if diff := cmp.Diff(want, got); err != nil || !ok || diff != "" {
		t.Errorf("ok %v, error %v: %s", ok, err, diff)
	}
}

// If this fails, other users of the host read the configuration's secrets.
func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s, _ := open(t, dir, Options{})
	if err := s.Snapshot(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, fileName: 0o600, prevName: 0o600, lockName: 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %04o, want %04o", name, got, want)
		}
	}
	for name, mode := range map[string]os.FileMode{"": 0o777, fileName: 0o644} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	_, report := reopen(t, s)
	want := []string{"state folder " + dir + " can be written to by others (mode 0777): run chmod 700 on it"}
	if diff := cmp.Diff(want, report.Notes); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(dir, fileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode was not set right: %v %v", info.Mode(), err)
	}
}

// If this fails, two controllers write over each other's state and both push.
func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, dir, Options{})
	out, err := childCommand("open", dir).Output()
	want := fmt.Sprintf("state folder %s is in use by process %d: stop that one, or give this one a folder of its own\n", dir, os.Getpid())
	if err == nil {
		t.Error("the second process was let in")
	}
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
	var locked *LockedError
	if _, _, err := Open(dir, Options{}); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("a second store in this process: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := childCommand("open", dir).Output(); err != nil {
		t.Errorf("the folder is still locked: %s", out)
	}
}

// If this fails, a commit that was late, of a disk that hung while the controller was
// stopped, opens the folder again, and the next start finds it in use.
func TestCommitAfterTheEnd(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, dir, Options{})
	commit(t, s, state("1"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(state("2")); !errors.Is(err, ErrClosed) {
		t.Errorf("a commit after the end: %v", err)
	}
	if out, err := childCommand("open", dir).Output(); err != nil {
		t.Errorf("the folder is locked: %s", out)
	}
}
