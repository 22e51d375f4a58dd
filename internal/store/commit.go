package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/dnsteer/dnsteer/sites"
)

// pruneStep is how many events a commit removes at most beyond those it adds, so
// that no commit takes long.
const pruneStep = 256

// Batch is what one commit stores. Its parts may be empty.
type Batch struct {
	// Sites gives the durable state of sites by name; nil removes a site's.
	Sites map[string]SiteState
	// Global is the durable state that belongs to no site; nil leaves it as it is.
	Global []byte
	// Events with their IDs; an ID that is stored already is replaced.
	Events []sites.Event
	// Serials by zone.
	Serials map[string]uint32
	// Values of other parts of the controller, by kind and key; nil removes one.
	// What is missing stays as it is.
	Values map[Kind]map[string][]byte
	// AllValues says that there are no others: what is missing is removed, of which a
	// copy that stands in for a damaged file may have more.
	AllValues bool
	// Wall is the wall clock, and is given only while it is believed: a later
	// start compares its own clock with it (O6).
	Wall time.Time
}

// SiteState makes what is stored of a site. It is called at each attempt to store
// it, by the goroutine of the commit, and must be safe to be called there; nil from it
// leaves what is stored as it is. Whoever queues states thus does not wait for their
// encoding, and of those that wait only the last is encoded.
type SiteState func() []byte

// Commit stores the batch in one transaction and returns when it lasts. Errors
// are [CommitError], after which the store goes on and the batch may be given
// again (it may even have been stored), and [ReplacedError].
func (s *Store) Commit(b Batch) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.ready(); err != nil {
		return &CommitError{Path: s.path(fileName), Err: err}
	}
	if replaced := s.replaced; replaced != nil { // it is for the owner to say it all again
		s.replaced = nil
		return replaced
	}
	err := s.transact(func(tx *bolt.Tx) error { return s.apply(tx, b) })
	s.stateful = s.stateful || err == nil
	return err
}

// write runs fn in a transaction of its own, for what is no batch of the owner's.
func (s *Store) write(fn func(*bolt.Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.ready(); err != nil {
		return &CommitError{Path: s.path(fileName), Err: err}
	}
	return s.transact(fn)
}

// transact runs fn in a transaction. The caller holds writing, and the store is ready.
func (s *Store) transact(fn func(*bolt.Tx) error) error {
	s.mu.RLock()
	db := s.db
	err := guard(func() error { return s.update(db, fn) })
	s.mu.RUnlock()
	if err == nil {
		s.acked = s.generation()
		return nil
	}
	if _, ok := errors.AsType[*panicError](err); ok {
		s.mu.Lock()
		s.stuck, s.suspect = true, true
		s.mu.Unlock()
	} else if s.generation() != s.acked {
		s.suspect = true
	}
	return &CommitError{Path: s.path(fileName), Err: err}
}

// ready sees to it that there is a file to write to, and that it is the one in
// the folder.
func (s *Store) ready() error {
	if s.closed { // its lock may be another's by now
		return ErrClosed
	}
	if err := s.relock(); err != nil {
		return err
	}
	switch {
	case s.db == nil || s.db.IsReadOnly():
		return s.reopen()
	case s.suspect || s.isStuck() || !s.inPlace():
		return s.renew()
	default:
		return nil
	}
}

// InPlace says whether the folder is still the one that was opened, with the
// file in it that is written. Where it is not, the next commit says why, or puts
// the file back into a folder that is there again. A commit under way sees to
// that itself.
func (s *Store) InPlace() bool {
	if !s.writing.TryLock() {
		return true
	}
	defer s.writing.Unlock()
	return s.db == nil || s.inPlace() && s.locked()
}

// locked says whether the lock that is held is the folder's.
func (s *Store) locked() bool { return same(s.lock, s.path(lockName)) }

// relock takes the lock again where it has gone with the folder: another process
// could use what stands there now.
func (s *Store) relock() error {
	if s.locked() {
		return nil
	}
	if _, err := os.Stat(s.dir); err != nil {
		return fmt.Errorf("the state folder is gone (%w): make it again, empty and for the user that dnsteer runs as, and what is known is written there", err)
	}
	lock, err := lockDir(s.dir)
	if err != nil {
		return err
	}
	_ = s.lock.Close() // nobody can take it any more
	s.lock = lock
	return nil
}

// inPlace says whether the file that is written is the one in the folder: one
// that somebody has removed takes every commit and keeps none.
func (s *Store) inPlace() bool { return same(s.file, s.path(fileName)) }

// same says whether an open file is the one of a name.
func same(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(ours, named)
}

// reopen opens the folder's file as a start does.
func (s *Store) reopen() error {
	if err := s.release(); err != nil {
		return err
	}
	report, err := s.establish()
	switch {
	case err != nil:
		return err
	case report.Unstored != nil:
		return report.Unstored
	case s.stateful && (report.Damage != "" || report.Empty || !report.Restored.IsZero()):
		s.stateful, s.replaced = false, &ReplacedError{Report: report}
	}
	return nil
}

// renew writes a new file with what the old one holds. It is called when a
// commit failed after its generation had become visible (the disk did not take
// the head page: the next commit could overwrite what an older head on the disk
// still needs), when bbolt panicked, and when the file is gone from the folder.
// The old file is not written to again.
func (s *Store) renew() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if err := writeFile(s.path(tempName), func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(s.file, 0, info.Size()))
		return err
	}); err != nil {
		return err
	}
	if _, err := s.inspect(tempName); err != nil {
		// What is open is damaged; what lies in the folder is judged anew.
		return s.reopen()
	}
	if err := s.release(); err != nil {
		return err
	}
	if err := os.Rename(s.path(tempName), s.path(fileName)); err != nil {
		return err
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	return s.reopen()
}

