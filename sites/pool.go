package sites

import (
	"slices"
	"time"
)

// pool is a pool at run time.
type pool struct {
	SavedPool
	cfg   *Pool
	site  *site
	index int
	nodes []*node // in order, replaced ones behind those that replace them
	// activeSince is when the active node took over (A2).
	activeSince time.Duration
	// said is what the last event told of.
	said spoken
	// stoodIn is the node that a drill has moved the pool away from.
	stoodIn string
	// spare is room to work out an answer in: most are the one that stands.
	spare []Member
	// hint is where in Members the next node is likely to be found, found where in
	// nodes the next member is.
	hint, found int
	// touched is the Step that has named the pool last.
	touched uint64
	// due: its site has been down for so long that it would move, were it not
	// paused (N5).
	due  bool
	wait // of a move that the guard puts off
}

// spoken is what events about a pool compare.
type spoken struct {
	source Source
	from   string
	active string
}

func (p *pool) spoken() spoken { return spoken{p.Source, p.From, p.Active} }

// frozen says whether nothing of the pool moves by itself: it is paused (C3),
// held by the brake (A10), or the site has not been seen since the start (S2).
func (p *pool) frozen(m *Machine) bool {
	return p.Source != Empty && (p.Paused != nil || !p.site.settled || p.braked(m))
}

// find gives the incarnation of a node in the pool.
func (p *pool) find(name string, replaced bool) *node {
	// As in had, most are asked for in their order.
	for k := range p.nodes {
		i := (p.found + k) % len(p.nodes)
		if n := p.nodes[i]; n.Name == name && n.Replaced == replaced {
			p.found = i + 1
			return n
		}
	}
	return nil
}

// active gives the active node: the incarnation that serves, if any does.
func (p *pool) active() *node {
	n := p.find(p.Active, false)
	if old := p.find(p.Active, true); old != nil && (n == nil || !n.serving()) {
		return old
	}
	return n
}

// decide brings the pools of the changed sites, and of those that depend on
// them, up to date, and tells of what has changed.
func (m *Machine) decide() {
	m.redecided = 0
	for i := 0; i < len(m.dirtySites); i++ { //nolint:intrange // it grows meanwhile
		m.decideSite(m.dirtySites[i], i)
	}
	for _, s := range m.inOrder() {
		for _, p := range s.pools {
			m.touch(p)
			m.report(p)
			m.judgeHeld(p)
			m.judgePutOff(p)
		}
		for _, d := range s.dependents {
			for _, p := range d.pools {
				if p.From == s.Name {
					m.touch(p)
				}
			}
		}
	}
}

// touch names a pool whose answer may be another than before, once in a Step.
func (m *Machine) touch(p *pool) {
	if p.touched != m.steps {
		p.touched = m.steps
		m.fx.Touched = append(m.fx.Touched, PoolID{p.site.index, p.index})
	}
}

// maxRedecided bounds how often a site is decided again in one Step, on average.
const maxRedecided = 16

// decideSite decides the pools of one site; sites that depend on it are decided
// after it, again if need be: also one that is being decided itself, for sites stand
// in for each other in circles. at is how far the changed sites have come. It ends,
// for whoever gets nodes of its own to answer with keeps them in this Step; should
// that be wrong, a bound ends it.
func (m *Machine) decideSite(s *site, at int) {
	own := false
	m.waive(s)
	for _, p := range s.pools {
		was, members := p.Source == Own, p.Members
		m.decidePool(p)
		if was != (p.Source == Own) || !slices.Equal(members, p.Members) {
			own = true
		}
	}
	if !own {
		return
	}
	for _, d := range s.dependents {
		if i := slices.Index(m.dirtySites, d); i < 0 || i > at {
			m.dirty(d)
		} else if m.redecided++; m.redecided <= maxRedecided*len(m.sites) {
			m.decideSite(d, at)
		}
	}
}

// decidePool gives the pool its answer (A1 to A5).
func (m *Machine) decidePool(p *pool) {
	before := p.SavedPool
	p.waiting = false
	if members, active := m.own(p); len(members) > 0 && !m.awaitReturn(p) {
		if p.Active != active {
			p.Active, p.activeSince = active, m.now.Boot
		}
		p.Source, p.From, p.Members, p.spare = Own, "", keep(p.Members, members), members
	} else if x := m.emergency(p); x != nil && (!p.Source.nothing() || !p.frozen(m)) {
		p.Source, p.From, p.Members = Emergency, x.Name, nil
	} else {
		m.lastResort(p)
	}
	if before.Source != p.Source || before.From != p.From || before.Active != p.Active || !slices.Equal(before.Members, p.Members) {
		p.Since = m.now.Wall
		m.changed(p.site)
	}
}

// keep gives the old slice when the new one says the same, else a copy.
func keep(old, members []Member) []Member {
	if slices.Equal(old, members) {
		return old
	}
	return slices.Clone(members)
}

