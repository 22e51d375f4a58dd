package sites

import "fmt"

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
		serving, after, stepsIn := 0, 0, m.emergency(p) != nil
		for _, n := range p.nodes {
			if in := n.serves(); in != [families]bool{} || n.may() != in {
				serving++
				if !taken(n) {
					after++
				}
			}
			stepsIn = stepsIn || !taken(n) && n.canStepIn()
		}
		if serving > 0 && after == 0 && !stepsIn {
			name := "pool " + p.Name
			if p.Name == DefaultPool {
				name = "site"
			}
			return fmt.Sprintf("%s %s would have no node left that serves, no recovering node answers, and no emergency site can step in", name, s.Name)
		}
	}
	return ""
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