// apply makes the changes of a batch.
func (s *Store) apply(tx *bolt.Tx, b Batch) error {
	for name, state := range b.Sites {
		var err error
		if state == nil {
			err = tx.Bucket([]byte(sitesBucket)).Delete([]byte(name))
		} else if data := state(); data != nil {
			err = put(tx, sitesBucket, []byte(name), data)
		}
		if err != nil {
			return fmt.Errorf("state of site %q: %w", name, err)
		}
	}
	if b.Global != nil {
		if err := put(tx, metaBucket, []byte(globalKey), b.Global); err != nil {
			return fmt.Errorf("state of the controller: %w", err)
		}
	}
	for zone, serial := range b.Serials {
		if err := put(tx, serialsBucket, []byte(zone), []byte(strconv.FormatUint(uint64(serial), 10))); err != nil {
			return fmt.Errorf("serial of zone %q: %w", zone, err)
		}
	}
	if b.AllValues {
		if err := dropValues(tx, b.Values); err != nil {
			return err
		}
	}
	if err := putValues(tx, b.Values); err != nil {
		return err
	}
	if !b.Wall.IsZero() {
		if err := putJSON(tx, wallKey, b.Wall); err != nil {
			return err
		}
	}
	return s.addEvents(tx, b.Events)
}

// putValues stores the values. The first one makes the part of the file that
// holds them.
func putValues(tx *bolt.Tx, values map[Kind]map[string][]byte) error {
	for kind, byKey := range values {
		for key, value := range byKey {
			var err error
			switch bucket := tx.Bucket([]byte(valuesBucket)); {
			case value != nil && bucket == nil:
				err = addValuesBucket(tx)
				fallthrough
			case value != nil:
				if err == nil {
					err = put(tx, valuesBucket, valueKey(kind, key), value)
				}
			case bucket != nil:
				err = bucket.Delete(valueKey(kind, key))
			}
			if err != nil {
				return fmt.Errorf("%s of %q: %w", kind, key, err)
			}
		}
	}
	return nil
}

// dropValues removes all values but some.
func dropValues(tx *bolt.Tx, but map[Kind]map[string][]byte) error {
	bucket := tx.Bucket([]byte(valuesBucket))
	if bucket == nil {
		return nil
	}
	var gone [][]byte
	err := bucket.ForEach(func(at, _ []byte) error {
		if kind, key := splitKey(at); but[kind][key] == nil {
			gone = append(gone, slices.Clone(at))
		}
		return nil
	})
	for _, at := range gone {
		err = errors.Join(err, bucket.Delete(at))
	}
	return err
}

func addValuesBucket(tx *bolt.Tx) error {
	if _, err := tx.CreateBucket([]byte(valuesBucket)); err != nil {
		return err
	}
	return put(tx, metaBucket, []byte(formatKey), []byte(strconv.Itoa(Format)))
}

func put(tx *bolt.Tx, bucket string, key, payload []byte) error {
	return tx.Bucket([]byte(bucket)).Put(key, seal(bucket, key, payload))
}

// putJSON stores a value of "meta".
func putJSON(tx *bolt.Tx, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", key, err)
	}
	return put(tx, metaBucket, []byte(key), text)
}
