package sites

import (
	"fmt"
	"strings"
)

// wouldEmpty says why nodes must not be taken out: in a pool of the site they
// would be the last that serve, and nothing could step in (C4). It is empty
// when they may.
func (m *Machine) wouldEmpty(s *site, nodes []*node) string {
	taken := func(n *node) bool {
		for _, x := range nodes {
			if x == n || x.Name == n.Name {
				return true
			}
		}
		return false
	}
	for _, p := range s.pools {
		serving, after, stepsIn := 0, 0, m.emergency(p) != nil || m.otherReturns(p)
		recovers := "no recovering node answers"
		for _, n := range p.nodes {
			if in := n.serves(); in != [families]bool{} || n.may() != in {
				serving++
				if !taken(n) {
					after++
				}
			}
			switch {
			case taken(n) || !n.canStepIn():
			case p.Paused != nil: // it would stay where it is (C3)
				recovers = "its recovering nodes stay out while it is paused (`dnsteer resume " + p.label() + "` ends that)"
			default:
				stepsIn = true
			}
		}
		if serving > 0 && after == 0 && !stepsIn {
			name := "pool " + p.Name
			if p.Name == DefaultPool {
				name = "site"
			}
			return fmt.Sprintf("%s %s would have no node left that serves, %s, and %s", name, s.Name, recovers, m.chainText(p))
		}
	}
	return ""
}

// otherReturns says whether a site that is served by this pool has recovering nodes
// of its own which answer: they come back at once when the pool does not serve any
// more (A3), and then that site can step in.
func (m *Machine) otherReturns(p *pool) bool {
	for _, x := range p.site.chain {
		q := p.stand(x)
		if q != nil && q.Source == Emergency && q.From == p.site.Name && q.stand(p.site) == p && !q.frozen(m) &&
			q.any("", (*node).canStepIn) {
			return true
		}
	}
	return false
}

// canStepIn says whether a recovering line of the node answers, so that it
// would come back at once if its pool lost the last node that serves (A3).
func (n *node) canStepIn() bool {
	if n.taken() {
		return false
	}
	for _, l := range n.lines {
		if l != nil && l.Word == WordRecovering && l.answers() {
			return true
		}
	}
	return false
}

// refuseEmpty refuses what would leave a pool of the site without a node, and
// says what can be done about it.
func refuseEmpty(s *site, why string) Reply {
	if len(s.chain) == 0 {
		return unforced("Refused: %s. Give the site an emergency_site, wait until another node answers, or use --force.", why)
	}
	return unforced("Refused: %s. Wait until another node answers, put back one that is in maintenance or disabled, or use --force.", why)
}

// chainText says that no emergency site can step in for a pool, and of each why.
func (m *Machine) chainText(p *pool) string {
	if len(p.site.chain) == 0 {
		return "no emergency site can step in"
	}
	var list []string
	for _, x := range p.site.chain {
		t := "its emergency site " + x.Name + " cannot step in"
		var why []string
		if q := p.stand(x); q != nil {
			for _, n := range q.nodes {
				if !n.Replaced {
					why = append(why, x.Name+"/"+n.Name+" "+n.outText())
				}
			}
		}
		if len(why) > 0 {
			t += " (" + strings.Join(why, ", ") + ")"
		}
		list = append(list, t)
	}
	return strings.Join(list, ", ")
}

// outText says in a few words why a node does not serve.
func (n *node) outText() string {
	switch {
	case n.disabled():
		return "is disabled"
	case n.maintained():
		return "is in maintenance"
	case n.Drill != nil:
		return "is in a drill"
	case !n.answers():
		return "does not answer"
	case n.word() == WordRecovering:
		return "has not yet come back"
	default:
		return "does not serve"
	}
}
