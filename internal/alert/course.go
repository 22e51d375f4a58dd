package alert

import (
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// assign has something wait for the routes that take it. A channel is served by
// the first route that names it.
func (b *Book) assign(t told, now time.Time) { b.assignBut(t, nil, now) }

// assignBut does so for all channels but those that are served.
func (b *Book) assignBut(t told, served []string, now time.Time) {
	for i := range b.routes {
		r := &b.routes[i]
		if !r.Chooses(&t.Event) {
			continue
		}
		var to []string
		for _, name := range r.To {
			if !slices.Contains(served, name) {
				to = append(to, name)
			}
		}
		served = append(served, to...)
		if len(to) > 0 {
			b.Waiting = append(b.Waiting, &waiting{told: t, Route: r.Name, To: to, At: due(&t.Event, r.Wait, now)})
		}
	}
}

// reroute has what waits wait for the routes that there are now.
func (b *Book) reroute(now time.Time) {
	var homeless []told
	moved := make(map[uint64]bool)
	b.Waiting = slices.DeleteFunc(b.Waiting, func(w *waiting) bool {
		before := len(w.To)
		if r := b.route(w.Route); r != nil {
			w.To = slices.DeleteFunc(w.To, func(name string) bool { return !slices.Contains(r.To, name) })
		} else {
			w.To = nil
		}
		if len(w.To) < before && !moved[w.Event.ID] {
			moved[w.Event.ID] = true
			homeless = append(homeless, w.told)
		}
		return len(w.To) == 0
	})
	for _, t := range homeless {
		var has []string // channels that are told of it already, or will be
		for _, w := range b.Waiting {
			if w.Event.ID == t.Event.ID {
				has = append(has, w.To...)
			}
		}
		for _, c := range b.Cases {
			if slices.ContainsFunc(c.Members, func(m *member) bool { return m.Event.ID == t.Event.ID }) {
				has = append(has, c.To...)
			}
		}
		b.assignBut(t, has, now)
	}
}

// Adopt has what lasts wait for the routes that take it, where no channel that is there
// was told of it or will be: none was configured when it began, or another has come in
// the place of the one that was told. Who was told in the place of that one goes on to be.
func (b *Book) Adopt(there func(channel string) bool, now time.Time) {
	b.changes++
	known := make(map[uint64]bool)
	for _, w := range b.Waiting {
		known[w.Event.ID] = known[w.Event.ID] || slices.ContainsFunc(w.To, there)
	}
	stood := make(map[uint64][]string)
	for _, c := range b.Cases {
		heard := slices.ContainsFunc(c.To, there)
		left := slices.DeleteFunc(slices.Clone(c.Heard), func(name string) bool { return !there(name) })
		if !heard && len(left) > 0 {
			c.To, c.Heard = left, nil
		}
		for _, m := range c.Members {
			known[m.Event.ID] = known[m.Event.ID] || heard
			stood[m.Event.ID] = append(stood[m.Event.ID], left...)
		}
	}
	moved := make(map[uint64]bool)
	for _, id := range sortedKeys(b.Open) {
		t := *b.Open[id]
		if known[t.Event.ID] {
			continue
		}
		t.Explain = nil // it was so then
		before := len(b.Waiting)
		b.assignBut(t, stood[t.Event.ID], now)
		moved[t.Event.ID] = len(b.Waiting) > before
	}
	for _, c := range b.Cases { // it begins anew with those who have not heard of it
		if !slices.ContainsFunc(c.To, there) {
			c.Members = slices.DeleteFunc(c.Members, func(m *member) bool { return moved[m.Event.ID] })
		}
	}
	b.Cases = slices.DeleteFunc(b.Cases, func(c *incident) bool { return len(c.Members) == 0 })
}

// end enters that something is over. What was not told yet is not told at all,
// unless people must know of it though it is over.
func (b *Book) end(t *told, e sites.Event, now time.Time) {
	b.Waiting = slices.DeleteFunc(b.Waiting, func(w *waiting) bool {
		if w.Event.ID != t.Event.ID {
			return false
		}
		w.End = e
		return !outlives(&w.Event) || slices.ContainsFunc(b.bigOnes(), func(t *told) bool { return covers(&t.Event, &w.Event) })
	})
	for _, c := range b.Cases {
		for _, m := range c.Members {
			if m.Event.ID == t.Event.ID && !m.ended() {
				m.End = e
				c.Due = earliest(c.Due, now.Add(b.group))
			}
		}
	}
	for _, w := range b.Waiting {
		if covers(&t.Event, &w.Event) {
			w.At = later(w.At, now.Add(max(uncovered, b.wait(w))))
		}
	}
}

// worsen enters that something goes on as something worse: those who were told
// of it are told more, and those who take only what is worse are told of it.
func (b *Book) worsen(earlier, t *told, now time.Time) {
	b.Waiting = slices.DeleteFunc(b.Waiting, func(w *waiting) bool { return w.Event.ID == earlier.Event.ID })
	before := len(b.Waiting)
	b.assign(*t, now)
	for _, c := range b.Cases {
		for _, m := range c.Members {
			if m.Event.ID != earlier.Event.ID || m.ended() {
				continue
			}
			since := m.Event.Time
			m.told, m.News, m.Worse = *t, true, true
			m.Event.Time = since
			c.Due = earliest(c.Due, now.Add(b.group))
			// It goes on in its thread for the channels that have it.
			fresh := slices.DeleteFunc(b.Waiting[before:], func(w *waiting) bool {
				w.To = slices.DeleteFunc(w.To, func(name string) bool { return slices.Contains(c.To, name) })
				return len(w.To) == 0
			})
			b.Waiting = b.Waiting[:before+len(fresh)]
		}
	}
}

// goesOn enters that an event has taken the place of another.
func (b *Book) goesOn(t, news *told, now time.Time) {
	t.Explain = news.Explain
	if !continues(t.Event.Kind) {
		return
	}
	say := func(e *sites.Event) { e.Text, e.By, e.Reason = news.Event.Text, news.Event.By, news.Event.Reason }
	say(&t.Event)
	for _, w := range b.Waiting {
		if w.Event.ID == t.Event.ID {
			say(&w.Event)
		}
	}
	for _, c := range b.Cases {
		for _, m := range c.Members {
			if m.Event.ID == t.Event.ID {
				say(&m.Event)
				m.News = true
				c.Due = earliest(c.Due, now.Add(b.group))
			}
		}
	}
}
