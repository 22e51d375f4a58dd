package alert

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Due gives the messages that are due, and when the book wants to be asked
// again; the zero time for not before something happens. While nothing has changed and
// that time has not come, nothing is looked at.
func (b *Book) Due(now time.Time) (out []Outgoing, next time.Time) {
	if b.looked == b.changes && (b.next.IsZero() || now.Before(b.next)) {
		return nil, b.next
	}
	b.changes++
	out, b.next = b.tell(now)
	b.looked = b.changes
	return out, b.next
}

func (b *Book) tell(now time.Time) (out []Outgoing, next time.Time) {
	for _, c := range b.Cases {
		if at := c.next(); !at.IsZero() && !at.After(now) {
			out = append(out, b.follow(c, now)...)
		}
	}
	b.Cases = slices.DeleteFunc(b.Cases, (*incident).closed)
	groups, keys := b.groups()
	for _, key := range keys {
		if at := b.opens(key, groups[key]); at.IsZero() || at.After(now) {
			next = earliest(next, at)
			continue
		}
		out = append(out, b.begin(key, groups[key], now))
		// What was not ready has its own time.
		if rest := b.rest(key); rest != nil {
			next = earliest(next, b.opens(key, rest))
		}
	}
	for _, c := range b.Cases {
		next = earliest(next, c.next())
	}
	return out, next
}

// follow gives what is to be said of an incident that was told.
func (b *Book) follow(c *incident, now time.Time) []Outgoing {
	var fresh, open []told
	for _, m := range c.Members {
		switch {
		case m.News, m.ended() && !m.EndTold:
			fresh = append(fresh, m.told)
		}
		if !m.over() {
			open = append(open, m.told)
		}
	}
	dueNow := !c.Due.IsZero() && !c.Due.After(now)
	switch {
	case dueNow && len(open) == 0:
		return b.say(c, b.resolve(c), now)
	case dueNow && !whole(fresh, open):
		c.Due = time.Time{} // of a node that is reached and still out, nothing is said
	case dueNow:
		if at := c.quiet(); at.After(now) {
			c.Due = at
			return nil
		}
		m := compose(fresh, Update)
		if fresh[0].ended() {
			m.Subject = fmt.Sprintf("%d of %d over, %d left: %s", len(c.Members)-len(open), len(c.Members), len(open), c.Subject)
		}
		m.Time, m.Since = now, c.since()
		return b.say(c, m, now)
	case c.Remind > 0 && len(open) > 0 && !c.LastSent.Add(c.Remind).After(now):
		m := compose(open, Reminder)
		m.Subject, m.Time, m.Since = c.Subject, now, c.since()
		if len(open) < len(c.Members) {
			m.Subject = subject(open)
		}
		return b.say(c, m, now)
	}
	return nil
}

// quiet is until when news of an incident wait.
func (c *incident) quiet() time.Time {
	if slices.ContainsFunc(c.Members, func(m *member) bool { return m.Worse }) {
		return time.Time{}
	}
	return c.LastSent.Add(partly)
}

// whole says whether something is over altogether, or has news: not if another
// incident of the same subject goes on.
func whole(fresh, open []told) bool {
	goesOn := make(map[string]bool, len(open))
	for i := range open {
		goesOn[open[i].Event.Subject()] = true
	}
	return slices.ContainsFunc(fresh, func(f told) bool { return !f.ended() || !goesOn[f.Event.Subject()] })
}

// resolve composes the end of an incident, with what happened by the way.
func (b *Book) resolve(c *incident) Message {
	var list []told
	var ended time.Time
	for _, m := range c.Members {
		if m.ended() {
			list = append(list, m.told)
			ended = later(ended, m.End.Time)
		}
	}
	of := func(site string) bool {
		return slices.ContainsFunc(list, func(t told) bool { return t.Event.Site == site })
	}
	b.Waiting = slices.DeleteFunc(b.Waiting, func(w *waiting) bool {
		along := w.Route == c.Route && slices.Equal(w.To, c.To) && class(w.Event.Kind) == c.Class && !lasting(w.Event.Kind) && of(w.Event.Site)
		if along {
			list = append(list, w.told)
		}
		return along
	})
	m := compose(list, Resolved)
	m.Subject, m.Time, m.Since, m.Ended = c.Subject, ended, c.since(), ended
	return m
}

// say completes a message of an incident.
func (b *Book) say(c *incident, m Message, now time.Time) []Outgoing {
	c.Sent++
	m.ID, m.Thread = c.id(c.Sent), c.id(1)
	m.Lasted = max(0, int64(m.Time.Sub(m.Since)/time.Second))
	c.LastSent, c.Due = now, time.Time{}
	for _, x := range c.Members {
		x.EndTold, x.News, x.Worse = x.ended(), false, false
	}
	out := Outgoing{To: c.To, Fallback: c.Fallback, Message: m}
	if m.Phase == Resolved {
		out.Also = c.Heard
	}
	return []Outgoing{out}
}

