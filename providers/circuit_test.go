package providers

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lock is a server that refuses whoever tries, or does not.
type lock struct {
	mu     sync.Mutex
	tries  int
	answer func() error
}

func (l *lock) try() error {
	l.mu.Lock()
	l.tries++
	answer := l.answer
	l.mu.Unlock()
	time.Sleep(time.Second)
	return answer()
}

func (l *lock) List(context.Context, []string) (Listing, error) { return Listing{}, l.try() }
func (l *lock) Apply(context.Context, Change) error             { return l.try() }
func (l *lock) Inspect(context.Context) (Inspection, error)     { return Inspection{}, l.try() }
func (l *lock) Settle(context.Context) error                    { return l.try() }
func (l *lock) Close() error                                    { return nil }
func (l *lock) refuse(after time.Duration) {
	l.answer = func() error { return &Error{Class: Denied, After: after, Err: errors.New("no")} }
}

func (l *lock) expect(t *testing.T, what string, want int) {
	t.Helper()
	if l.tries != want {
		t.Errorf("%s: %d tries, want %d", what, l.tries, want)
	}
}

// A command, or a second target with the same user, would have AdGuard Home shut
// out everybody at our address.
func TestCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lock{}
		l.refuse(0)
		c := NewCircuit(CircuitTries)
		one, two := c.Guard(l), c.Guard(l)
		var all sync.WaitGroup
		for _, p := range []Provider{one, two, one, two} {
			all.Go(func() {
				if _, err := p.List(t.Context(), nil); err == nil {
					t.Error("it was let in")
				}
			})
		}
		all.Wait()
		l.expect(t, "at once", 1)
		_, err := two.Inspect(t.Context())
		if class, after := ClassOf(err); class != Denied || after <= 4*time.Minute || !strings.Contains(err.Error(), "nothing was tried") || !strings.HasSuffix(err.Error(), ": no") {
			t.Errorf("%v %s", err, after)
		}
		for range 100 {
			time.Sleep(time.Minute)
			_ = two.Apply(t.Context(), Change{})
			_ = one.(Settler).Settle(t.Context())
		}
		l.expect(t, "in a day", CircuitTries)
		if !c.Spent() {
			t.Error("it goes on")
		}
		last := c.last.UTC().Format("2006-01-02 15:04:05 UTC")
		time.Sleep(50 * time.Hour)
		if err := c.Refused(); err == nil || !strings.Contains(err.Error(), "were refused at "+last) {
			t.Errorf("days later it does not say on which day: %v", err)
		}
		c.Retry()
		_ = two.Apply(t.Context(), Change{})
		l.expect(t, "asked for", CircuitTries+1)
		for range 50 { // somebody is impatient
			c.Retry()
			_ = two.Apply(t.Context(), Change{})
			time.Sleep(time.Second)
		}
		l.expect(t, "asked for in a hurry", CircuitTries+1)
		l.refuse(15 * time.Minute)
		time.Sleep(10 * time.Minute)
		c.Retry()
		_ = two.Apply(t.Context(), Change{})
		time.Sleep(10 * time.Minute)
		c.Retry()
		_ = two.Apply(t.Context(), Change{})
		l.expect(t, "while the server shuts us out", CircuitTries+2)
		l.answer = func() error { return nil }
		time.Sleep(10 * time.Minute)
		if err := two.Apply(t.Context(), Change{}); err != nil || c.Spent() || !c.Next().IsZero() {
			t.Error(err)
		}
		l.answer = func() error { return errors.New("no route") }
		for range 10 {
			_ = two.Apply(t.Context(), Change{})
		}
		l.expect(t, "other errors", CircuitTries+13)
	})
}

// Targets with the same user that are refused at one moment would have used up all tries
// in it, and an answer that was on its way would have the credentials sent again at once:
// either way the target is given up, or somebody shut out, for a server's bad second.
func TestCallsAtOnceAreOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lock{answer: func() error { return nil }}
		c := NewCircuit(CircuitTries)
		p := c.Guard(l)
		if _, err := p.List(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		l.refuse(0)
		var all sync.WaitGroup
		for range CircuitTries {
			all.Go(func() { _ = p.Apply(t.Context(), Change{}) })
		}
		all.Go(func() {
			time.Sleep(500 * time.Millisecond)
			slow := c.Guard(&lock{answer: func() error { return nil }})
			_ = slow.Apply(t.Context(), Change{}) // it ends after the others, and has begun before
		})
		all.Wait()
		if c.Spent() || c.Refused() == nil {
			t.Errorf("spent: %v, refused: %v", c.Spent(), c.Refused())
		}
		l.answer = func() error { return nil }
		time.Sleep(CircuitRest)
		if err := p.Apply(t.Context(), Change{}); err != nil || c.Refused() != nil {
			t.Error(err, c.Refused())
		}
	})
}
