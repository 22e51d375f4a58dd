package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"
)

// Snapshot makes the copy that stands in when the file is found damaged. It is
// the owner's to call, beside everything else: once after a start and then about
// once an hour. A copy that is not whole replaces no good one.
func (s *Store) Snapshot() error {
	s.copying.Lock()
	defer s.copying.Unlock()
	temp := prevName + ".tmp"
	made := false
	err := s.view(func(tx *bolt.Tx) error {
		made = true
		if tx.DB().IsReadOnly() {
			return errors.New("the state folder cannot be written to")
		}
		return writeFile(s.path(temp), func(w io.Writer) error {
			_, err := tx.WriteTo(w)
			return err
		})
	})
	if err == nil && !made {
		err = errors.New("there is none at present")
	}
	if err == nil {
		_, err = s.inspect(temp)
	}
	if err == nil {
		err = os.Rename(s.path(temp), s.path(prevName))
	}
	if err == nil {
		err = syncDir(s.dir)
	}
	if err != nil {
		return fmt.Errorf("copy the stored state: %w%s", err, remedy(err))
	}
	return nil
}

// copyFile copies a file so that the copy lasts.
func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	defer func() { _ = src.Close() }()
	return writeFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
}

// writeFile makes a private file of what fill writes, and has it on the disk
// when it returns.
func writeFile(path string, fill func(io.Writer) error) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copy: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // what is not whole only takes room
		return fmt.Errorf("copy to %s: %w", path, err)
	}
	return nil
}
