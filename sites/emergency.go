package sites

import (
	"slices"
	"time"
)

// emergency gives the site that steps in for a pool; nil if none can (A4).
func (m *Machine) emergency(p *pool) *site {
	if x := m.byName[p.From]; p.Source == Emergency && slices.Contains(p.site.chain, x) {
		switch {
		case p.frozen(m) && len(p.stand(x).Members) > 0:
			return x // paused, or not yet seen since the start: who serves goes on
		case x.Condition == SiteIsDown && p.canServe(x):
			return x // it goes on while it cannot be seen
		}
	}
	for _, inSight := range [...]bool{true, false} {
		for _, x := range p.site.chain {
			if (x.Condition != SiteIsDown) == inSight && p.canServe(x) {
				return x
			}
		}
	}
	return nil
}

// stand gives the pool of another site that stands in for p: that of the same
// name, or its default pool.
func (p *pool) stand(x *site) *pool {
	for _, q := range x.pools {
		if q.Name == p.Name {
			return q
		}
	}
	if len(x.pools) > 0 {
		return x.pools[0]
	}
	return nil
}

// canServe says whether a site's nodes serve the pool that stands in for p.
func (p *pool) canServe(x *site) bool {
	q := p.stand(x)
	return q != nil && q.Source == Own
}

// waive lets the recovering nodes of a pool that has lost its last serving node
// come back at once (A3).
func (m *Machine) waive(s *site) {
	if !s.settled {
		return
	}
	for _, p := range s.pools {
		if p.Paused != nil || !p.lost(m, m.now.Boot) {
			continue
		}
		m.spare(p)
		if p.Source == Emergency && m.emergency(p) != nil {
			continue // they wait for their grace (A6)
		}
		for _, n := range p.nodes {
			if n.taken() || n.allPaused() {
				continue
			}
			for _, l := range n.lines {
				if l != nil && l.Word == WordRecovering && l.answers() {
					m.back(l, "waived")
				}
			}
		}
	}
}

// lost says whether no node of the pool serves, or all that do have failed
// beyond their deadlines and are held, by a witness that does not answer or by
// the brake (A3).
func (p *pool) lost(m *Machine, now time.Duration) bool {
	for _, n := range p.nodes {
		in := n.serves()
		if in == [families]bool{} {
			if n.may() != in {
				return false
			}
			continue
		}
		for f, serves := range in {
			if !serves {
				continue
			}
			l := n.lineFor(Family(f))
			if l == nil || !l.judged() || l.Word != WordFailing || !l.blind && !p.braked(m) || !l.overdue(now) {
				return false
			}
		}
	}
	return true
}

// report tells of what has changed in a pool (the events of A2, A4, A5).
func (m *Machine) report(p *pool) {
	was, is := p.said, p.spoken()
	if was == is {
		return
	}
	p.said = is
	if was.source == Empty && !is.source.nothing() {
		return // the first answer is no change
	}
	if is.source.nothing() && !was.source.nothing() {
		p.Outage = m.poolEvent(p, Event{Kind: PoolOutageStarted, Text: m.poolOutageText(p)})
		m.changed(p.site)
		return
	}
	if was.source.nothing() && !is.source.nothing() {
		m.poolEvent(p, Event{Kind: PoolOutageResolved, Resolves: p.Outage, Text: m.poolResolvedText(p)})
		p.Outage = 0
		m.changed(p.site)
	}
	drill := m.byDrill(p, was, is)
	p.stoodIn = ""
	if drill && was.from == is.from && is.source == Own {
		p.stoodIn = was.active
	}
	passive := p.cfg.Mode == ActivePassive && is.source == Own && was.active != "" && was.active != is.active
	if passive || was.from != is.from {
		m.poolEvent(p, Event{Kind: FailoverSwitch, Drill: drill, Text: m.switchText(p, was)})
	}
}
