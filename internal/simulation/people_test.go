package simulation

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// people get the alerts.
type people struct {
	w *world

	mu sync.Mutex
	// seen counts how often a message came, by its ID; told has the events that
	// messages named. excuses counts what excuses a double of any message, again what
	// does of one.
	seen    map[string]int
	told    map[uint64]bool
	excuses int
	again   map[string]int
	// tried is when a message that has not come was last tried, by its ID; first
	// is the message that told of an event first.
	tried map[string]time.Duration
	first map[uint64]string
}

func newPeople(w *world) *people {
	return &people{w: w, seen: map[string]int{}, told: map[uint64]bool{}, again: map[string]int{}, tried: map[string]time.Duration{}, first: map[uint64]string{}}
}

// receiver is the channel for one life of the controller.
type receiver struct {
	p    *people
	life *life
}

// Send takes a message, unless the world says otherwise.
func (r *receiver) Send(ctx context.Context, m *alert.Message, _ alert.Dialogue) error {
	w := r.p.w
	if !r.life.ending() {
		r.p.tries(m)
	}
	if err := sleep(ctx, 50*time.Millisecond+time.Duration(hash(uint64(w.since()), 3)%20_000_000)); err != nil {
		return err
	}
	w.mu.Lock()
	now := time.Since(w.began)
	bad, how := now < w.mailBad || now < w.cut, w.mailMode
	w.mu.Unlock()
	switch {
	case r.life.dead():
		return errGone
	case bad && how%3 == 0:
		return errors.New("connection refused")
	case bad && how%3 == 1:
		<-ctx.Done()
		return ctx.Err()
	}
	w.people.take(m, bad)
	if bad {
		return errReset // it was taken, and the reply is lost
	}
	return nil
}

func (p *people) take(m *alert.Message, lost bool) {
	p.w.say("message %s: %s", m.ID, m.Subject)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[m.ID]++
	switch {
	case p.seen[m.ID] == 1:
	case p.again[m.ID] > 0:
		p.again[m.ID]--
	default:
		p.excuses--
	}
	if lost {
		p.excuses++
	}
	delete(p.tried, m.ID)
	p.names(m)
	if p.excuses < 0 {
		p.w.fault("message %s came %d times, and nothing had failed: %s", m.ID, p.seen[m.ID], m.Subject)
	}
}

// excuse allows one more double: what was sent may not have been stored.
func (p *people) excuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.excuses++
}

func (p *people) knows(event uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.told[event]
}
