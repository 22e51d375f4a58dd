package alert

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// The pace of a channel that fails, and its bounds.
const (
	firstPause = 15 * time.Second
	lastPause  = 15 * time.Minute
	// hurried lies between two attempts at least that something new asks for.
	hurried = 2 * time.Minute
	// longestAfter bounds what a receiver may ask for.
	longestAfter = time.Hour
	// refusals is how often one message is tried that is refused for what it is.
	refusals = 5
	// maxQueued bounds what waits for one channel.
	maxQueued = 1000
)

// delivery is a message that waits for one channel.
type delivery struct {
	Seq      uint64    `json:"seq"`
	Message  Message   `json:"message"`
	Queued   time.Time `json:"queued"`
	Fallback []string  `json:"fallback,omitempty"`
	// Fell: it has taken its fallback too.
	Fell bool `json:"fell,omitempty"`

	refused int
	// kept: it is in the store, or the store cannot take it.
	kept bool
}

// outbox sends the messages of one channel, one after the other.
type outbox struct {
	log *slog.Logger
	// gone is told of each delivery that has left, and why it was dropped; nil
	// for one that was taken. It must not wait.
	gone func(channel string, d *delivery, why error)
	// changed is told that the channel begins to fail or works again. It must not wait.
	changed func(works bool)

	wake chan struct{} // holds one

	mu      sync.Mutex
	channel Channel
	items   []*delivery // in order
	last    uint64
	sending bool
	failing time.Time // since when; zero while it works
	err     error
	partial error
	// row counts the messages in a row that were given up because they were refused for
	// what they are.
	row   int
	sent  time.Time // when the last was taken
	fails int
	next  time.Time // not before; zero for at once
	// tried is when it failed last; zero too where the receiver has said when to come again.
	tried   time.Time
	dropped int
	// taken and missed count the attempts since the start.
	taken, missed int
}

func newOutbox(c Channel, log *slog.Logger) *outbox {
	return &outbox{channel: c, log: log, wake: make(chan struct{}, 1)}
}

// add puts a message at the end. Where there is no room, the oldest of the least
// severity goes.
func (o *outbox) add(m *Message, fallback []string, now time.Time) (added, dropped *delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	d := &delivery{Seq: o.last, Message: *m, Queued: now, Fallback: fallback}
	o.items = append(o.items, d)
	o.advance()
	if len(o.items) > maxQueued {
		dropped = o.makeRoom()
		if dropped != d {
			d.Message.Notes = append(d.Message.Notes[:len(d.Message.Notes):len(d.Message.Notes)], fmt.Sprintf(
				"%d messages waited for this channel and one had to be dropped: %q of %s.",
				maxQueued, dropped.Message.Subject, dropped.Message.Time.Format(time.RFC3339)))
		}
	}
	return d, dropped
}

// makeRoom removes one delivery that is not under way.
func (o *outbox) makeRoom() *delivery {
	least := -1
	for i, d := range o.items {
		if i == 0 && o.sending {
			continue
		}
		if least < 0 || rank(d.Message.Severity) < rank(o.items[least].Message.Severity) {
			least = i
		}
	}
	d := o.items[least]
	o.items = append(o.items[:least:least], o.items[least+1:]...)
	o.dropped++
	return d
}

// release lets everything be sent that was added.
func (o *outbox) release() {
	added := false
	o.mu.Lock()
	for _, d := range slices.Backward(o.items) {
		if d.kept {
			break
		}
		d.kept, added = true, true
	}
	o.mu.Unlock()
	if added {
		o.rouse()
	}
}

// hurry has a channel that fails be tried soon: there is reason to think that it works.
func (o *outbox) hurry() {
	o.mu.Lock()
	o.advance()
	o.mu.Unlock()
	o.rouse()
}

// advance does so; the caller holds mu.
func (o *outbox) advance() {
	if !o.next.IsZero() && !o.tried.IsZero() {
		o.next = earliest(o.next, o.tried.Add(hurried))
	}
}

// use takes another sender into use, which is tried at once.
func (o *outbox) use(c Channel) {
	o.mu.Lock()
	o.channel, o.next, o.fails = c, time.Time{}, 0
	o.mu.Unlock()
	o.rouse()
}

func (o *outbox) rouse() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run sends until ctx ends.
func (o *outbox) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		d, channel, wait := o.head()
		if d != nil && wait <= 0 {
			o.attempt(ctx, d, channel)
			if ctx.Err() != nil {
				return
			}
			continue
		}
		if d != nil {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
		select {
		case <-timer.C:
		case <-o.wake:
		case <-ctx.Done():
			return
		}
	}
}

// head gives what is to be sent next, and how long to wait before.
func (o *outbox) head() (*delivery, Channel, time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.items) == 0 || !o.items[0].kept {
		return nil, o.channel, 0
	}
	wait := time.Until(o.next)
	if o.next.IsZero() {
		wait = 0
	}
	o.sending = wait <= 0
	return o.items[0], o.channel, wait
}

// expire removes what has waited too long, while the channel fails: what the
// controller was off for, or had another clock in, is tried first.
func (o *outbox) expire(limit time.Time) (old []*delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.items) > 0 && !o.sending && !o.failing.IsZero() && o.items[0].Queued.Before(limit) {
		old = append(old, o.items[0])
		o.items = o.items[1:]
		o.dropped++
	}
	return old
}

// fall gives what is to take its fallback: everything that has one, once the
// channel has failed since before limit.
func (o *outbox) fall(limit time.Time) (list []*delivery, since time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failing.IsZero() || o.failing.After(limit) {
		return nil, o.failing, o.err
	}
	for _, d := range o.items {
		if len(d.Fallback) > 0 && !d.Fell {
			d.Fell = true
			list = append(list, d)
		}
	}
	return list, o.failing, o.err
}

// troubled says since when the channel fails; the zero time if it does not.
func (o *outbox) troubled() (time.Time, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failing, o.err
}

// worked says whether a message was taken since the start.
func (o *outbox) worked() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.sent.IsZero()
}
