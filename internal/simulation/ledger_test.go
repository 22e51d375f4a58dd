package simulation

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/app"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// ledger keeps by itself what was observed, decided, stored and served, and
// holds each against what must hold at all times. It shares no code with the
// rules.
type ledger struct {
	w *world

	mu   sync.Mutex
	seen map[sites.Subject][]observation
	// epoch is the end of the last time in which the controller was blind.
	epoch time.Duration
	// answers are what each site serves now, and was served lately.
	answers map[string][]netip.Addr
	lately  map[string][]served
	// before are the answers at the last end, if all was stored then.
	before   map[string][]netip.Addr
	disabled map[string]bool
	drilled  map[string]time.Duration
	events   map[uint64]sites.Event   // acknowledged by the store
	at       map[uint64]time.Duration // when they happened, by the run's time
	off      []between                // when the controller did not run
	deaf     []between                // when nobody was to be told of anything
	dropped  map[uint64]bool          // events that were not told when that began
	last     uint64
	outAt    map[string]time.Duration // when a node was last taken out
	isolated bool                     // the controller says so
	// ordered are the sites of which an operator has had something moved since: what
	// is to be there is sent to their targets all the same.
	ordered map[string]bool
	started time.Duration
	// sawUp are the sites whose resolver has answered since the start; silent are
	// those of which it was told before it that it does not.
	sawUp, silent map[string]bool
	quiet         bool // nothing may happen now
	changed       bool // by a reload
	turns         int
	outages       int
	moves         int
	commits       int
}

// observation is what came of one probe.
type observation struct {
	start, finish time.Duration
	up            bool
}

type served struct {
	at   time.Duration
	list []netip.Addr
}

func newLedger(w *world) *ledger {
	return &ledger{
		w: w, seen: map[sites.Subject][]observation{}, answers: map[string][]netip.Addr{}, lately: map[string][]served{},
		disabled: map[string]bool{}, drilled: map[string]time.Duration{}, events: map[uint64]sites.Event{},
		at: map[uint64]time.Duration{}, dropped: map[uint64]bool{},
		outAt: map[string]time.Duration{}, ordered: map[string]bool{}, sawUp: map[string]bool{},
	}
}

// begins is told of a start.
func (g *ledger) begins(*life) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.epoch = g.w.boot()
	g.last, g.started = 0, g.epoch
	clear(g.ordered) // nobody orders anything of the new process yet
	clear(g.sawUp)
	g.silent = map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(g.events)) {
		switch e := g.events[id]; e.Kind {
		case sites.SiteDown, sites.ResolverDown:
			g.silent[e.Site] = true
		case sites.SiteUp, sites.ResolverUp:
			g.silent[e.Site] = false
		default:
		}
	}
	if n := len(g.off); n > 0 {
		g.off[n-1].to = g.w.since()
	}
}

// ends is told of an end, before it begins. What was served must be served again
// at once after the next start, if the disk had taken it (S2, P9).
func (g *ledger) ends(_ *life, kill bool) {
	if kill {
		g.w.people.excuse()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.off = append(g.off, between{g.w.since(), 1000 * time.Hour})
	g.before = nil
	if g.w.diskTroubled() {
		g.w.people.forget()
	} else {
		g.before = maps.Clone(g.answers)
	}
}

// served holds what is served at once after a start against what was.
func (g *ledger) served(l *life) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.w.plan.sites {
		name := siteName(i)
		now := sorted(l.app.Published(name, host))
		// An order whose time was over meanwhile ends with the start.
		if was, ok := g.before[name]; ok && !slices.Equal(was, now) && !l.expired {
			g.w.fault("P9, S2: %s was answered %v before the restart and is %v after it", name, was, now)
		}
		if g.before == nil { // the disk had not taken it: it begins with an older one, or none
			delete(g.answers, name)
			if len(now) > 0 {
				g.answers[name] = now
				g.lately[name] = append(g.lately[name], served{g.w.boot(), now})
			}
		}
	}
}

// reloading is told before a reload: nodes may come and go with it (A7).
func (g *ledger) reloading() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed = true
}

