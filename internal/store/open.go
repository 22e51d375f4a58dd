package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
)

// keptAside is how many damaged files stay: a disk that fails at every start
// must not fill up with them.
const keptAside = 5

// Report says what was found when the file was opened.
type Report struct {
	// Damage says what was wrong with the file; "" if nothing was.
	Damage string
	// SetAside is where the damaged file lies now.
	SetAside string
	// Restored is when the copy was made that stands in; zero if none does.
	Restored time.Time
	// Empty: there is no stored state (S3).
	Empty bool
	// Unstored says why nothing can be stored at present; nil if all is well.
	Unstored error
	// Notes are smaller things that people should know.
	Notes []string
}

// Alarming says that state was lost or cannot be stored.
func (r Report) Alarming() bool { return r.Damage != "" || r.Unstored != nil || !r.Restored.IsZero() }

// String is one line for people; "" if all was well.
func (r Report) String() string {
	var parts []string
	if r.Damage != "" {
		parts = append(parts, "the stored state is damaged: "+r.Damage)
	}
	if r.SetAside != "" {
		parts = append(parts, "it was set aside as "+r.SetAside)
	}
	switch {
	case !r.Restored.IsZero():
		parts = append(parts, "the copy of "+r.Restored.UTC().Format(time.RFC3339)+" is used")
	case r.Empty && r.Damage != "":
		parts = append(parts, "there is no good copy of it, so this start knows nothing of the last run")
	}
	if r.Unstored != nil {
		parts = append(parts, fmt.Sprintf("nothing can be stored at present: %v%s", r.Unstored, remedy(r.Unstored)))
	}
	return strings.Join(append(parts, r.Notes...), "; ")
}

// establish opens the file, or what stands in for it. An error says that the
// file may be good and cannot be used now: it is left as it is.
func (s *Store) establish() (Report, error) {
	var report Report
	torn, err := s.inspect(fileName)
	if err == nil {
		if torn {
			report.Notes = append(report.Notes, s.path(fileName)+
				": one of its two head pages is not readable (a power cut during a commit leaves that); the last commit may be missing")
		}
		err = s.openFile(fileName, &report)
	}
	var damaged *damageError
	switch {
	case errors.As(err, &damaged):
		report.Damage = err.Error()
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return report, err
	}
	return report, s.replace(&report)
}

// replace puts the copy of the generation before, or an empty file, in the place
// of one that is damaged or missing.
func (s *Store) replace(report *Report) error {
	_, err := s.inspect(prevName)
	var damaged *damageError
	if err != nil && !errors.As(err, &damaged) && !errors.Is(err, fs.ErrNotExist) {
		return err // it may be good: an empty store must not take its place
	}
	good := err == nil
	if good {
		if report.Damage == "" {
			report.Notes = append(report.Notes, s.path(fileName)+" was missing; its copy "+prevName+
				" was there (to start without stored state, remove both)")
		}
		if info, err := os.Stat(s.path(prevName)); err == nil {
			report.Restored = info.ModTime()
		}
		err = copyFile(s.path(prevName), s.path(tempName))
	} else {
		report.Empty = true
		err = s.create(s.path(tempName))
	}
	if err == nil {
		err = s.install(report)
	}
	if err == nil {
		err = s.openFile(fileName, report)
	}
	if err != nil {
		report.Unstored = err
		if good {
			return s.openReadOnly(prevName)
		}
	}
	return nil
}

// install sets the damaged file aside, if there is one, and moves the new one to
// its place. A kill between the two is a file that is missing at the next start.
func (s *Store) install(report *Report) error {
	if report.Damage != "" {
		aside := s.path(fileName + ".damaged-" + s.opts.Now().UTC().Format("20060102T150405.000Z"))
		if err := os.Rename(s.path(fileName), aside); err != nil {
			return fmt.Errorf("set the damaged file aside: %w", err)
		}
		report.SetAside = aside
		s.dropOldest()
	}
	if err := os.Rename(s.path(tempName), s.path(fileName)); err != nil {
		return fmt.Errorf("put the new file in its place: %w", err)
	}
	return syncDir(s.dir)
}

