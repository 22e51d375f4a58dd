package sites

import (
	"fmt"
	"time"
)

// never is before every time.
const never time.Duration = -1 << 62

// lost remembers since when a site is down, for those that do not hold for ever
// (N5).
func (m *Machine) lost(s *site, since time.Duration) {
	s.lostAt, s.downAt, s.lineFault = since, m.now.Boot, false
	for _, x := range m.sites {
		if x == s || x.lostAt == never {
			continue
		}
		if apart := (x.lostAt - s.lostAt).Abs(); apart <= max(s.cfg.Threshold, x.cfg.Threshold) {
			s.lineFault, x.lineFault = true, true
		}
	}
}

// sitesDown lets the emergency site step in for a site that alone has been down
// long enough, while another site's witness has answered throughout (N5). It
// gives when to look again; 0 for never.
func (m *Machine) sitesDown() (again time.Duration) {
	look := func(at time.Duration) {
		if again == 0 || at < again {
			again = at
		}
	}
	for _, s := range m.sites {
		if s.Condition != SiteIsDown || s.cfg.FailoverAfter == 0 || s.Down == 0 || !s.settled {
			continue
		}
		proof, since := m.provenThroughout(s)
		switch due := since + s.cfg.FailoverAfter; {
		case proof == "":
			look(m.now.Boot + time.Second)
		case m.now.Boot < due:
			look(due)
		default:
			m.failOver(s, proof)
			look(m.now.Boot + time.Second)
		}
	}
	return again
}

// provenThroughout names another site whose witness answers, and gives since
// when it has while the site alone was down; "" if there is none, if another
// site is down as well, or was lost at the same time: then the line is at
// fault.
func (m *Machine) provenThroughout(s *site) (name string, since time.Duration) {
	if s.lineFault || m.Isolated != 0 {
		return "", 0
	}
	alone := s.downAt
	for _, x := range m.sites {
		if x == s {
			continue
		}
		if x.Condition == SiteIsDown {
			return "", 0
		}
		alone = max(alone, x.seenAt)
	}
	for _, x := range m.sites {
		if x == s || x.cfg.Local || x.cfg.NoWitness || !x.settled || !x.proves(m.now.Boot) {
			continue
		}
		if from := max(alone, x.answersFrom); name == "" || from < since {
			name, since = x.Name, from
		}
	}
	return name, since
}

// proves says whether a witness of the site has answered just now: what was not
// found out, or not asked, proves nothing (O1).
func (s *site) proves(now time.Duration) bool {
	if s.Condition != SiteIsUp {
		return false
	}
	for _, w := range s.witnesses {
		if w.recent == Up && now < w.staleAt() {
			return true
		}
	}
	if !s.cfg.WitnessNodes {
		return false
	}
	for _, n := range s.nodes {
		for _, l := range n.lines {
			if l != nil && !n.disabled() && l.truly().answers() {
				return true
			}
		}
	}
	return false
}

// failOver takes the nodes of a site that cannot be seen out of DNS, where its
// emergency site steps in then. They come back as after any outage: one by one,
// after their grace (A6).
func (m *Machine) failOver(s *site, proof string) {
	for _, p := range s.pools {
		if p.Source != Own || p.braked(m) || !p.movable() || m.emergency(p) == nil {
			continue
		}
		if p.Paused != nil {
			if !p.due {
				p.due = true
				m.changed(s)
			}
			continue
		}
		for _, n := range p.nodes {
			m.abandon(n, proof)
		}
	}
}

// refuteNew has the new nodes of a site wait for their first answer while its
// emergency site stands in for it because it is down, as failOver does with those
// that were there then.
func (m *Machine) refuteNew(s *site) {
	if !s.FailedOver {
		return
	}
	for _, p := range s.pools {
		if p.Source != Emergency {
			continue
		}
		for _, n := range p.nodes {
			for _, l := range n.lines {
				if l != nil && l.Word == WordPending && !l.Refuted {
					l.Refuted = true
					m.changed(s)
				}
			}
		}
	}
}

// movable says whether the pool would have no node left that serves if outages
// took all that they may take (N9, N13).
func (p *pool) movable() bool {
	for _, n := range p.nodes {
		if n.taken() {
			continue
		}
		if n.unjudged() || !n.cfg.Failover {
			return false
		}
	}
	return true
}

// abandon takes a node out whose site cannot be seen. One that waits for its
// first answer, or for that after an operator's hold, goes on waiting for it.
func (m *Machine) abandon(n *node, proof string) {
	s := n.site
	if n.taken() {
		return
	}
	m.endDrill(n, "all of "+s.Name+" is down", Event{})
	for _, l := range n.lines {
		switch {
		case l == nil:
		case l.Word == WordPending && !l.Refuted:
			l.Refuted = true
			m.changed(s)
		case l.Word == WordUp || l.Word == WordFailing:
			first := n.wholly()
			l.stopFailing()
			l.enter(m, WordOut)
			if l.last == Up {
				l.last, l.row = None, 0 // what it answered before proves no return (O4)
			}
			l.forced, n.Entitled = false, false
			if l.Outage == 0 {
				l.Outage = m.node(n, Event{Kind: FailoverOutage, Text: fmt.Sprintf(
					"%s was taken out of DNS: all of %s has been down for %s, while %s answers throughout (on_site_down: failover_after %s).",
					l.name(), s.Name, dur(m.now.Boot-s.lostAt), proof, dur(s.cfg.FailoverAfter))})
			}
			if first {
				m.countOutage(n)
			}
			s.FailedOver = true
		}
	}
}
