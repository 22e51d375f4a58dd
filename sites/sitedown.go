package sites

import (
	"fmt"
	"time"
)

// lost remembers since when a site is down, for those that do not hold for ever
// (N5).
func (m *Machine) lost(s *site, since time.Duration) {
	s.lostAt, s.downAt, s.lineFault = since, m.now.Boot, false
	for _, x := range m.sites {
		if x == s || x.Condition != SiteIsDown {
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
	for _, s := range m.sites {
		if s.Condition != SiteIsDown || s.cfg.FailoverAfter == 0 || s.Down == 0 || s.FailedOver {
			continue
		}
		due := s.downAt + s.cfg.FailoverAfter
		if m.now.Boot >= due {
			if proof := m.provenThroughout(s); proof != "" && m.couldStepIn(s) {
				m.failOver(s, proof)
				continue
			}
			due = m.now.Boot + time.Second
		}
		if again == 0 || due < again {
			again = due
		}
	}
	return again
}

// provenThroughout names another site whose witness has answered since before
// the site was lost; "" if there is none, or another site is down as well, or
// was lost at the same time: then the line is at fault.
func (m *Machine) provenThroughout(s *site) (name string) {
	if s.lineFault || m.Isolated != 0 {
		return ""
	}
	for _, x := range m.sites {
		switch {
		case x == s:
		case x.Condition == SiteIsDown:
			return ""
		case x.cfg.Local || x.cfg.NoWitness || x.Condition != SiteIsUp || !x.settled || x.silentAt >= s.lostAt || name != "":
		default:
			name = x.Name
		}
	}
	return name
}

func (m *Machine) couldStepIn(s *site) bool {
	for _, p := range s.pools {
		if m.emergency(p) != nil {
			return true
		}
	}
	return false
}

// failOver takes every node of a site that cannot be seen out of DNS. They come
// back as after any outage: one by one, after their grace (A6).
func (m *Machine) failOver(s *site, proof string) {
	s.FailedOver = true
	m.changed(s)
	for _, n := range s.nodes {
		if n.taken() || !n.cfg.Failover {
			continue
		}
		for _, l := range n.lines {
			if l == nil || l.Word == WordOut {
				continue
			}
			served := l.Word == WordUp || l.Word == WordFailing
			l.stopFailing()
			l.enter(m, WordOut)
			if served && l.Outage == 0 {
				l.Outage = m.node(n, Event{Kind: FailoverOutage, Text: fmt.Sprintf(
					"%s was taken out of DNS: all of %s has been down for %s, while %s answers throughout (on_site_down: failover_after %s).",
					l.name(), s.Name, dur(m.now.Boot-s.lostAt), proof, dur(s.cfg.FailoverAfter))})
			}
		}
	}
}
