package sites

// choose gives the active node of an active_passive pool, and the families that
// it gives (A2).
func (m *Machine) choose(p *pool) (*node, [families]bool) {
	cur := p.active()
	if p.Source != Own {
		cur = nil
	}
	if cur != nil {
		if in := cur.serves(); in != [families]bool{} {
			if n := m.earlier(p, cur); n != nil {
				return n, n.serves()
			}
			return cur, in
		}
	}
	stays, in := p.stays(cur)
	if p.frozen(m) && stays != nil {
		return stays, in
	}
	var first *node
	for _, n := range p.nodes {
		if n.steady() {
			return n, n.serves()
		}
		if first == nil && n.serving() {
			first = n
		}
	}
	if first != nil {
		if stays != nil {
			return stays, in // nobody is switched to who fails
		}
		if p.shuns(cur, first) && m.emergency(p) != nil {
			return nil, [families]bool{} // better who answers elsewhere (A4)
		}
		return first, first.serves()
	}
	if p.Source == Emergency && m.emergency(p) != nil {
		return nil, [families]bool{} // it has something else than what is not known (N10)
	}
	return p.awaited(cur)
}

// shuns says whether a pool that leaves its active node, or is served elsewhere, had
// better be served by another site than by a node that fails, or, coming back, by one
// that does not answer (A2, N12).
func (p *pool) shuns(cur, n *node) bool {
	fails := n.cfg.Failover && n.measured() == WordFailing && !n.forced()
	if p.Source == Emergency {
		return fails || p.admits(n) == [families]bool{}
	}
	return fails && cur != nil && cur.taken()
}

// earlier gives the node in front of the active one that takes over again by
// itself, if there is one. After min_hold that is any that is up and may fail
// back by itself; with `failback: manual` only one that an operator has put
// back. None does while an operator has switched to the active one (C2), and while
// the guard puts that off (A11).
func (m *Machine) earlier(p *pool, cur *node) *node {
	if p.Paused != nil && p.Paused.Switch {
		return nil
	}
	for _, n := range p.nodes {
		switch {
		case n.Name == cur.Name:
			return nil
		case !n.steady() || !n.covers(cur) || !n.Entitled && (n.cfg.Failback != FailbackAuto || p.frozen(m)):
		case m.now.Boot < p.activeSince+p.cfg.MinHold:
			p.waiting, p.waitsFor = p.PutOff != nil, n.Name // min_hold began anew meanwhile (O5)
			return nil
		case m.putOff(p, []*node{cur}, n.Name):
			return nil
		default:
			return n
		}
	}
	return nil
}

// covers says whether the node serves in all families in which another does, as far as
// it has addresses in them: one that is back in a part of them is not up again (A2).
func (n *node) covers(other *node) bool {
	mine, others := n.serves(), other.serves()
	for f := range mine {
		if others[f] && !mine[f] && n.gives(Family(f)) {
			return false
		}
	}
	return true
}

// stays gives the active node with what it was last answered with, unless an
// operator or the configuration has taken it.
func (p *pool) stays(cur *node) (*node, [families]bool) {
	if cur == nil || cur.taken() {
		return nil, [families]bool{}
	}
	if in := p.had(cur); in != [families]bool{} {
		return cur, in
	}
	return nil, [families]bool{}
}

// awaited gives the first node whose first result is not in; the one that is
// answered stays if it is such a node (N10).
func (p *pool) awaited(cur *node) (*node, [families]bool) {
	if cur != nil {
		if in := cur.may(); in != [families]bool{} {
			return cur, in
		}
	}
	for _, n := range p.nodes {
		if in := n.may(); in != [families]bool{} {
			return n, in
		}
	}
	return nil, [families]bool{}
}
