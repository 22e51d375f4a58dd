package sites

// stamp completes an event and gives its ID.
func (m *Machine) stamp(e Event) Event {
	m.LastEvent++
	e.ID, e.Time = m.LastEvent, m.now.Wall
	if e.Severity != Critical {
		e.Severity = e.Kind.Severity()
	}
	return e
}

// event, node, site and poolEvent record an event about the controller, a node,
// a site, a pool, and give its ID.
func (m *Machine) event(e Event) uint64 {
	e = m.stamp(e)
	m.fx.Events = append(m.fx.Events, e)
	return e.ID
}

func (m *Machine) node(n *node, e Event) uint64 {
	e.Site, e.Node = n.site.Name, n.Name
	e = m.stamp(e)
	m.nodeEvents = append(m.nodeEvents, e)
	return e.ID
}

func (m *Machine) site(s *site, e Event) uint64 {
	e.Site = s.Name
	return m.event(e)
}

func (m *Machine) poolEvent(p *pool, e Event) uint64 {
	e.Site, e.Pool = p.site.Name, p.Name
	e = m.stamp(e)
	m.poolEvents = append(m.poolEvents, e)
	return e.ID
}
