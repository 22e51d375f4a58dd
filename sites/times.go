package sites

import (
	"slices"
	"time"
)

// watch marks the lines of a node whose probe loop gives no results (S5).
func (m *Machine) watch(n *node) {
	if n.disabled() {
		return
	}
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		switch {
		case l.Stale == 0 && m.now.Boot >= l.staleAt():
			l.Stale = m.node(n, Event{Kind: ProbeStale, Text: m.staleText(l)})
			l.stuck = true
			m.changed(n.site)
		case l.Stale != 0 && l.fresh(m.now.Boot):
			m.node(n, Event{Kind: ProbeFresh, Resolves: l.Stale, Text: n.site.Name + "/" + n.Name + " is probed again."})
			l.Stale, l.stuck = 0, false
			m.changed(n.site)
		}
	}
}

// arrived says whether the new addresses of a node are up (A7): one answers, and of
// none the first result is still to come, for else a family of the former ones would
// have no address until then. Of what nothing judges nothing is awaited (N13).
func (n *node) arrived() (up bool) {
	up = n.unjudged()
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		if l.recent == None && l.Stale == 0 {
			return false
		}
		up = up || l.Word == WordUp
	}
	return up
}

// retire lets the former incarnation of a node leave when the new one is up, or
// when it gives nothing any more (A7).
func (m *Machine) retire(s *site) {
	for i := 0; i < len(s.nodes); i++ {
		old := s.nodes[i]
		if !old.Replaced {
			continue
		}
		if old.heir.arrived() || old.taken() {
			m.end(old.open(), s.Name+"/"+old.Name+" has another address.")
			s.drop(old)
			m.fx.Subjects = true
			m.index()
			m.changed(s)
			i--
		}
	}
}

// drop takes a former incarnation out of the site and of its pools.
func (s *site) drop(n *node) {
	n.heir.former = nil
	gone := func(x *node) bool { return x == n }
	s.nodes = slices.DeleteFunc(s.nodes, gone)
	for _, p := range s.pools {
		p.nodes = slices.DeleteFunc(p.nodes, gone)
		p.Members = slices.Clone(p.Members)
		for i := range p.Members { // its place is its heir's, also in a pool that does not move
			if x := &p.Members[i]; x.Node == n.Name && x.Replaced {
				*x = n.heir.member(n.heir.serves())
			}
		}
	}
}

// settleTimes works out when the site must be looked at next if nothing is
// heard of it, and whether any result may change something.
func (m *Machine) settleTimes(s *site) {
	s.next, s.busy = Forever, !s.settled || s.Condition != SiteIsUp
	now := m.now.Boot
	at := func(t time.Duration) {
		if t > now {
			s.next = min(s.next, t)
		}
	}
	until := func(t time.Time) {
		if !t.IsZero() && !m.now.Suspect {
			at(now + max(t.Sub(m.now.Wall), time.Millisecond))
		}
	}
	if silent, since := s.silence(); silent {
		s.busy = true
		if !s.asked {
			at(since + s.cfg.Threshold)
		}
	}
	for f := range Family(families) {
		if broken, since := s.disproven(f); broken && s.Unproven[f] == 0 {
			at(since + s.cfg.Threshold)
			// What the controller's own isolation has kept from being told is
			// told with the next result after it (N14).
			s.busy = s.busy || now >= since+s.cfg.Threshold
		} else if s.Unproven[f] != 0 {
			s.busy = true
		}
	}
	m.nodeTimes(s, at, until)
	for _, p := range s.pools {
		if p.Paused != nil {
			until(p.Paused.Until)
		}
		if p.cfg.MinHold > 0 && p.cfg.Mode == ActivePassive {
			at(p.activeSince + p.cfg.MinHold)
		}
		m.putOffTimes(p, at)
	}
	m.windowTimes(s, until)
}

// nodeTimes, windowTimes and lineTimes are the parts of settleTimes.
func (m *Machine) nodeTimes(s *site, at func(time.Duration), until func(time.Time)) {
	for _, n := range s.nodes {
		s.busy = s.busy || n.Replaced
		if n.Maintenance != nil {
			until(n.Maintenance.Until)
		}
		if n.Drill != nil {
			until(n.Drill.Until)
		}
		if n.Disabled != nil {
			until(n.Disabled.Until)
			continue
		}
		for _, l := range n.lines {
			if l != nil {
				m.lineTimes(l, at)
			}
		}
	}
}

func (m *Machine) windowTimes(s *site, until func(time.Time)) {
	for i := range s.windows {
		if w := &s.windows[i]; !w.change.IsZero() {
			until(w.change)
			for _, ttl := range s.horizons {
				if before := w.change.Add(-ttl); !before.Before(m.now.Wall) {
					until(before.Add(time.Nanosecond))
				}
			}
		}
	}
}

func (m *Machine) lineTimes(l *line, at func(time.Duration)) {
	s := l.node.site
	if l.Stale == 0 {
		at(l.staleAt())
	}
	if l.node.load != nil {
		for i := range l.checks {
			at(l.checks[i].measured + l.lasts())
		}
	}
	if l.node.taken() {
		return
	}
	s.busy = s.busy || (l.Word != WordOut && l.busy() || l.failing) && !m.patient(l)
	if t, ticking := l.deadline(); ticking && m.due(l) {
		at(t)
	}
	if l.Word == WordRecovering {
		at(l.graceEnd())
		for _, ttl := range s.horizons {
			at(l.graceEnd() - ttl + 1)
		}
	}
}
