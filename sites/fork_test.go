package sites

import (
	"maps"
	"slices"
)

// fork gives a machine that does what m would do, and leaves m as it is. m has
// made a step, and is not in one.
func (m *Machine) fork() *Machine {
	c := *m
	c.Starts = slices.Clone(m.Starts)
	c.fx = Effects{Subjects: m.fx.Subjects, StoredGlobal: m.fx.StoredGlobal}
	c.nodeEvents, c.poolEvents, c.failures, c.leaving, c.dirtySites = nil, nil, nil, nil, nil
	f := forking{sites: map[*site]*site{}, nodes: map[*node]*node{}, pools: map[*pool]*pool{}, records: map[*record]*record{}, lines: map[*line]*line{}}
	c.sites = nil
	for _, s := range m.sites {
		c.sites = append(c.sites, f.site(s))
	}
	c.byName = map[string]*site{}
	for _, s := range c.sites {
		s.chain, s.dependents = f.several(s.chain), f.several(s.dependents)
		c.byName[s.Name] = s
	}
	c.calendar = f.several(m.calendar)
	c.subjects = make(map[Subject]*subject, len(m.subjects))
	for k, s := range m.subjects {
		c.subjects[k] = &subject{record: f.records[s.record], site: f.sites[s.site], line: f.lines[s.line], twin: f.lines[s.twin]}
	}
	return &c
}

// forking has what was copied, by what it was copied from.
type forking struct {
	sites   map[*site]*site
	nodes   map[*node]*node
	pools   map[*pool]*pool
	records map[*record]*record
	lines   map[*line]*line
}

func (f *forking) several(list []*site) (out []*site) {
	for _, s := range list {
		out = append(out, f.sites[s])
	}
	return out
}

func (f *forking) site(s *site) *site {
	c := *s
	f.sites[s] = &c
	c.nodes, c.pools, c.witnesses = nil, nil, nil
	c.windows = slices.Clone(s.windows)
	for _, n := range s.nodes {
		c.nodes = append(c.nodes, f.node(n, &c))
	}
	for _, p := range s.pools {
		c.pools = append(c.pools, f.pool(p, &c))
	}
	for i, n := range s.nodes {
		k := c.nodes[i]
		k.in, k.heir, k.former = nil, f.nodes[n.heir], f.nodes[n.former]
		for _, p := range n.in {
			k.in = append(k.in, f.pools[p])
		}
	}
	for _, w := range s.witnesses {
		k := *w
		c.witnesses = append(c.witnesses, &k)
		f.records[&w.record] = &k.record
	}
	return &c
}

func (f *forking) node(n *node, s *site) *node {
	c := *n
	f.nodes[n] = &c
	c.site = s
	c.Maintenance, c.Disabled, c.Window, c.Drill = again(n.Maintenance), again(n.Disabled), again(n.Window), again(n.Drill)
	c.Outages = slices.Clone(n.Outages)
	for i, l := range n.lines {
		if l == nil {
			continue
		}
		k := *l
		k.node, k.checks, k.Probes = &c, slices.Clone(l.checks), maps.Clone(l.Probes)
		c.lines[i], f.lines[l], f.records[&l.record] = &k, &k, &k.record
	}
	return &c
}

func (f *forking) pool(p *pool, s *site) *pool {
	c := *p
	f.pools[p] = &c
	c.site, c.nodes, c.spare = s, nil, nil
	c.Members, c.Paused, c.PutOff = slices.Clone(p.Members), again(p.Paused), again(p.PutOff)
	for _, n := range p.nodes {
		c.nodes = append(c.nodes, f.nodes[n])
	}
	return &c
}

func again[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