// dropOldest removes damaged files beyond the number that is kept.
func (s *Store) dropOldest() {
	aside, err := filepath.Glob(s.path(fileName + ".damaged-*"))
	if err != nil {
		return
	}
	slices.Sort(aside) // their names end in the time
	for len(aside) > keptAside {
		_ = os.Remove(aside[0])
		aside = aside[1:]
	}
}

// inspect reads a whole file. What is wrong with it is a damageError, or a
// [NewerError]; other errors are that it cannot be read.
func (s *Store) inspect(name string) (torn bool, err error) {
	info, err := os.Lstat(s.path(name))
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, &damageError{errors.New("it is not a regular file")}
	}
	f, err := os.Open(s.path(name))
	if err != nil {
		return false, fmt.Errorf("%w%s", err, remedy(err))
	}
	defer func() { _ = f.Close() }()
	torn, err = inspect(f, info.Size())
	if newer, ok := errors.AsType[*NewerError](err); ok {
		newer.Path = s.path(name)
	}
	return torn, err
}

func inspect(src io.ReaderAt, size int64) (torn bool, err error) {
	var in inspection
	torn, err = walk(src, size, in.visit)
	if err != nil {
		return torn, &damageError{err}
	}
	return torn, in.judge()
}

// openFile opens a file that was inspected, for reading alone where the system
// does not let it be written.
func (s *Store) openFile(name string, report *Report) error {
	db, file, err := openBolt(s.path(name), false)
	if isPermission(err) {
		report.Unstored = err
		return s.openReadOnly(name)
	}
	if err != nil {
		return err
	}
	if err := file.Chmod(0o600); err != nil && runtime.GOOS != "windows" {
		report.Notes = append(report.Notes, fmt.Sprintf("make %s private: %v", s.path(name), err))
	}
	s.adopt(db, file)
	return nil
}

func (s *Store) openReadOnly(name string) error {
	db, file, err := openBolt(s.path(name), true)
	if err != nil {
		return err
	}
	s.adopt(db, file)
	return nil
}

func isPermission(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// openBolt opens a file that was inspected and has bbolt check it too.
func openBolt(path string, readOnly bool) (db *bolt.DB, file *os.File, err error) {
	options := &bolt.Options{
		Timeout:         time.Second, // only a foreign tool can hold it: we hold the folder
		ReadOnly:        readOnly,
		PreLoadFreelist: true,
		FreelistType:    bolt.FreelistMapType,
		NoStatistics:    true,
		PageSize:        pageSize,
		InitialMmapSize: mapSize(),
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			file, err = os.OpenFile(name, flag, mode)
			return file, err
		},
	}
	err = guard(func() error {
		if db, err = bolt.Open(path, 0o600, options); err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		db.AllocSize = growStep
		return db.View(check)
	})
	if _, ok := errors.AsType[*panicError](err); ok {
		return nil, nil, &damageError{err}
	}
	if err != nil && db != nil {
		err = errors.Join(err, db.Close())
	}
	return db, file, err
}

// growStep is by how much the file grows at a time.
const growStep = 64 << 10

// mapSize is how much of the file is mapped from the start: a reader holds a
// commit up only when the map must grow. Where the map is part of the file it
// starts small.
func mapSize() int {
	switch {
	case runtime.GOOS == "windows":
		return 0
	case strconv.IntSize == 32:
		return 64 << 20
	default:
		return 256 << 20
	}
}

func check(tx *bolt.Tx) error {
	var first error
	for err := range tx.Check() { // to its end, or its goroutine stays
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return &damageError{first}
	}
	return nil
}

// create makes a file without state.
func (s *Store) create(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make a new file: %w", err)
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, PageSize: pageSize})
	if err != nil {
		return fmt.Errorf("make a new file: %w", err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range buckets(Format) {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return put(tx, metaBucket, []byte(formatKey), []byte(strconv.Itoa(Format)))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("make a new file: %w", err)
	}
	return nil
}