// own gives what the pool's own nodes answer; nothing if they cannot.
func (m *Machine) own(p *pool) (members []Member, active string) {
	if p.frozen(m) {
		if p.Source != Own && !p.entitled() {
			return nil, p.Active
		}
		if members = p.held(); len(members) > 0 && p.cfg.Mode == ActiveActive {
			return members, p.Active
		}
	}
	if p.cfg.Mode == ActiveActive {
		return p.every(p.Source == Emergency && m.emergency(p) != nil), ""
	}
	n, in := m.choose(p)
	if n == nil {
		return nil, p.Active
	}
	return append(p.spare[:0], n.member(in)), n.Name
}

// every gives the serving nodes of a pool, without those that fail and are not
// answered yet, as long as there are others (N12); or, where there is none,
// those whose first result is not in (A1, N10). Who is served elsewhere comes back to
// none that does not answer (N12), or has not been asked yet.
func (p *pool) every(elsewhere bool) []Member {
	members := p.spare[:0]
	for i, which := range [...]func(*node) [families]bool{p.admits, (*node).serves, (*node).may} {
		if i > 0 && elsewhere {
			return nil
		}
		for _, n := range p.nodes {
			if in := which(n); in != [families]bool{} {
				members = append(members, n.member(in))
			}
		}
		if len(members) > 0 {
			return members
		}
	}
	return nil
}

// admits says in which families a serving node is answered: where it was
// already, where its last probe came back up, and where an operator has forced
// it or outages do not move it (N12, N9).
func (p *pool) admits(n *node) [families]bool {
	in := n.serves()
	if p.Source == Empty {
		return in
	}
	had := p.had(n)
	for f := range in {
		if l := n.lineFor(Family(f)); l != nil && l.judged() && !l.answers() && !l.forced && !had[f] {
			in[f] = false
		}
	}
	return in
}

// had says in which families the node is answered already. (By a reload it may
// have no address in one of them any more.)
func (p *pool) had(n *node) (in [families]bool) {
	// Nodes are mostly asked for in the order of the members: where the last
	// one was found, the next is not far.
	for k := range p.Members {
		i := (p.hint + k) % len(p.Members)
		x := &p.Members[i]
		if x.Node != n.Name || x.Replaced != n.Replaced {
			continue
		}
		p.hint = i + 1
		for f := range in {
			in[f] = x.In[f] && n.gives(Family(f))
		}
		return in
	}
	return in
}

// held gives the members of a pool that does not move by itself: those that it
// has, without what an operator or the configuration has taken away, and with
// what an operator has put back (C3). What a last resort answers does not serve.
func (p *pool) held() []Member {
	members := p.spare[:0]
	for _, n := range p.nodes {
		if n.taken() {
			continue
		}
		if in := p.had(n); p.Source == Own && in != [families]bool{} {
			members = append(members, n.member(in))
		} else if in := p.admits(n); n.Entitled && in != [families]bool{} {
			members = append(members, n.member(in))
		}
	}
	return members
}

// entitled says whether an operator has put a node of the pool back that answers.
func (p *pool) entitled() bool {
	for _, n := range p.nodes {
		if n.Entitled && p.admits(n) != [families]bool{} {
			return true
		}
	}
	return false
}

// lastResort: nothing is left (A5).
func (m *Machine) lastResort(p *pool) {
	if len(p.nodes) == 0 {
		return
	}
	switch p.cfg.OnEmpty {
	case OnEmptyRemove:
		p.Source, p.From, p.Members = Removed, "", nil
		return
	case OnEmptyAnswer:
		p.Source, p.From, p.Members = LastResort, "", nil
		return
	case OnEmptyKeep:
	}
	p.Source = LastResort
	if m.byName[p.From] == nil {
		p.From = ""
	}
	left := p.left(func(n *node) bool { return !n.taken() })
	if len(left) == 0 {
		// With every node taken by an operator the last answer stays, be it
		// that of an emergency site, as long as there is one.
		if a := m.Answer(PoolID{p.site.index, p.index}); len(a.IPv4)+len(a.IPv6) > 0 {
			return
		}
		left = p.left(func(*node) bool { return true })
	}
	p.From, p.Members = "", keep(p.Members, left)
}

// left gives what a last resort answers of the nodes that are asked for: all,
// or in active_passive the one active last, else the first.
func (p *pool) left(which func(*node) bool) (all []Member) {
	for _, n := range p.nodes {
		if in := ([families]bool{n.gives(IPv4), n.gives(IPv6)}); which(n) && in != ([families]bool{}) {
			if p.cfg.Mode == ActivePassive && n.Name == p.Active {
				return []Member{n.member(in)}
			}
			all = append(all, n.member(in))
		}
	}
	if p.cfg.Mode == ActivePassive && len(all) > 1 {
		all = all[:1]
	}
	return all
}
