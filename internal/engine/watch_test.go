package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// watch holds every turn of a world against what must hold at all times.
type watch struct {
	w      *world
	fail   func(format string, args ...any)
	ledger *ledger
	alerts alerts
	// every: how often it is looked whether something has changed that the
	// effects do not tell of; 1 is always.
	every int

	done      []engine.Finished
	cmd       *sites.Command
	fresh     bool // the first turn since a start
	reload    bool
	saved     map[string]sites.SavedSite
	answers   map[string]sites.Answer
	looks     int
	moves     int // changes of answers
	told      int // events
	outages   int // nodes taken out
	left      int // addresses that left an answer
	stored    int
	turns     int // in a row at one moment
	at        time.Duration
	announced map[string]bool // sites that were to be stored since the last look
	mass      bool            // the brake holds (A10)
	global    sites.SavedGlobal
	downSince map[string]time.Duration
}

func newWatch(w *world, fail func(format string, args ...any)) *watch {
	return &watch{
		w: w, every: 24, ledger: newLedger(w.now), saved: map[string]sites.SavedSite{}, answers: map[string]sites.Answer{},
		announced: map[string]bool{}, downSince: map[string]time.Duration{}, alerts: alerts{open: map[uint64]sites.Event{}, heirs: map[string]int{}},
		fail: func(format string, args ...any) { fail("at %s: "+format, append([]any{w.now - time.Hour}, args...)...) },
	}
}

// started is called when a controller has been made, before its first turn.
func (x *watch) started() {
	x.fresh = true
	rise, known := x.ledger.rise, x.ledger.answered
	x.ledger = newLedger(x.w.now)
	x.ledger.rise, x.ledger.answered = rise, known
	x.sources()
	x.carry()
	// P9, S2: the last stored answers are served at once.
	for name, a := range x.present() {
		if was, ok := x.answers[name]; ok && !was.SameRecords(a) {
			x.fail("P9: %s answered %v before the restart and %v after", name, records(was), records(a))
		}
	}
	again := x.w.saved()
	for i := range again.Sites {
		if was, ok := x.saved[again.Sites[i].Name]; ok && !reflect.DeepEqual(was, again.Sites[i]) {
			x.fail("S1: stored as\n%s\nand after a start\n%s", text(was), text(again.Sites[i]))
		}
	}
}

// carry notes whose failing clock starts anew now.
func (x *watch) carry() {
	clear(x.ledger.carried)
	for site, s := range x.saved {
		for _, n := range s.Nodes {
			for f, l := range n.Lines {
				if l == nil || l.Word != sites.WordFailing {
					continue
				}
				former := sites.Node{Addresses: n.Addresses}
				addr, _ := probed(&former, sites.Family(f))
				x.ledger.carried[sites.Subject{Site: site, Node: n.Name, Addr: addr}] = true
			}
		}
	}
}

// reloading is called before a reload.
func (x *watch) reloading() { x.reload, x.done, x.cmd = true, nil, nil }

// before is called before a turn.
func (x *watch) before(done []engine.Finished, cmd *sites.Command) { x.done, x.cmd = done, cmd }

// sources notes what the ledger needs of the configuration.
func (x *watch) sources() {
	for i := range x.w.cfg.Sites {
		s := &x.w.cfg.Sites[i]
		for j := range s.Nodes {
			name := s.Name + "/" + s.Nodes[j].Name
			x.ledger.rise[name] = max(x.ledger.rise[name], s.Nodes[j].Rise)
		}
	}
	x.ledger.keep(x.w.machine().Targets())
	x.forgetProbes()
}

// forgetProbes drops what was known of probes and addresses that have left.
func (x *watch) forgetProbes() {
	there := map[sites.Subject]bool{}
	for _, s := range x.w.saved().Sites {
		for _, n := range s.Nodes {
			c := sites.Node{Addresses: n.Addresses}
			for f := range n.Lines {
				addr, _ := probed(&c, sites.Family(f))
				there[sites.Subject{Site: s.Name, Node: n.Name, Addr: addr}] = true
			}
		}
	}
	for a := range x.ledger.answered {
		n := x.w.node(a.subject.Site, a.subject.Node)
		if !there[a.subject] || n == nil || !slices.ContainsFunc(n.Probes, func(p sites.Probe) bool { return p.Key == a.key }) {
			delete(x.ledger.answered, a)
		}
	}
}

// present gives what all pools answer.
func (x *watch) present() map[string]sites.Answer {
	all := map[string]sites.Answer{}
	for i := range x.w.cfg.Sites {
		for j := range x.w.cfg.Sites[i].Pools {
			all[x.name(sites.PoolID{Site: i, Pool: j})] = x.w.machine().Answer(sites.PoolID{Site: i, Pool: j})
		}
	}
	return all
}

func (x *watch) name(id sites.PoolID) string {
	s := &x.w.cfg.Sites[id.Site]
	return s.Name + "/" + s.Pools[id.Pool].Name
}

