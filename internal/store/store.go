// Package store keeps what must outlive the process in one file of the state
// folder: the durable state of sites, events, zone serials, the last good
// configuration, and values that other parts of the controller keep (S1, S2, S4).
//
// What [Store.Commit] has acknowledged survives a kill -9 and a power cut, all
// of a batch or nothing. No damage of the file stops a start: a file that is not
// whole to the last octet is set aside and the copy of the generation before
// ([Store.Snapshot]) stands in. Only a folder in use by another process and a
// file of a newer program are refused.
//
// States are opaque octets here; whoever gives them gives them a meaning. A
// decision loop does not wait for a disk: it hands its batches to a [Writer].
package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The files in the state folder.
const (
	fileName = "dnsteer.db"
	prevName = "dnsteer.db.prev"
	tempName = "dnsteer.db.tmp"
)

// The defaults of [Options]. A start reads every event once to see that none is
// damaged, before the first answer: their number is what that takes.
const (
	DefaultMaxEvents = 20_000
	DefaultMaxAge    = 30 * 24 * time.Hour
)

// Options of a store. The zero value takes the defaults.
type Options struct {
	// MaxEvents is how many of the newest events are kept.
	MaxEvents int
	// MaxAge is how long events are kept; see [Store.Prune].
	MaxAge time.Duration
	// Now is the wall clock that names files which are set aside.
	Now func() time.Time
}

// Store is an open state folder. It is safe for concurrent use: readers wait
// neither for a commit nor for each other.
type Store struct {
	dir  string
	opts Options
	lock *os.File

	// writing is held by whoever changes the file, so that one at a time does.
	writing sync.Mutex
	// acked is the generation that the last acknowledged commit made.
	acked int
	// suspect asks for a new file before the next commit; see renew.
	suspect bool
	// stuck: bbolt panicked, so its locks may be held for ever.
	stuck bool
	// closed: nothing is written any more.
	closed bool
	// stateful: the owner was given state, or has committed some, that later batches
	// build on.
	stateful bool
	// replaced is that another file is in its place, for the next batch to be told;
	// nil for none.
	replaced *ReplacedError

	// copying lets one snapshot at a time be made.
	copying sync.Mutex

	// mu guards what db is; it is held for reading while db is used.
	mu sync.RWMutex
	db *bolt.DB // nil where there is no file at present
	// file is the one that db uses, whatever stands under its name.
	file *os.File

	// update is (*bolt.DB).Update; tests have disks fail with it.
	update func(*bolt.DB, func(*bolt.Tx) error) error
}

// Open locks the state folder dir, makes it where it is missing, and opens what
// is stored there. The report says what was found; it is to be logged, and to be
// an event where [Report.Alarming] says so. Errors are [LockedError], [NewerError], or a folder
// that cannot be used at all. Where only the file cannot be made, as on a full
// disk, the store opens empty, the report says so, and every commit tries again.
func Open(dir string, opts Options) (*Store, Report, error) {
	if opts.MaxEvents <= 0 {
		opts.MaxEvents = DefaultMaxEvents
	}
	if opts.MaxAge <= 0 {
		opts.MaxAge = DefaultMaxAge
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	notes, err := makeDir(dir)
	if err != nil {
		return nil, Report{}, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, Report{}, err
	}
	s := &Store{dir: dir, opts: opts, lock: lock, update: (*bolt.DB).Update}
	report, err := s.establish()
	if err != nil {
		return nil, Report{}, errors.Join(err, lock.Close())
	}
	report.Notes = append(notes, report.Notes...)
	return s, report, nil
}

// makeDir makes the folder for its owner alone. The permissions of a folder that
// is there already are its owner's business, and worth a note.
func makeDir(dir string) (notes []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make state folder: %w%s", err, remedy(err))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("look at state folder: %w", err)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 && runtime.GOOS != "windows" {
		notes = append(notes, fmt.Sprintf(
			"state folder %s can be written to by others (mode %04o): run chmod 700 on it", dir, perm))
	}
	return notes, nil
}

// Close ends the use of the folder. It waits for a commit under way, however
// long that takes.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.closed = true
	return errors.Join(s.release(), s.lock.Close())
}

// release closes the file, if there is one.
func (s *Store) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	db, stuck := s.db, s.stuck
	s.db, s.file, s.stuck = nil, nil, false
	if db == nil || stuck {
		return nil // to close a bbolt that panicked could wait for ever
	}
	return guard(db.Close)
}

// adopt makes db the open file.
func (s *Store) adopt(db *bolt.DB, file *os.File) {
	s.mu.Lock()
	s.db, s.file = db, file
	s.mu.Unlock()
	s.suspect = false
	s.acked = s.generation()
}

// generation is the number of the file's newest generation, -1 if unknown.
func (s *Store) generation() int {
	id := -1
	if err := s.view(func(tx *bolt.Tx) error { id = tx.ID(); return nil }); err != nil {
		return -1
	}
	return id
}

// view runs fn on one generation of the file. Without a file it runs nothing.
func (s *Store) view(fn func(*bolt.Tx) error) error {
	locked, err := s.look(fn)
	if locked != nil {
		s.mu.Lock()
		s.stuck = s.stuck || s.db == locked
		s.mu.Unlock()
	}
	return err
}

// look is view, and gives the database that keeps its locks for ever: one that panics
// before it has begun rolls nothing back.
func (s *Store) look(fn func(*bolt.Tx) error) (locked *bolt.DB, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.db == nil:
		return nil, nil //nolint:nilnil // there is nothing to look at, and nothing that is locked
	case s.stuck:
		return nil, errors.New("the database has failed and opens anew with the next commit")
	}
	begun := false
	err = guard(func() error {
		return s.db.View(func(tx *bolt.Tx) error { begun = true; return fn(tx) })
	})
	if _, ok := errors.AsType[*panicError](err); ok && !begun {
		locked = s.db
	}
	return locked, err
}

// isStuck says whether the open file can be used no more.
func (s *Store) isStuck() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.stuck
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// guard turns a panic and a memory fault (a page of the file that the disk does
// not give) into an error.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value}
		}
	}()
	return fn()
}
