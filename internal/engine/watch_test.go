package engine_test

import (
	"fmt"
	"net/netip"
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
}

func newWatch(w *world, fail func(format string, args ...any)) *watch {
	return &watch{
		w: w, every: 8, ledger: newLedger(w.now), saved: map[string]sites.SavedSite{}, answers: map[string]sites.Answer{},
		announced: map[string]bool{}, alerts: alerts{open: map[uint64]sites.Event{}, heirs: map[string]int{}},
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
	x.ledger.enter(x.w, x.done)
	if t.Subjects {
		x.ledger.keep(x.w.machine().Targets())
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
	x.answer(t)
	x.probes(t)
	x.done, x.cmd, x.fresh, x.reload = nil, nil, false, false
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
	if len(x.done) == 0 {
		return
	}
	dark := map[string]bool{}
	for i := range x.done {
		dark[x.done[i].Result.Subject.Site] = true
	}
	for i := range x.w.cfg.Sites {
		s := &x.w.cfg.Sites[i]
		if !dark[s.Name] || s.NoWitness {
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

// transitions holds the changes of a site's nodes against N1 to N8.
func (x *watch) transitions(s *sites.Site, was, is sites.SavedSite) {
	if was.Condition == sites.SiteIsDown && is.Condition == sites.SiteIsUp {
		x.ledger.sites[s.Name] = x.w.now
	}
	for i := range is.Nodes {
		n := &is.Nodes[i]
		j := slices.IndexFunc(was.Nodes, func(o sites.SavedNode) bool {
			return o.Name == n.Name && slices.Equal(o.Addresses, n.Addresses)
		})
		if j < 0 {
			continue
		}
		o := &was.Nodes[j]
		if taken(o) && !taken(n) {
			x.ledger.nodes[s.Name+"/"+n.Name] = x.w.now
		}
		for f := range n.Lines {
			if n.Lines[f] != nil && o.Lines[f] != nil && n.Lines[f].Word != o.Lines[f].Word {
				x.transition(s, n, sites.Family(f), o.Lines[f].Word, n.Lines[f].Word)
			}
		}
	}
}

func taken(n *sites.SavedNode) bool {
	return n.Disabled != nil || n.Maintenance != nil || n.Window != nil
}

// transition holds one change of a line's word against the rules.
func (x *watch) transition(s *sites.Site, saved *sites.SavedNode, f sites.Family, from, to sites.Word) {
	name := fmt.Sprintf("%s/%s (%s)", s.Name, saved.Name, f)
	n := x.w.node(s.Name, saved.Name)
	if n == nil {
		return
	}
	former := *n
	former.Addresses = saved.Addresses
	addr, _ := probed(&former, f)
	t := x.ledger.tracks[sites.Subject{Site: s.Name, Node: n.Name, Addr: addr}]
	switch {
	case to == sites.WordOut && from == sites.WordRecovering:
		if t.last().outcome != sites.Down {
			x.fail("N6: %s is out again, and its last result is %s", name, t.last().outcome)
		} else if _, ok := x.ledger.proven(members(s, n.Name, f, x.disabled(s.Name)), s.WitnessAll, t.rowStart()); !ok && !s.NoWitness {
			x.fail("N6: %s is out again before a witness has answered", name)
		}
	case to == sites.WordOut:
		if from != sites.WordFailing && !(from == sites.WordUp && len(x.done) > 1) {
			x.fail("P1: %s goes from %s to out", name, from)
		}
		if !n.Failover {
			x.fail("N9: %s is taken out", name)
		}
		if lack := x.ledger.lacks(x.w, s, n, f, addr, x.disabled(s.Name)); lack != "" {
			x.fail("P1: %s is taken out without %s", name, lack)
		}
	case to == sites.WordFailing && (t == nil || t.last().outcome != sites.Down):
		x.fail("N1: %s fails, and its last result is %s", name, t.last().outcome)
	case to == sites.WordUp && from == sites.WordFailing, to == sites.WordRecovering:
		if x.cmd == nil && (t == nil || !inRow(t.counted, n.Rise)) {
			x.fail("O4: %s goes from %s to %s, and has not answered %d times in a row", name, from, to, n.Rise)
		}
	case to == sites.WordUp && x.cmd == nil && n.Failover:
		if t == nil || t.recent.outcome != sites.Up {
			x.fail("N12: %s goes from %s to up, and its last probe did not come back up", name, from)
		}
	}
}

func inRow(h []heard, rise int) bool {
	if len(h) < rise {
		return false
	}
	return !slices.ContainsFunc(h[len(h)-rise:], func(x heard) bool { return x.outcome != sites.Up })
}

// answer looks at what the pools answer.
func (x *watch) answer(t engine.Turn) {
	m := x.w.machine()
	all := x.looks%max(x.every, 1) == 0 || x.fresh || x.reload
	for i := range x.w.cfg.Sites {
		for j := range x.w.cfg.Sites[i].Pools {
			id := sites.PoolID{Site: i, Pool: j}
			touched := slices.Contains(t.Touched, id)
			if !touched && !all {
				continue
			}
			name := x.name(id)
			is := m.Answer(id)
			was, known := x.answers[name]
			if known && was.Equal(is) {
				continue
			}
			x.answers[name] = is
			if again := m.Answer(id); !again.Equal(is) {
				x.fail("the answer of %s is another when it is asked for twice", name)
			}
			if !touched && known {
				x.fail("the answer of %s has changed from %v to %v, and no effect says so", name, was, is)
			}
			if !was.SameRecords(is) {
				x.moves++
				for _, a := range records(was) {
					if !slices.Contains(records(is), a) {
						x.left++
					}
				}
			}
			x.answered(id, name, was, is, known)
		}
	}
}

func records(a sites.Answer) []netip.Addr { return slices.Concat(a.IPv4, a.IPv6) }

// answered holds an answer against P2, P3, P4, P6.
func (x *watch) answered(id sites.PoolID, name string, was, is sites.Answer, known bool) {
	if len(records(is)) == 0 {
		x.fail("P2: the answer of %s is empty; it was %v", name, records(was))
	}
	s := &x.w.cfg.Sites[id.Site]
	switch is.Source {
	case sites.Emergency:
		if is.From == s.Name || !x.chained(s, is.From) {
			x.fail("P6: %s serves %s, and is not in its chain", is.From, name)
		}
	case sites.Own:
		if is.From != s.Name {
			x.fail("%s answers by its own, from %s", name, is.From)
		}
		for _, n := range x.saved[s.Name].Nodes {
			x.member(name, s, &n, was, is, known)
		}
	}
}

// member holds one node of an answer against P3 and P4.
func (x *watch) member(pool string, s *sites.Site, n *sites.SavedNode, was, is sites.Answer, known bool) {
	c := x.w.node(s.Name, n.Name)
	for _, a := range n.Addresses {
		if c == nil || !slices.Contains(records(is), a) {
			continue
		}
		if n.Disabled != nil {
			x.fail("P4: %s/%s is disabled, and answered in %s", s.Name, n.Name, pool)
		}
		f := sites.FamilyOf(a)
		line := n.Lines[f]
		if line == nil {
			f = 1 - f
			line = n.Lines[f]
		}
		if slices.Contains(records(was), a) || !known || x.reload || x.fresh || line == nil || !c.Failover ||
			line.Word == sites.WordPending || x.cmd != nil && x.cmd.Force {
			continue
		}
		if x.leftAlone(s) {
			continue
		}
		former := *c
		former.Addresses = n.Addresses
		if !x.answersOn(s, &former, f) && !x.answersOn(s, &former, 1-f) {
			x.fail("P3: %s/%s (%s) enters the answer of %s, and its last probe did not come back up", s.Name, n.Name, line.Word, pool)
		}
	}
}

// answersOn says whether the last finished probe of a node came back up.
func (x *watch) answersOn(s *sites.Site, n *sites.Node, f sites.Family) bool {
	addr, _ := probed(n, f)
	t := x.ledger.tracks[sites.Subject{Site: s.Name, Node: n.Name, Addr: addr}]
	return t != nil && t.recent.outcome == sites.Up
}

// leftAlone says whether a site has nothing better to enter an answer: what was
// answered has been taken by an operator, and no other node answers.
func (x *watch) leftAlone(s *sites.Site) bool {
	for _, n := range x.saved[s.Name].Nodes {
		c := sites.Node{Name: n.Name, Addresses: n.Addresses}
		for f, l := range n.Lines {
			serves := l != nil && (l.Word == sites.WordUp || l.Word == sites.WordFailing)
			if serves && !taken(&n) && x.answersOn(s, &c, sites.Family(f)) {
				return false
			}
		}
	}
	return true
}

// chained says whether a site is among those that may step in for another.
func (x *watch) chained(s *sites.Site, from string) bool {
	seen := map[string]bool{s.Name: true}
	for at := s.EmergencySite; at != "" && !seen[at]; {
		if at == from {
			return true
		}
		seen[at] = true
		next := x.w.site(at)
		if next == nil {
			return false
		}
		at = next.EmergencySite
	}
	return false
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
	fmt.Fprintf(&b, "%s %s %s down=%d resolver=%d\n", s.Name, s.Condition, s.Since, s.Down, s.Resolver)
	for _, n := range s.Nodes {
		fmt.Fprintf(&b, "  %s %v replaced=%t maintenance=%v disabled=%v window=%v skip=%s entitled=%t\n",
			n.Name, n.Addresses, n.Replaced, n.Maintenance, n.Disabled, n.Window, n.WindowSkip, n.Entitled)
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
