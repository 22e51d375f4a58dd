package engine_test

import (
	"fmt"
	"slices"

	"github.com/dnsteer/dnsteer/sites"
)

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
		list := members(s, n.Name, f, x.disabled(s.Name))
		proven := func(h heard) bool {
			_, ok := x.ledger.proven(list, s.WitnessAll, h.start)
			return h.outcome == sites.Down && (ok || s.NoWitness)
		}
		if t == nil || !slices.ContainsFunc(t.counted, proven) {
			x.fail("N6: %s is out again, and no failure of it is proven by a witness that was asked since", name)
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
