package alert

import (
	"fmt"
	"slices"
	"time"
)

// spared is a message that takes its fallback, and why, as the end of a sentence on the
// channel.
type spared struct {
	channel string
	d       *delivery
	why     string
	// leaves: it waits for its channel no more. It is stored until it waits for another.
	leaves bool
}

// leave has messages leave a channel that has not taken them. They go to their fallback,
// where they have not gone there before. The caller holds mu.
func (e *Engine) leave(channel string, list []*delivery, why string) {
	there := func(name string) bool { return e.boxes[name] != nil }
	for _, d := range list {
		if !d.Fell && slices.ContainsFunc(d.Fallback, there) {
			e.spares = append(e.spares, spared{channel, d, why, true})
		} else {
			e.left[deliveryKey(channel, d.Seq)] = nil
		}
	}
}

// detour puts a message into the outboxes of its fallback.
func (e *Engine) detour(s *spared, keep map[string][]byte, now time.Time) {
	if s.leaves {
		keep[deliveryKey(s.channel, s.d.Seq)] = nil
	}
	m := s.d.Message
	m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)], fmt.Sprintf("It comes this way because %s %s.", s.channel, s.why))
	e.book.Heard(m.Thread, s.d.Fallback)
	for _, to := range s.d.Fallback {
		if to != s.channel {
			e.put(to, &m, nil, keep, now)
		}
	}
}

// tend sees to channels that fail: their fallbacks, the event that says so, and
// messages that are too old.
func (e *Engine) tend(keep map[string][]byte, now time.Time) {
	cfg := e.config()
	for _, o := range e.all() {
		name := o.channel.Name
		fallen, since, err := o.fall(now.Add(-cfg.FallbackAfter))
		for _, d := range fallen {
			keepDelivery(keep, name, d)
			e.detour(&spared{name, d, fmt.Sprintf("has not taken messages since %s: %v", since.Format(time.RFC3339), err), false}, keep, now)
		}
		e.judgeChannel(name, since, err, now.Add(-cfg.FallbackAfter), keep)
		if old := o.expire(now.Add(-cfg.GiveUp)); len(old) > 0 {
			e.mu.Lock()
			e.leave(name, old, fmt.Sprintf("could not take it: %v", err))
			e.mu.Unlock()
			e.tellDropped(name, old, fmt.Sprintf("it could not be sent for %s: %v", length(int64(cfg.GiveUp/time.Second)), err))
		}
	}
	e.mu.Lock()
	list := e.spares
	e.spares = nil
	e.mu.Unlock()
	for i := range list {
		e.detour(&list[i], keep, now)
	}
}
