package providers

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// How often refused credentials are tried again. AdGuard Home shuts an address
// out after five refusals, each less than a minute after the one before, and
// RouterOS fills its log.
const (
	// CircuitTries is how often the running controller tries in all.
	CircuitTries = 3
	// CircuitRest is how long it waits between two.
	CircuitRest = 5 * time.Minute
	// circuitLeast passes even where an operator asks for another try.
	circuitLeast = 90 * time.Second
)

// Circuit keeps credentials that a server has refused from being sent again and
// again: after a refusal all calls by its guards fail with class [Denied] and dial
// nothing, until another try is due. All that log in to a server with the same
// credentials share one. While it is not known whether they are taken, one call
// is made at a time. It is safe for concurrent use.
type Circuit struct {
	tries int
	turn  chan struct{} // holds one while a call finds out

	mu       sync.Mutex
	good     bool // the credentials were taken since the last refusal
	refusals int  // in a row
	era      int  // grows with each refusal that counts
	err      error
	last     time.Time     // of the last refusal
	after    time.Duration // how long the server asked to be left alone
	next     time.Time     // when another try may be made
}

// NewCircuit gives one that has credentials tried so often until [Circuit.Retry].
func NewCircuit(tries int) *Circuit {
	return &Circuit{tries: tries, turn: make(chan struct{}, 1)}
}

// Guard gives a provider that asks the circuit before it dials.
func (c *Circuit) Guard(p Provider) Provider {
	g := guarded{p, c}
	if s, ok := p.(Settler); ok {
		return guardedSettler{g, s}
	}
	return g
}

// Spent says that nothing is tried any more, until [Circuit.Retry].
func (c *Circuit) Spent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusals >= c.tries
}

// Next is when another try may be made; zero if at any time.
func (c *Circuit) Next() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}

// Refused is the error that a call would have now because the credentials were
// refused; nil if it would be made.
func (c *Circuit) Refused() error { return c.refused(time.Now()) }

// Retry lets the credentials be tried again, as soon as the server takes that
// for no attack.
func (c *Circuit) Retry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refusals > 0 {
		c.refusals, c.next = 0, c.last.Add(max(circuitLeast, c.after))
	}
}

// Do makes a call if it may be made. Those of a [Provider] are made by it already.
func (c *Circuit) Do(ctx context.Context, call func() error) error {
	c.mu.Lock()
	good := c.good
	c.mu.Unlock()
	if !good {
		select {
		case c.turn <- struct{}{}:
			defer func() { <-c.turn }()
		case <-ctx.Done():
			return fmt.Errorf("wait for another log-in with the same credentials: %w", ctx.Err())
		}
	}
	c.mu.Lock()
	era := c.era
	c.mu.Unlock()
	if err := c.refused(time.Now()); err != nil {
		return err
	}
	err := call()
	c.took(time.Now(), era, err)
	return err
}

// refused is the error of a call that is not made.
func (c *Circuit) refused(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch at := told(c.last, now); {
	case c.refusals >= c.tries && c.tries > 1:
		return &Error{Class: Denied, Err: fmt.Errorf("nothing was tried, since the credentials were refused at %s for the last of %d times: %w", at, c.tries, c.err)}
	case c.refusals >= c.tries:
		return &Error{Class: Denied, Err: fmt.Errorf("nothing more was tried, since the credentials were refused a moment ago: %w", c.err)}
	case c.next.After(now):
		return &Error{Class: Denied, After: c.next.Sub(now), Err: fmt.Errorf("nothing was tried, since the credentials were refused at %s and are tried again at %s: %w", at, told(c.next, now), c.err)}
	}
	return nil
}

// told writes a moment, with the day where that is another than now's, as sites does.
func told(t, now time.Time) string {
	if t.Sub(now).Abs() > 12*time.Hour {
		return t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return t.UTC().Format("15:04:05 UTC")
}

// took learns from how a call has ended. One that has begun before the last refusal says
// nothing new: calls that are under way together are one try.
func (c *Circuit) took(now time.Time, era int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	class, after := ClassOf(err)
	switch {
	case era != c.era:
		if class == Denied {
			c.err, c.last, c.after = err, now, max(c.after, after)
			c.next = now.Add(max(CircuitRest, c.after))
		}
	case err == nil:
		c.good, c.refusals, c.err, c.after, c.next = true, 0, nil, 0, time.Time{}
	case class == Denied:
		c.good, c.err, c.last, c.after = false, err, now, after
		c.refusals++
		c.era++
		c.next = now.Add(max(CircuitRest, after))
	}
}

// guarded is a provider behind a circuit.
type guarded struct {
	p Provider
	c *Circuit
}

func (g guarded) List(ctx context.Context, names []string) (l Listing, err error) {
	err = g.c.Do(ctx, func() (err error) {
		l, err = g.p.List(ctx, names)
		return err
	})
	return l, err
}

func (g guarded) Apply(ctx context.Context, ch Change) error {
	return g.c.Do(ctx, func() error { return g.p.Apply(ctx, ch) })
}

func (g guarded) Inspect(ctx context.Context) (in Inspection, err error) {
	err = g.c.Do(ctx, func() (err error) {
		in, err = g.p.Inspect(ctx)
		return err
	})
	return in, err
}

func (g guarded) Close() error { return g.p.Close() }

type guardedSettler struct {
	guarded
	s Settler
}

func (g guardedSettler) Settle(ctx context.Context) error {
	return g.c.Do(ctx, func() error { return g.s.Settle(ctx) })
}
