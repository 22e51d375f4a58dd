package engine_test

import (
	"net/netip"
	"slices"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

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
				x.fail("the answer of %s has changed from %v to %v, and no effect says so: %+v, %+v", name, was, is, [2]any{was.Nodes, was.Horizon}, [2]any{is.Nodes, is.Horizon})
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
	p := &x.w.cfg.Sites[id.Site].Pools[id.Pool]
	if len(records(is)) == 0 && !(is.Source == sites.Removed && p.OnEmpty == sites.OnEmptyRemove) {
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
