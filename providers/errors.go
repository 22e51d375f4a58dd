package providers

import (
	"errors"
	"time"
)

// Class says what a caller can do about an error.
type Class uint8

// The classes. Transient is that of any other error.
const (
	// Transient: it may work next time.
	Transient Class = iota
	// Permanent: it will not work until somebody changes something (a right is
	// missing, the version does not know a command). Try again after minutes.
	Permanent
	// Denied: the target does not take the credentials. Every further attempt
	// may lock somebody out.
	Denied
	// Changed: what was listed is not what is there any more (the record is
	// gone, or there already). List again at once.
	Changed
	// Declined: the target answers, and did not do this one thing, for a reason that
	// may pass (its storage is full). Others go on; try again as with Transient.
	Declined
)

// Error is an error of a known class.
type Error struct {
	Class Class
	// After is how long the target asks to be left alone; 0 if it does not say.
	After time.Duration
	// Err names the operation, the cause and the remedy, without secrets.
	Err error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives what it was made of.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf gives the class of an error, and how long the target asks to be left
// alone.
func ClassOf(err error) (class Class, after time.Duration) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class, e.After
	}
	return Transient, 0
}

// join adds other errors to one, which has its class still: what ended a round says
// when the next may be made, not what was met on the way.
func join(err, others error) error {
	if err == nil || others == nil {
		return errors.Join(err, others)
	}
	class, after := ClassOf(err)
	return &Error{Class: class, After: after, Err: errors.Join(err, others)}
}
