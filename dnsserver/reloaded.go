package dnsserver

// compare begins the diffs of the zones that are transferred. It is the part
// that takes long for large zones, and that answers do not wait for.
func (c *Change) compare() {
	c.diffs = map[string]*diff{}
	old := c.server.snap.Load()
	if old == nil {
		return
	}
	for wire, z := range c.snap.zones {
		c.diffs[wire] = diffOf(old, old.zones[wire], c.snap, z)
	}
}

// settle completes the diffs, once the pools have the answers that they begin
// with. A zone of which secondaries get something else has moved, also where only
// a TTL of quiet times or the site is another. It is called under Server.mu.
func (c *Change) settle(moved map[*zone]bool) {
	for wire, z := range c.snap.zones {
		h, d := c.server.changes[wire], c.diffs[wire]
		if h == nil || d == nil {
			continue
		}
		if h.site != z.transfer.name {
			moved[z] = true
			continue
		}
		next := c.snap.viewOf(z)
		if !h.view.ready || !next.ready {
			continue
		}
		d.hostsChanged(c.server.snap.Load().zones[wire].hostsOf(h.view), z.hostsOf(next))
		if !d.empty() {
			moved[z] = true
		}
	}
}

// remember takes the diffs in, once the zones have their serials. It is called
// under Server.mu.
func (c *Change) remember() {
	s := c.server
	old, changes := s.snap.Load(), map[string]*history{}
	for wire, z := range c.snap.zones {
		if z.transfer == nil {
			continue
		}
		next, h, d := c.snap.viewOf(z), s.changes[wire], c.diffs[wire]
		if h == nil || d == nil || h.site != z.transfer.name {
			changes[wire] = &history{site: z.transfer.name, view: next}
			continue
		}
		changes[wire] = h
		before := old.zones[wire]
		d.from, d.to = before.serial.Load(), z.serial.Load()
		if d.from == d.to {
			h.view = next // other bodies, perhaps, with the same records
			continue
		}
		d.oldSOA, d.newSOA = before.soaAt(d.from), z.soaAt(d.to)
		h.add(d, next)
	}
	s.changes = changes
	s.notify.ring()
}