// observed is told what came of it.
func (g *ledger) observed(l *life, s sites.Subject, start, finish time.Duration, c sites.Check) {
	if l.ending() || c.Outcome != sites.Up && c.Outcome != sites.Down {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.seen[s]
	if n := len(list); n > 0 && start < list[n-1].start {
		return // older than the last that counted (O1)
	}
	if list = append(list, observation{start, finish, c.Outcome == sites.Up}); len(list) > 400 {
		list = slices.Clone(list[200:])
	}
	g.seen[s] = list
	if s.Node == "" && c.Outcome == sites.Up && start >= g.started {
		g.sawUp[s.Site] = true
	}
}

// committed is told of what the store has acknowledged (S1).
func (g *ledger) committed(b store.Batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commits++
	for _, e := range b.Events {
		if old, ok := g.events[e.ID]; ok && (old.Kind != e.Kind || old.Text != e.Text) {
			g.w.fault("S1: event %d was stored as %s and then as %s", e.ID, old.Kind, e.Kind)
		}
		if _, ok := g.at[e.ID]; !ok { // it came while the controller ended
			g.at[e.ID] = g.w.since()
		}
		g.events[e.ID] = e
	}
}

// turned holds a turn of the loop against the rules. It is called in the loop's
// goroutine.
func (g *ledger) turned(l *life, a *app.App, now sites.Instant, t engine.Turn) {
	if l.ending() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turns++
	if t.Blind {
		g.epoch = now.Boot
	}
	m := a.Machine()
	for i := range t.Events {
		switch t.Events[i].Kind {
		case sites.FailoverMaintenance, sites.NodeEnabled, sites.Resumed, sites.DrillEnded:
			l.expired = l.expired || !l.ready
		default:
		}
		id := t.Events[i].ID
		if g.last != 0 && id != g.last+1 {
			g.w.fault("event %d comes after %d", id, g.last)
		}
		g.last = id
		g.event(&t.Events[i], now, t.Reply != nil)
	}
	if t.Subjects || t.Reply != nil || len(t.Stored) > 0 || !l.ready {
		for i, s := range g.w.plan.sites {
			for j := range s.nodes {
				name := siteName(i) + "/" + nodeName(j)
				word, _ := m.NodeWord(name)
				g.disabled[name] = word == sites.WordDisabled
			}
		}
	}
	for _, run := range t.Runs {
		if s := run.Subject; s.Node != "" && g.disabled[s.Site+"/"+s.Node] {
			g.w.fault("P4: %s is disabled and probed", s)
		}
	}
	// The first turn of a start comes before its answers are in place.
	if len(t.Touched) == 0 || !l.ready {
		l.ready = true
		return
	}
	for _, id := range t.Touched {
		g.answer(a, m, id, now)
	}
	g.changed = false
}

// answer holds what a site's clients get now against what they got, and against
// what the rules say.
func (g *ledger) answer(a *app.App, m *sites.Machine, id sites.PoolID, now sites.Instant) {
	name := siteName(id.Site)
	list := sorted(a.Published(name, host))
	decided := m.Answer(id)
	if want := sorted(slices.Concat(decided.IPv4, decided.IPv6)); !slices.Equal(list, want) {
		g.w.fault("%s: the rules say %v, and clients get %v", name, want, list)
	}
	if len(list) == 0 {
		g.w.fault("P2: %s has no answer left", name)
	}
	was, known := g.answers[name]
	g.answers[name] = list
	if known && slices.Equal(was, list) {
		return
	}
	g.moves++
	g.w.say("%s answers %v (%v)", name, list, decided.Source)
	g.lately[name] = append(g.lately[name][max(0, len(g.lately[name])-50):], served{now.Boot, list})
	for _, addr := range list {
		if slices.Contains(was, addr) {
			continue
		}
		if known && decided.Source == sites.Own && !g.changed && g.better(m, id.Site) {
			g.enters(id.Site, addr)
		}
	}
}

// event holds what is said against the evidence. ordered: somebody has ordered
// something in this turn.
func (g *ledger) event(e *sites.Event, now sites.Instant, ordered bool) {
	g.w.say("event %d %s %s: %s", e.ID, e.Kind, e.Subject(), e.Text)
	g.at[e.ID] = g.w.since()
	// The one comes an hour later, the other with the next try of a message.
	if g.quiet && e.Kind != sites.InstanceConflictEnded && e.Kind != sites.AlertRecovered {
		g.w.fault("P5: nothing happens, and it says %s %s: %s", e.Kind, e.Subject(), e.Text)
	}
	switch {
	case e.Kind == sites.DrillStarted, e.Drill:
		g.drilled[e.Site+"/"+e.Node] = now.Boot + 2*time.Hour
	case e.Kind == sites.FailoverOutage:
		g.outages++
		g.outAt[e.Site+"/"+e.Node] = now.Boot
		if now.Boot >= g.drilled[e.Site+"/"+e.Node] {
			if why := g.unproven(e.Site, e.Node, now.Boot); why != "" {
				g.w.fault("P1: %s/%s was taken out: %s", e.Site, e.Node, why)
			}
		}
	}
	switch e.Kind {
	case sites.ControllerIsolated:
		if g.isolated = true; !ordered { // else it is by the order that nothing can be seen
			clear(g.ordered)
		}
	case sites.ControllerReconnected:
		g.isolated = false
	default:
	}
}

// orders notes whether a site is one of which something was ordered, and gives
// what was noted before.
func (g *ledger) orders(site string, now bool) (before bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, g.ordered[site] = g.ordered[site], now
	return before
}

func sorted(list []netip.Addr) []netip.Addr {
	list = slices.Clone(list)
	slices.SortFunc(list, netip.Addr.Compare)
	return list
}
