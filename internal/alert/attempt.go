package alert

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/dnsteer/dnsteer/internal/logging"
)

// attempt sends a delivery once.
func (o *outbox) attempt(ctx context.Context, d *delivery, c Channel) {
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	err := guarded(limited, c.Sender, &d.Message, nil)
	cancel()
	if ctx.Err() != nil && err != nil {
		o.mu.Lock()
		o.sending = false
		o.mu.Unlock()
		return // nobody knows: it is sent again after the next start
	}
	var partial *Partial
	if errors.As(err, &partial) {
		o.log.Warn("a message was not taken by all of its receivers", "channel", c.Name, "error", partial.Err)
		err = nil
	}
	o.judge(d, err, partial)
}

// judge carries on after an attempt.
func (o *outbox) judge(d *delivery, err error, partial *Partial) {
	now := time.Now()
	o.mu.Lock()
	o.sending = false
	worked := o.failing.IsZero()
	var left error
	gone := err == nil
	if err == nil {
		o.took(now, partial)
	} else {
		gone, left = o.miss(d, err, now)
	}
	if gone {
		if gone = len(o.items) > 0 && o.items[0] == d; gone { // else the channel was taken out meanwhile
			o.items = o.items[1:]
		}
	}
	name, fails, works := o.channel.Name, o.fails, o.failing.IsZero()
	o.mu.Unlock()
	switch {
	case left != nil:
		o.log.Error("a message was dropped", "channel", name, "id", d.Message.ID, "subject", d.Message.Subject, "error", left)
	case err != nil && fails <= 1:
		o.log.Warn("a message was not taken and is tried again", "channel", name, "id", d.Message.ID, "error", err)
	case err != nil:
		o.log.Debug("a message was not taken and is tried again", "channel", name, "id", d.Message.ID, "attempt", fails, "error", err)
	default:
		o.log.Info("a message was sent", "channel", name, "id", d.Message.ID, "subject", d.Message.Title())
	}
	if gone {
		o.gone(name, d, left)
	}
	if worked != works {
		o.changed(works)
	}
}

// took notes that a message was taken. The caller holds mu, here and below.
func (o *outbox) took(now time.Time, partial *Partial) {
	o.taken++
	o.failing, o.err, o.fails, o.next, o.sent, o.partial = time.Time{}, nil, 0, time.Time{}, now, nil
	o.row = 0
	if partial != nil {
		o.partial = partial.Err
	}
}

// miss notes that one was not, and says whether and why it is given up.
func (o *outbox) miss(d *delivery, err error, now time.Time) (gone bool, left error) {
	o.missed++
	o.fails++
	o.err = err
	r := refused(err)
	if o.failing.IsZero() && (!r.Message || o.row > 0) { // else it is that message alone, as far as is known
		o.failing = now
	}
	o.next, o.tried = now.Add(max(pause(o.fails), min(r.After, longestAfter))), now
	if r.After > 0 {
		o.tried = time.Time{}
	}
	if !r.Message {
		return false, nil
	}
	if d.refused++; d.refused < refusals {
		return false, nil
	}
	o.dropped++
	o.fails, o.next = 0, time.Time{}
	if o.row++; o.failing.IsZero() {
		o.err = nil
	}
	return true, fmt.Errorf("it was refused %d times: %w", d.refused, err)
}

// pause grows with the failures in a row, and is spread so that channels that
// failed together do not come back together.
func pause(fails int) time.Duration {
	d := lastPause
	if fails < 8 {
		d = min(firstPause<<(fails-1), lastPause)
	}
	return time.Duration(float64(d) * (0.8 + 0.2*rand.Float64()))
}

// guarded makes an error of a sender's panic.
func guarded(ctx context.Context, s Sender, m *Message, log Dialogue) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s\n%s", logging.Panic(v), debug.Stack())
		}
	}()
	return s.Send(ctx, m, log)
}
