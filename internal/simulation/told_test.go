package simulation

import (
	"context"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

const (
	// tellTime is within how long of undisturbed time a message is made of an event:
	// the wait, the grouping, and two spacings of a storm.
	tellTime = 5 * time.Minute
	// tryTime is the longest between two tries of a message: the longest pause,
	// its jitter and the timeout.
	tryTime = 19 * time.Minute
)

// told looks whether what people must know has reached them, and whether the
// store has what it was given.
func (w *world) told() {
	g := w.ledger
	g.mu.Lock()
	for id, e := range g.events {
		if g.mustTell(&e) && !w.people.knows(id) && !g.dropped[id] && g.couldTell(&e, w.since()) {
			w.fault("nobody was told of event %d: %s %s: %s", id, e.Kind, e.Subject(), e.Text)
		}
	}
	g.mu.Unlock()
	w.people.waited(w.since())
	list, err := w.life.app.Events(context.Background(), api.EventQuery{Limit: 100_000, Ascending: true})
	if err != nil {
		w.fault("the events cannot be read: %v", err)
		return
	}
	g.stored(list)
	g.resolved(list)
	if n := len(list); n > 0 && list[n-1].ID != w.life.read.Load() {
		w.fault("who follows the events has had them up to %d, and there are %d", w.life.read.Load(), list[n-1].ID)
	}
	w.nothingIsWrong()
}

// mustTell says whether an event is one that people are told of. What takes the
// place of another goes on in silence, a switch that somebody has ordered is no
// surprise, and what is configured no more is not told of.
func (g *ledger) mustTell(e *sites.Event) bool {
	extra := e.Site == siteName(0) && e.Node == nodeName(g.w.plan.extra())
	return e.Severity != sites.Info && e.Resolves == 0 && e.Kind != sites.FailoverSwitch && !extra
}

// between is a part of the run's time.
type between struct{ from, to time.Duration }

// couldTell says whether there was time to tell of an event: while it lasted, the
// controller ran and no greater fault explained it. Of what has moved answers is
// told afterwards too. The caller holds mu.
func (g *ledger) couldTell(e *sites.Event, now time.Duration) bool {
	from, to := g.at[e.ID], g.over(e.ID, now)
	if slices.ContainsFunc(g.deaf, func(b between) bool { return b.from <= from && from <= b.to }) {
		return false // what began then is not told of later
	}
	not := slices.Concat(g.off, g.deaf)
	if e.Kind != sites.PoolOutageStarted {
		for id, x := range g.events {
			switch x.Kind {
			case sites.SiteDown, sites.ControllerIsolated, sites.MassFailure:
				if id != e.ID {
					not = append(not, between{g.at[id], g.over(id, now) + time.Minute})
				}
			default:
			}
		}
	}
	explained := slices.ContainsFunc(not, func(b between) bool { return b.from <= to && to <= b.to })
	if (e.Kind == sites.PoolOutageStarted || e.Kind == sites.FailoverOutage) && !explained {
		to = min(to+2*tellTime, now)
	}
	slices.SortFunc(not, func(a, b between) int { return int(a.from - b.from) })
	for _, b := range not {
		if min(b.from, to)-from >= tellTime {
			return true
		}
		from = max(from, b.to)
	}
	return to-from >= tellTime
}

// heard is told after a reload whether people are to be told of anything.
func (g *ledger) heard(now bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.deaf)
	switch was := n == 0 || g.deaf[n-1].to < 1000*time.Hour; {
	case was && !now:
		g.deaf = append(g.deaf, between{g.w.since(), 1000 * time.Hour})
		g.w.people.forget()
		for id := range g.events {
			g.dropped[id] = g.dropped[id] || !g.w.people.knows(id)
		}
	case !was && now:
		g.deaf[n-1].to = g.w.since()
	}
}

// over is when what began with an event was over or went on as another; now if it
// lasts. The caller holds mu.
func (g *ledger) over(id uint64, now time.Duration) time.Duration {
	for other, x := range g.events {
		if x.Resolves == id {
			return g.at[other]
		}
	}
	return now
}

// tries notes that a message is on its way.
func (p *people) tries(m *alert.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[m.ID] == 0 {
		p.tried[m.ID] = p.w.since()
	}
}

// forget is called when the controller ends while the disk fails: what was sent
// could not be stored and is sent again, and what comes after it may bear another ID.
func (p *people) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.seen {
		p.again[id]++
	}
	clear(p.tried)
	clear(p.first)
}

// waited holds that each message that was tried has come, or is tried on.
func (p *people) waited(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, at := range p.tried {
		if now-at > tryTime {
			p.w.fault("message %s did not get through at %v, and was not tried again", id, at)
		}
	}
}

// names enters which events a message tells of, the first time: an event that
// begins two incidents would be told twice, and no receiver could see that it is
// one. The caller holds mu.
func (p *people) names(m *alert.Message) {
	for _, e := range m.Events {
		p.told[e.ID] = true
		if m.Phase != alert.Firing {
			continue
		}
		if id, ok := p.first[e.ID]; ok && id != m.ID {
			p.w.fault("event %d was told as message %s and as message %s", e.ID, id, m.ID)
		}
		p.first[e.ID] = m.ID
	}
}
