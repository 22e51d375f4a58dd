package engine_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// transitions holds the changes of a site's nodes against N1 to N8.
func (x *watch) transitions(s *sites.Site, was, is sites.SavedSite) {
	if was.Condition == sites.SiteIsDown && is.Condition == sites.SiteIsUp {
		x.ledger.sites[s.Name] = x.w.now
	}
	if is.Condition != sites.SiteIsDown {
		delete(x.downSince, s.Name)
	} else if _, known := x.downSince[s.Name]; !known {
		x.downSince[s.Name] = x.w.now
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
				x.transition(s, change{&is, n, o.Drill != nil && n.Drill == nil, sites.Family(f), o.Lines[f].Word, n.Lines[f].Word})
			}
		}
	}
}

func taken(n *sites.SavedNode) bool {
	return n.Disabled != nil || n.Maintenance != nil || n.Window != nil
}

// change is that of a line's word.
type change struct {
	site     *sites.SavedSite
	node     *sites.SavedNode
	drilled  bool // until now
	family   sites.Family
	from, to sites.Word
}

// transition holds one change of a line's word against the rules.
func (x *watch) transition(s *sites.Site, c change) {
	saved, f, from, to := c.node, c.family, c.from, c.to
	name := fmt.Sprintf("%s/%s (%s)", s.Name, saved.Name, f)
	n := x.w.node(s.Name, saved.Name)
	if n == nil {
		return
	}
	former := *n
	former.Addresses = saved.Addresses
	addr, _ := probed(&former, f)
	t := x.ledger.tracks[sites.Subject{Site: s.Name, Node: n.Name, Addr: addr}]
	drill := saved.Drill != nil
	switch {
	case to == sites.WordOut && from == sites.WordRecovering:
		list := x.ledger.members(s, n.Name, f, x.disabled(s.Name), true)
		proven := func(h heard) bool {
			_, ok := x.ledger.proven(list, s.WitnessAll, h.start)
			return h.outcome == sites.Down && (ok || s.NoWitness)
		}
		if t == nil || !slices.ContainsFunc(t.counted, proven) {
			x.fail("N6: %s is out again, and no failure of it is proven by a witness that was asked since", name)
		}
	case to == sites.WordOut && s.FailoverAfter > 0 && c.site.Condition == sites.SiteIsDown:
		x.givenUp(s, name)
	case to == sites.WordOut:
		x.unbraked(s, n, name)
		if from != sites.WordFailing && !(from == sites.WordUp && len(x.done) > 1) {
			x.fail("P1: %s goes from %s to out", name, from)
		}
		if !n.Failover {
			x.fail("N9: %s is taken out", name)
		}
		if lack := x.ledger.lacks(x.w, s, n, f, addr, x.disabled(s.Name), drill); lack != "" {
			x.fail("P1: %s is taken out without %s; blind %v", name, lack, x.ledger.blind[line{s.Name, n.Name, f}])
		}
	case to == sites.WordFailing && (t == nil || t.last().outcome != sites.Down) && !drill:
		x.fail("N1: %s fails, and its last result is %s", name, t.last().outcome)
	case c.drilled && from == sites.WordFailing:
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

// givenUp holds a node that is taken out because its site is down against N5.
func (x *watch) givenUp(s *sites.Site, name string) {
	since, down := x.downSince[s.Name]
	if since = max(since, x.ledger.all); !down || x.w.now < since+s.FailoverAfter {
		x.fail("N5: %s is given up, and its site is down since %s alone", name, since-time.Hour)
	}
	proven := false
	for i := range x.w.cfg.Sites {
		o := &x.w.cfg.Sites[i]
		if o.Name == s.Name {
			continue
		}
		if x.w.machine().SiteWord(o.Name) == "down" {
			x.fail("N5: %s is given up, and %s is down as well", name, o.Name)
		}
		for _, witness := range o.Witnesses {
			t := x.ledger.tracks[sites.Subject{Site: o.Name, Witness: witness.Name, Addr: witness.Addr}]
			proven = proven || !o.Local && !o.NoWitness && t != nil && t.recent.outcome == sites.Up
		}
		if o.WitnessNodes && !o.Local {
			proven = true
		}
	}
	if !proven {
		x.fail("N5: %s is given up, and no witness of another site answers", name)
	}
}

// unbraked: while the brake holds, no node goes out of whose pools none has a
// node that answers (A10).
func (x *watch) unbraked(s *sites.Site, n *sites.Node, name string) {
	if !x.mass || x.w.machine().Global().Mass == 0 {
		return
	}
	for _, p := range s.Pools {
		if !slices.ContainsFunc(p.Nodes, func(i int) bool { return s.Nodes[i].Name == n.Name }) {
			continue
		}
		for _, i := range p.Nodes {
			for _, saved := range x.saved[s.Name].Nodes {
				former := sites.Node{Name: s.Nodes[i].Name, Addresses: saved.Addresses}
				if saved.Name == former.Name && (x.answersOn(s, &former, sites.IPv4) || x.answersOn(s, &former, sites.IPv6)) {
					return
				}
			}
		}
	}
	x.fail("A10: %s goes out while the brake holds all of its pools", name)
}

// inDrill says whether a node is treated as not answering.
func (x *watch) inDrill(s sites.Subject) bool {
	for _, n := range x.saved[s.Site].Nodes {
		if s.Node != "" && n.Name == s.Node && n.Drill != nil {
			return true
		}
	}
	return false
}

// drills: no drill leaves a pool with nothing (C6).
func (x *watch) drills(t engine.Turn) {
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != sites.PoolOutageStarted {
			continue
		}
		s := x.w.site(e.Site)
		for _, p := range s.Pools {
			for _, j := range p.Nodes {
				if p.Name == e.Pool && x.inDrill(sites.Subject{Site: s.Name, Node: s.Nodes[j].Name}) {
					x.fail("C6: %s has nothing left, and %s is in a drill", e.Subject(), s.Nodes[j].Name)
				}
			}
		}
	}
}
