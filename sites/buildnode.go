package sites

import (
	"cmp"
	"maps"
	"slices"
)

// buildNodes gives a node of the configuration, and behind it, when its
// addresses have changed, the incarnation that goes on until the new one is up
// (A7). old are those of its name.
func (m *Machine) buildNodes(s *site, i int, old []*node) []*node {
	c := &s.cfg.Nodes[i]
	var same, current, former *node
	for _, o := range old {
		if slices.Equal(o.Addresses, c.Addresses) {
			same = o
		}
		if o.Replaced {
			former = o
		} else {
			current = o
		}
	}
	n := &node{SavedNode: SavedNode{Name: c.Name}, cfg: c, site: s, index: i, was: same}
	if current != nil {
		n.Maintenance, n.Disabled, n.Window = current.Maintenance, current.Disabled, current.Window
		n.WindowSkip, n.WindowEnded = current.WindowSkip, current.WindowEnded
	}
	if same != nil {
		n.remember(same)
	}
	m.buildLines(n, same)
	switch {
	case same == nil && former == nil:
		former = current
	case same == former:
		former = nil // the old addresses are the node's again
	}
	if former == nil || n.taken() || former.measured() == WordPending {
		return []*node{n}
	}
	oldCfg := *c
	oldCfg.Addresses, oldCfg.Secondary = former.Addresses, former.Secondary
	g := &node{
		SavedNode: SavedNode{Name: c.Name, Replaced: true, WindowSkip: n.WindowSkip},
		cfg:       &oldCfg, site: s, index: i, heir: n, was: former,
	}
	g.remember(former)
	n.former = g
	m.buildLines(g, former)
	return []*node{n, g}
}

// remember takes what the same addresses have of their own.
func (n *node) remember(old *node) {
	n.Entitled, n.Drill, n.Outages, n.load = old.Entitled, old.Drill, old.Outages, old.load
	if n.cfg.Quarantine.Outages > 0 {
		n.Quarantine = old.Quarantine
	}
}

// buildLines gives a node its lines: the families in which the site has a
// witness (N13), with the state that the same address had.
func (m *Machine) buildLines(n *node, old *node) {
	c, s := n.cfg, n.site.cfg
	n.Addresses, n.Secondary = c.Addresses, c.Secondary
	for f := range Family(families) {
		addr, ok := c.first(f)
		if !ok || !s.Judges(n.index, f) {
			continue
		}
		l := &line{SavedLine: SavedLine{Word: WordPending, Since: m.now.Wall}, node: n, family: f}
		l.awaited = m.now.Boot
		if old != nil {
			inherit(l, old, f)
		}
		l.subject = Subject{Site: s.Name, Node: c.Name, Addr: addr}
		l.interval, l.timeout = c.Interval, c.Timeout
		m.buildChecks(l, l.checks)
		if !c.Failover {
			l.unmoved(m)
		}
		if n.taken() && l.Word != WordReturning {
			l.Word = WordReturning
		}
		n.lines[f] = l
	}
}

// inherit gives a line what the same line of the node was. A family that was
// not judged before goes on as the one that was (N13).
func inherit(l *line, old *node, f Family) {
	if o := old.lines[f]; o != nil {
		node := l.node
		*l = *o
		l.node, l.family = node, f
		return
	}
	if o := old.lines[1-f]; o != nil {
		l.Word, l.Since = o.Word, o.Since
		if o.Word == WordFailing {
			l.Word = WordUp
		}
		return
	}
	if len(old.Addresses) > 0 {
		l.Word = WordUp // it was answered without being judged
	}
}

// unmoved makes an outage that has taken the line out one that moves nothing, where
// the configuration has it so now (N9).
func (l *line) unmoved(m *Machine) {
	switch l.Word {
	case WordOut:
		l.Word, l.Since = WordFailing, m.now.Wall
		if !l.failing {
			l.startFailing(cmp.Or(l.failStart, m.now.Boot))
		}
	case WordRecovering:
		l.Word, l.Since = WordUp, m.now.Wall
		l.recoverStart, l.lapsed, l.doubted = 0, false, false
	default:
	}
	l.Outage = 0
}

// buildChecks follows each probe by its key: one whose definition has changed
// is a new one, and a result of those before that is still to come counts no
// more (O2).
func (m *Machine) buildChecks(l *line, old []checkClock) {
	probes := make(map[string]SavedProbe, len(l.node.cfg.Probes))
	checks := make([]checkClock, len(l.node.cfg.Probes))
	if !slices.EqualFunc(old, l.node.cfg.Probes, func(c checkClock, p Probe) bool { return c.key == p.Key }) {
		l.notBefore = m.now.Boot
	}
	for i, p := range l.node.cfg.Probes {
		if mem, known := l.Probes[p.Key]; known {
			probes[p.Key] = mem
		}
		for j := range old {
			if old[j].key == p.Key {
				checks[i] = old[j]
			}
		}
		checks[i].key = p.Key
	}
	if old != nil && !slices.EqualFunc(old, checks, func(a, b checkClock) bool { return a.key == b.key }) {
		l.notBefore = m.now.Boot
	}
	l.Probes, l.checks = probes, checks
}

// Judges says whether the line of a node in the family is judged: the site has
// a witness in it (N13). Where nodes are witnesses that takes another node.
func (s *Site) Judges(node int, f Family) bool {
	if s.NoWitness {
		return true
	}
	if slices.ContainsFunc(s.Witnesses, func(w Witness) bool { return FamilyOf(w.Addr) == f }) {
		return true
	}
	if !s.WitnessNodes {
		return false
	}
	for i := range s.Nodes {
		if _, has := s.Nodes[i].first(f); has && i != node {
			return true
		}
	}
	return false
}

// Saved gives what must survive a restart of one site. It shares nothing with
// the machine.
func (m *Machine) Saved(i int) SavedSite {
	s := m.sites[i]
	out := s.SavedSite
	out.Nodes, out.Pools = nil, nil
	for _, n := range s.nodes {
		x := n.SavedNode
		x.Addresses, x.Secondary = slices.Clone(x.Addresses), slices.Clone(x.Secondary)
		x.Maintenance, x.Disabled, x.Window = copied(x.Maintenance), copied(x.Disabled), copied(x.Window)
		x.Drill, x.Outages = copied(x.Drill), slices.Clone(x.Outages)
		x.Lines = [families]*SavedLine{}
		for f, l := range n.lines {
			if l == nil {
				continue
			}
			saved := l.SavedLine
			saved.Probes = make(map[string]SavedProbe, len(l.Probes))
			maps.Copy(saved.Probes, l.Probes)
			x.Lines[f] = &saved
		}
		out.Nodes = append(out.Nodes, x)
	}
	for _, p := range s.pools {
		x := p.SavedPool
		x.Members, x.Paused = slices.Clone(x.Members), copied(x.Paused)
		if x.PutOff != nil {
			h := *x.PutOff
			x.PutOff = &h
		}
		out.Pools = append(out.Pools, x)
	}
	return out
}

// Global gives what must survive a restart and belongs to no site.
func (m *Machine) Global() SavedGlobal {
	g := m.SavedGlobal
	g.Starts = slices.Clone(g.Starts)
	return g
}

func copied(h *Hold) *Hold {
	if h == nil {
		return nil
	}
	c := *h
	return &c
}
