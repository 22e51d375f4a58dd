package store

import (
	"errors"
	"fmt"
	"syscall"
)

// LockedError says that another process uses the state folder.
type LockedError struct {
	Dir string
	// PID of the holder; 0 where it has not written it yet.
	PID int
}

func (e *LockedError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("state folder %s is in use by %s: stop that one, or give this one a folder of its own", e.Dir, holder)
}

// NewerError says that a newer program wrote the file. It is left as it is.
type NewerError struct {
	Path   string
	Format int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has format %d and this program knows formats up to %d: run the newer program again, "+
		"or move the file away (and %s, if it is there) to start without stored state",
		e.Path, e.Format, Format, prevName)
}

// CommitError says that a batch was not acknowledged. The store goes on: the
// same batch may be committed again, and what is in it counts once.
type CommitError struct {
	Path string
	Err  error
}

func (e *CommitError) Error() string {
	return fmt.Sprintf("store to %s: %v%s", e.Path, e.Err, remedy(e.Err))
}

func (e *CommitError) Unwrap() error { return e.Err }

// remedy is what a person can do about the error, as the end of a sentence.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return ": free some space on that disk"
	case errors.Is(err, syscall.EROFS):
		return ": make that disk writable (disks turn read-only after errors: see the kernel's log)"
	case errors.Is(err, syscall.EIO):
		return ": the disk fails: see the kernel's log"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return ": give the state folder to the user that dnsteer runs as"
	default:
		return ""
	}
}

// ReplacedError says that the file was lost or damaged while the store was open
// and another stands in its place now. The batch was not stored. The owner must
// commit its whole state once more.
type ReplacedError struct{ Report Report }

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("the stored state was replaced while in use: %s", e.Report)
}

// UnreadableError names records that are not as they were written. All others were read.
type UnreadableError struct{ Err error }

func (e *UnreadableError) Error() string { return e.Err.Error() }

func (e *UnreadableError) Unwrap() error { return e.Err }

// panicError is a panic or a memory fault inside of bbolt.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("panic in the database: %v", e.value) }

// damageError says that a file is not whole.
type damageError struct{ err error }

func (e *damageError) Error() string { return e.err.Error() }

func (e *damageError) Unwrap() error { return e.err }
