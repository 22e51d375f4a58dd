package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// inode identifies the file in the folder.
func inode(t *testing.T, s *Store) os.FileInfo {
	t.Helper()
	info, err := os.Stat(s.path(fileName))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// If this fails, one bad write makes the store useless until the next start, or
// hangs it, or a later crash finds a file that is no longer whole.
func TestFailingCommits(t *testing.T) {
	tests := []struct {
		name   string
		update func(*bolt.DB, func(*bolt.Tx) error) error
		err    string
		// renewed: a new file must be written before anything else is.
		renewed bool
	}{
		{
			"nothing was written", func(*bolt.DB, func(*bolt.Tx) error) error { return syscall.ENOSPC },
			"no space left on device: free some space on that disk", false,
		},
		{"written, and not taken by the disk", func(db *bolt.DB, fn func(*bolt.Tx) error) error {
			return errors.Join(db.Update(fn), syscall.EIO)
		}, "input/output error: the disk fails: see the kernel's log", true},
		{"a panic in the transaction", func(db *bolt.DB, _ func(*bolt.Tx) error) error {
			return db.Update(func(*bolt.Tx) error { panic("a page is wrong") })
		}, "panic in the database: a page is wrong", true},
		{"a panic that keeps the database's locks", func(db *bolt.DB, _ func(*bolt.Tx) error) error {
			if _, err := db.Begin(true); err != nil {
				return err
			}
			panic("a page is wrong")
		}, "panic in the database: a page is wrong", true},
		{"a memory fault", func(db *bolt.DB, _ func(*bolt.Tx) error) error {
			return db.Update(func(*bolt.Tx) error { *nowhere() = 1; return nil })
		}, "panic in the database: runtime error: invalid memory address or nil pointer dereference", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := open(t, t.TempDir(), Options{})
			commit(t, s, numbered(1))
			load(t, s)
			before := inode(t, s)
			s.update = tt.update
			err := s.Commit(numbered(2))
			if _, ok := errors.AsType[*CommitError](err); !ok {
				t.Fatalf("error %v is no CommitError", err)
			}
			if diff := cmp.Diff("store to "+s.path(fileName)+": "+tt.err, err.Error()); diff != "" {
				t.Error(diff)
			}
			_, _ = s.Load() // whatever it says, it returns
			s.update = (*bolt.DB).Update
			commit(t, s, numbered(2))
			if renewed := !os.SameFile(before, inode(t, s)); renewed != tt.renewed {
				t.Errorf("a new file was written: %v", renewed)
			}
			commit(t, s, numbered(3))
			s, report := reopen(t, s)
			n, err := checkNumbered(load(t, s))
			if n != 3 || err != nil || report.Damage != "" {
				t.Errorf("commit %d is stored (%v), report %+v", n, err, report)
			}
		})
	}
}

// If this fails, somebody who removes the file makes every later commit vanish
// with the process, though each was acknowledged.
func TestFileRemovedWhileOpen(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	commit(t, s, numbered(1))
	if err := os.Remove(s.path(fileName)); err != nil {
		t.Fatal(err)
	}
	commit(t, s, numbered(2))
	s, _ = reopen(t, s)
	if n, err := checkNumbered(load(t, s)); n != 2 || err != nil {
		t.Errorf("commit %d is stored (%v)", n, err)
	}
}

// spoil puts something else in the place of a file that is open.
func spoil(t *testing.T, s *Store) {
	t.Helper()
	if err := os.WriteFile(s.path("other"), []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.path(fileName), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.path("other"), s.path(fileName)); err != nil {
		t.Fatal(err)
	}
}

// If this fails, a file that is spoilt while it is open is written on, or the
// owner believes that its older states are still stored: in the first run, which
// was given none, and where something else than a batch comes upon it first.
func TestFileDamagedWhileOpen(t *testing.T) {
	for name, before := range map[string]func(*Store) error{
		"given":        func(s *Store) error { _, err := s.Load(); return err },
		"committed":    func(*Store) error { return nil },
		"housekeeping": nil,
		"read":         func(*Store) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t, t.TempDir(), Options{})
			commit(t, s, numbered(1))
			if before != nil {
				if err := before(s); err != nil {
					t.Fatal(err)
				}
			}
			spoil(t, s)
			if name == "read" { // by the dashboard, which looks every two seconds
				if list, err := s.Events(Query{}); err == nil {
					t.Errorf("%d events of a file that is gone", len(list))
				}
			}
			if before == nil {
				if err := errors.Join(s.PutConfig(Config{}), s.Prune(t.Context(), time.Now())); err != nil {
					t.Fatal(err)
				}
			}
			err := s.Commit(numbered(2))
			var replaced *ReplacedError
			if !errors.As(err, &replaced) || !strings.HasPrefix(err.Error(), "the stored state was replaced while in use: ") {
				t.Fatalf("error %v is no ReplacedError", err)
			}
			if replaced.Report.Damage != "the file is cut off after 14 bytes" || replaced.Report.SetAside == "" {
				t.Errorf("report %+v", replaced.Report)
			}
			commit(t, s, numbered(3))
			s, _ = reopen(t, s)
			if n, err := checkNumbered(load(t, s)); n != 3 || err != nil {
				t.Errorf("commit %d is stored (%v)", n, err)
			}
		})
	}
}

// If this fails, the dashboard and the commands hang while a disk does.
func TestReadersDoNotWaitForACommit(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	commit(t, s, numbered(1))
	inside, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error)
	s.update = func(db *bolt.DB, fn func(*bolt.Tx) error) error {
		return db.Update(func(tx *bolt.Tx) error {
			close(inside)
			<-goOn
			return fn(tx)
		})
	}
	go func() { done <- s.Commit(numbered(2)) }()
	<-inside
	events, err := s.Events(Query{})
	if err != nil || len(events) != 1 {
		t.Errorf("%d events: %v", len(events), err)
	}
	if err := s.Snapshot(); err != nil {
		t.Error(err)
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if events, err := s.Events(Query{}); err != nil || fmt.Sprint(ids(events)) != "[2 1]" {
		t.Errorf("%v: %v", ids(events), err)
	}
}

// nowhere gives what must not be written to.
func nowhere() *int { return nil }
