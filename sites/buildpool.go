package sites

import "slices"

// buildPool gives a pool of the configuration. at are the site's nodes by their
// index, old is the pool of the same name, if any.
func (m *Machine) buildPool(s *site, i int, at [][]*node, old *pool) *pool {
	c := &s.cfg.Pools[i]
	p := &pool{SavedPool: SavedPool{Name: c.Name, Since: m.now.Wall}, activeSince: m.now.Boot}
	if old != nil {
		*p = pool{
			SavedPool: old.SavedPool, activeSince: old.activeSince, said: old.said, stoodIn: old.stoodIn,
			wait: old.wait,
		}
	}
	p.cfg, p.site, p.index = c, s, i
	for _, x := range c.Nodes {
		for _, n := range at[x] {
			p.nodes = append(p.nodes, n)
			n.in = append(n.in, p)
		}
	}
	p.follow()
	if c.Mode == ActiveActive {
		p.Active, p.said.active = "", ""
	}
	return p
}

// follow has the members of a pool go on with the incarnations that have their
// addresses: those of a node that is given another are its former one's now (A7).
func (p *pool) follow() {
	p.Members = slices.Clone(p.Members)
	for i := range p.Members {
		x := &p.Members[i]
		for _, n := range p.nodes {
			if n.Name == x.Node && n.was != nil && n.was.Replaced == x.Replaced {
				x.Replaced = n.Replaced
				break
			}
		}
	}
}
