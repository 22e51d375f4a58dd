package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

const lockName = "dnsteer.lock"

// errHeld says that the lock is held by another.
var errHeld = errors.New("held")

// lockDir locks the state folder for this process. The lock goes with the
// process, however it ends; the file stays, for to remove it would let two
// processes lock two files of one name.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		// A disk that turned read-only still lets its state be read.
		readable, readErr := os.Open(path)
		if readErr == nil || !errors.Is(readErr, fs.ErrNotExist) {
			f, err = readable, readErr
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock state folder: %w%s", err, remedy(err))
	}
	if err := tryLock(f); err != nil {
		defer func() { _ = f.Close() }()
		if errors.Is(err, errHeld) {
			return nil, &LockedError{Dir: dir, PID: holder(f)}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	// Only people read the number, so a disk that is full does not matter here.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return f, nil
}

func holder(f *os.File) int {
	buf := make([]byte, 32)
	n, _ := f.ReadAt(buf, 0)
	pid, err := strconv.Atoi(string(bytes.TrimSpace(buf[:n])))
	if err != nil {
		return 0
	}
	return pid
}
