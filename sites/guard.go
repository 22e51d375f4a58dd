package sites

import "time"

// wait is what a pool keeps of a move that the guard puts off (A11).
type wait struct {
	// waiting: it is put off, to the node waitsFor, as decided last.
	waiting  bool
	waitsFor string
	// It is put off since putOffSince; what is carried is little since calmSince.
	putOffSince, calmSince time.Duration
	calm                   bool
	// freed is the Step in which the operator had the move made.
	freed uint64
}

// putOff says whether the guard puts off a planned move of the pool away from
// the nodes that serve it now (A11): while one of them carries too much, or
// nobody knows what, and until they have been quiet for long enough. It does not
// where the time that it may take is over, where the operator has said so in
// this Step, and where those nodes do not answer. to names the node that is to
// take over; "" for the pool's own nodes in the place of an emergency site.
func (m *Machine) putOff(p *pool, losers []*node, to string) bool {
	g, now := &p.cfg.Guard, m.now.Boot
	if g.AtMost == 0 || p.freed == m.steps || !answering(losers, now) {
		return false
	}
	if p.PutOff != nil && now >= p.putOffSince+g.AtMost {
		return false
	}
	switch busy, _ := g.busy(losers, now); {
	case busy:
		p.calm = false
	case !p.calm:
		p.calm, p.calmSince = true, now
	}
	if p.calm && now >= p.calmSince+g.Quiet {
		return false
	}
	p.waiting, p.waitsFor = true, to
	return true
}

// answering says whether a node is left of those that have not failed for their
// whole threshold, be their line seen or not: what they may still carry is no
// reason to wait then.
func answering(nodes []*node, now time.Duration) bool {
	for _, n := range nodes {
		failed := false
		for _, l := range n.lines {
			failed = failed || l != nil && l.failing && now >= l.failStart+n.cfg.Threshold
		}
		if !failed {
			return true
		}
	}
	return false
}

// busy says whether one of the nodes carries too much, or nobody knows what,
// and which is the first.
func (g *Guard) busy(nodes []*node, now time.Duration) (bool, *node) {
	for _, n := range nodes {
		if b := n.figures(now).BytesPerSecond; b == nil || *b >= g.BytesPerSecond {
			return true, n
		}
	}
	return false, nil
}

// losers are the nodes that serve the pool now and would lose its traffic.
func (m *Machine) losers(p *pool) (list []*node) {
	from := p
	if p.Source == Emergency {
		if x := m.byName[p.From]; x != nil {
			from = p.stand(x)
		}
	}
	if from == nil {
		return nil
	}
	for _, x := range from.Members {
		if n := from.find(x.Node, x.Replaced); n != nil {
			list = append(list, n)
		}
	}
	return list
}

// awaitReturn says whether the way back from an emergency site is put off: it
// serves and is seen, and the pool's own nodes could serve again (A6, A11).
func (m *Machine) awaitReturn(p *pool) bool {
	if p.Source != Emergency || p.cfg.Guard.AtMost == 0 {
		return false
	}
	x := m.byName[p.From]
	if x == nil || x.Condition == SiteIsDown || !p.canServe(x) || m.emergency(p) != x {
		return false
	}
	return m.putOff(p, m.losers(p), "")
}

// judgePutOff tells once of a move that the guard puts off, and of its end
// (A11). A site that has not been seen since the start says nothing yet (S2).
func (m *Machine) judgePutOff(p *pool) {
	switch h := p.PutOff; {
	case !p.site.settled:
	case p.waiting && (h == nil || h.To != p.waitsFor):
		if h != nil {
			m.endPutOff(p)
		}
		p.putOffSince = m.now.Boot
		p.PutOff = &PutOff{To: p.waitsFor, Since: m.now.Wall}
		p.PutOff.Event = m.poolEvent(p, Event{Kind: MovePutOff, Text: m.putOffText(p)})
		m.changed(p.site)
	case !p.waiting && h != nil:
		m.endPutOff(p)
	}
}

// endPutOff tells that nothing is put off any more.
func (m *Machine) endPutOff(p *pool) {
	h := p.PutOff
	m.poolEvent(p, Event{Kind: MovePutOffEnded, Resolves: h.Event, Text: m.putOffEndText(p)})
	p.PutOff, p.calm = nil, false
	m.changed(p.site)
}

// putOffTimes are when a move that is put off is to be looked at again: at the
// end of its time, of the quiet, of what is known, and of the threshold of a
// node that fails.
func (m *Machine) putOffTimes(p *pool, at func(time.Duration)) {
	if p.PutOff == nil {
		return
	}
	g := &p.cfg.Guard
	ends := []time.Duration{p.putOffSince + g.AtMost}
	if p.calm {
		ends = append(ends, p.calmSince+g.Quiet)
	}
	for _, t := range ends {
		at(t)
		for _, ttl := range p.site.horizons {
			at(t - ttl + 1)
		}
	}
	for _, n := range m.losers(p) {
		for _, l := range n.lines {
			if l == nil {
				continue
			}
			if l.failing {
				at(l.failStart + n.cfg.Threshold)
			}
			for i := range l.checks {
				if k := &l.checks[i]; k.figures != nil {
					at(k.measured + l.lasts())
				}
			}
		}
	}
}

// putOffNear is how far the move that is put off is away at least (A9).
func (p *pool) putOffNear(now time.Duration) time.Duration {
	if p.PutOff == nil {
		return Forever
	}
	near := p.putOffSince + p.cfg.Guard.AtMost - now
	if p.calm {
		near = min(near, p.calmSince+p.cfg.Guard.Quiet-now)
	}
	return max(0, near)
}

// resumePutOff goes on with a move that was put off before a restart: its time
// went on by the wall clock, as far as that can be right (O5, O6).
func (p *pool) resumePutOff(now Instant) {
	if p.PutOff == nil {
		return
	}
	p.putOffSince = now.Boot
	if past := now.Wall.Sub(p.PutOff.Since); past > 0 && !now.Suspect {
		p.putOffSince -= min(past, p.cfg.Guard.AtMost)
	}
}