// after holds a turn against the rules.
func (x *watch) after(t engine.Turn) {
	x.pace(t)
	if t.Blind {
		x.ledger.all = x.w.now
		// What was failing then need not fail again to be failing.
		x.carry()
	}
	if x.reload {
		x.sources()
		x.forgetRemoved()
	}
	x.ledger.enter(x.w, x.done, x.inDrill)
	if t.Subjects {
		x.ledger.keep(x.w.machine().Targets())
		x.forgetProbes()
	}
	x.darken()
	x.told += len(t.Events)
	for i := range t.Events {
		if k := t.Events[i].Kind; k == sites.FailoverOutage || k == sites.NodeOffline {
			x.outages++
		}
	}
	x.alerts.take(x, t.Events)
	x.store(t)
	x.drills(t)
	x.answer(t)
	x.probes(t)
	x.done, x.cmd, x.fresh, x.reload = nil, nil, false, false
	x.mass = x.w.machine().Global().Mass != 0
}

// pace: the next turn is due now or later, and it does not go on for ever at
// one moment.
func (x *watch) pace(t engine.Turn) {
	if t.Next < x.w.now {
		x.fail("the next turn is due at %s, which is over", t.Next-time.Hour)
	}
	if x.turns++; x.at != x.w.now {
		x.turns, x.at = 0, x.w.now
	}
	if x.turns > 60 {
		x.fail("%d turns at one moment, and no end", x.turns)
	}
}

func (x *watch) darken() {
	if len(x.done) == 0 && !x.reload {
		return
	}
	dark := map[string]bool{}
	for i := range x.done {
		dark[x.done[i].Result.Subject.Site] = true
	}
	for i := range x.w.cfg.Sites {
		s := &x.w.cfg.Sites[i]
		if !dark[s.Name] && !x.reload || s.NoWitness {
			continue
		}
		for j := range s.Nodes {
			for f := range sites.Family(2) {
				x.ledger.darken(s, s.Nodes[j].Name, f, x.disabled(s.Name))
			}
		}
	}
}

func (x *watch) disabled(site string) func(string) bool {
	return func(node string) bool {
		for _, n := range x.saved[site].Nodes {
			if n.Name == node && !n.Replaced {
				return n.Disabled != nil
			}
		}
		return false
	}
}

// forgetRemoved drops what was known of sites and pools that have left.
func (x *watch) forgetRemoved() {
	for name := range x.saved {
		if x.w.site(name) == nil {
			delete(x.saved, name)
		}
	}
	present := x.present()
	for name := range x.answers {
		if _, ok := present[name]; !ok {
			delete(x.answers, name)
		}
	}
}

// store looks at what is to be stored.
func (x *watch) store(t engine.Turn) {
	m := x.w.machine()
	if g := m.Global(); !reflect.DeepEqual(g, x.global) {
		if !t.StoredGlobal {
			x.fail("S1: what is to be stored of all has changed, and no effect says so: %+v, %+v", x.global, g)
		}
		x.global = g
	}
	x.looks++
	all := x.looks%max(x.every, 1) == 0 || x.fresh || x.reload
	for i := range x.w.cfg.Sites {
		s := &x.w.cfg.Sites[i]
		announced := slices.Contains(t.Stored, i)
		if !announced && !all {
			continue
		}
		is := m.Saved(i)
		was, known := x.saved[s.Name]
		same := known && reflect.DeepEqual(was, is)
		if !announced && known && !same {
			x.fail("S1: what is to be stored of %s has changed, and no effect says so:\n%s\n%s", s.Name, text(was), text(is))
		}
		if !same {
			x.stored++
			if known {
				x.transitions(s, was, is)
			}
			x.saved[s.Name] = is
		}
	}
}

// probes: no disabled node is probed (P4), and nothing that is not there.
func (x *watch) probes(t engine.Turn) {
	for _, run := range t.Runs {
		s := run.Subject
		if s.Node != "" && x.disabled(s.Site)(s.Node) {
			x.fail("P4: %s is disabled and probed", s)
		}
		if x.ledger.tracks[s] == nil {
			x.fail("%s is probed, and is no subject", s)
		}
	}
}

func text(s sites.SavedSite) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s down=%d resolver=%d failed over=%t\n", s.Name, s.Condition, s.Since, s.Down, s.Resolver, s.FailedOver)
	for _, n := range s.Nodes {
		fmt.Fprintf(&b, "  %s %v replaced=%t maintenance=%v disabled=%v window=%v skip=%s entitled=%t drill=%v outages=%v quarantine=%d\n",
			n.Name, n.Addresses, n.Replaced, n.Maintenance, n.Disabled, n.Window, n.WindowSkip, n.Entitled, n.Drill, n.Outages, n.Quarantine)
		for _, l := range n.Lines {
			if l != nil {
				fmt.Fprintf(&b, "    %+v\n", *l)
			}
		}
	}
	for _, p := range s.Pools {
		fmt.Fprintf(&b, "  %+v\n", p)
	}
	return b.String()
}