// groups gives what waits by what belongs into one message; what something else
// stands for is left out.
func (b *Book) groups() (map[string][]*waiting, []string) {
	big := b.bigOnes()
	groups := make(map[string][]*waiting)
	var keys []string
	for _, w := range b.Waiting {
		if slices.ContainsFunc(big, func(t *told) bool { return covers(&t.Event, &w.Event) }) {
			continue
		}
		key := w.key()
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], w)
	}
	return groups, keys
}

// bigOnes lists the incidents that stand for others.
func (b *Book) bigOnes() (list []*told) {
	for _, t := range b.Open {
		switch t.Event.Kind {
		case sites.ControllerIsolated, sites.SiteDown, sites.MassFailure:
			list = append(list, t)
		default:
		}
	}
	return list
}

// rest gives what of a group still waits.
func (b *Book) rest(key string) []*waiting {
	groups, _ := b.groups()
	return groups[key]
}

func (w *waiting) key() string {
	return strings.Join([]string{w.Route, class(w.Event.Kind), strconv.FormatBool(w.Event.Drill), strings.Join(w.To, ",")}, "\x00")
}

// opens gives when a group's message is due.
func (b *Book) opens(key string, list []*waiting) time.Time {
	var at time.Time
	critical := false
	for _, w := range list {
		at = earliest(at, w.At)
		critical = critical || w.Event.Severity == sites.Critical
	}
	if at.IsZero() {
		return at
	}
	at = at.Add(b.group)
	if begun, ok := b.Begun[key]; ok && !critical {
		at = later(at, begun.Add(spacing))
	}
	return at
}

// begin tells what of a group is ready, with what belongs to the same nodes and
// sites.
func (b *Book) begin(key string, list []*waiting, now time.Time) Outgoing {
	ready := make(map[*waiting]bool)
	subjects := make(map[string]bool)
	for _, w := range list {
		if !w.At.After(now) {
			ready[w], subjects[w.Event.Subject()] = true, true
		}
	}
	first := list[0]
	c := &incident{Route: first.Route, Class: class(first.Event.Kind), To: first.To}
	if r := b.route(first.Route); r != nil {
		c.Fallback, c.Remind = r.Fallback, r.Remind
	}
	var tell []told
	for _, w := range list {
		if ready[w] || subjects[w.Event.Subject()] {
			ready[w] = true
			tell = append(tell, w.told)
			c.Members = append(c.Members, &member{told: w.told})
		}
	}
	b.Waiting = slices.DeleteFunc(b.Waiting, func(w *waiting) bool { return ready[w] })
	maps.DeleteFunc(b.Begun, func(_ string, at time.Time) bool { return now.Sub(at) >= spacing })
	b.Begun[key] = now
	m := compose(tell, Firing)
	c.Subject = m.Subject
	m.Time, m.Since = c.since(), c.since()
	if ended := c.ended(); !ended.IsZero() { // its first message is its last
		m = compose(tell, Resolved)
		m.Subject, m.Time, m.Since, m.Ended = c.Subject, ended, c.since(), ended
	}
	c.Thread = thread(c)
	if rank(m.Severity) == 0 {
		c.Remind = 0
	}
	b.Cases = append(b.Cases, c)
	out := b.say(c, m, now)[0]
	b.Cases = slices.DeleteFunc(b.Cases, (*incident).closed)
	return out
}

// thread makes the name of an incident: from its first event, which a restart
// does not change, and from the channels, for each has a thread of its own.
func thread(c *incident) string {
	e := &c.Members[0].Event
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.Route + "\x00" + strings.Join(c.To, "\x00")))
	return fmt.Sprintf("%d-%s-%x", e.ID, strconv.FormatInt(e.Time.UnixNano(), 36), h.Sum32())
}

// id names a message of an incident, counted from 1.
func (c *incident) id(n int) string { return fmt.Sprintf("%s-%d", c.Thread, n) }

// since is when the incident began.
func (c *incident) since() (at time.Time) {
	for _, m := range c.Members {
		at = earliest(at, m.Event.Time)
	}
	return at
}

// ended is when all of an incident was over; the zero time if something of it
// lasts, or nothing of it could.
func (c *incident) ended() (at time.Time) {
	for _, m := range c.Members {
		if !m.over() {
			return time.Time{}
		}
		at = later(at, m.End.Time)
	}
	return at
}

// closed says that everything is over and told.
func (c *incident) closed() bool {
	return !slices.ContainsFunc(c.Members, func(m *member) bool { return !m.over() || m.ended() && !m.EndTold })
}

// lasts says whether something of it is not over.
func (c *incident) lasts() bool {
	return slices.ContainsFunc(c.Members, func(m *member) bool { return !m.over() })
}

// next is when there is something to say of it.
func (c *incident) next() time.Time {
	at := c.Due
	if c.Remind > 0 && c.lasts() {
		at = earliest(at, c.LastSent.Add(c.Remind))
	}
	return at
}

func earliest(a, b time.Time) time.Time {
	switch {
	case a.IsZero():
		return b
	case b.IsZero() || a.Before(b):
		return a
	default:
		return b
	}
}
