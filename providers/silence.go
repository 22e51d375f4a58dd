package providers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// silence is the error of a call whose time was up. The system's phrases for
// that say nothing to who reads them, nor how long was waited.
type silence struct {
	within time.Duration
	err    error
}

// phrases are those of package context, and of sockets with a deadline.
var phrases = []string{context.DeadlineExceeded.Error(), "i/o timeout"}

func (s *silence) Error() string {
	words := fmt.Sprintf("no answer within %s", s.within)
	text := s.err.Error()
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return strings.ReplaceAll(text, p, words)
		}
	}
	return words + ": " + text
}

func (s *silence) Unwrap() error { return s.err }

// Within runs a call of a target for at most a time; 0 sets no limit. The error
// of one whose time was up says how long was waited, and has its class still.
func Within(ctx context.Context, limit time.Duration, call func(ctx context.Context) error) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	start := time.Now()
	err := call(ctx)
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	class, after := ClassOf(err)
	took, unit := time.Since(start), time.Second
	if took < unit { // the caller's own time was nearly up
		unit = time.Millisecond
	}
	return &Error{Class: class, After: after, Err: &silence{took.Round(unit), err}}
}
