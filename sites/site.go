package sites

import "time"

// site is a site at run time.
type site struct {
	SavedSite
	cfg       *Site
	index     int
	nodes     []*node // in the configuration's order, replaced ones behind theirs
	pools     []*pool
	witnesses []*witness
	// chain lists the sites that may step in, in their order; dependents are
	// the sites that have this one in theirs (A4).
	chain, dependents []*site
	windows           []windowClock
	ttls              []time.Duration // those of its names, ascending (A9)
	horizons          []time.Duration // and of the sites that it may step in for

	// settled: since the start the site has been seen, and every subject of it
	// has been probed once (S2).
	settled bool
	// quietFrom is the earliest that silence counts from (N4, O5).
	quietFrom time.Duration
	// asked is when all nodes were asked because the witnesses are silent.
	asked   bool
	askedAt time.Duration // when that was
	// sayAt is when a site_down that was held back is said (N4).
	sayAt time.Duration

	// lostAt is since when the site is down, or was the last time, downAt when
	// that was found, and lineFault that another was lost with it; seenAt is
	// when it was last seen again, and answersFrom since when its witnesses have
	// not all been silent (N5).
	lostAt, downAt, seenAt, answersFrom time.Duration
	lineFault                           bool

	begun   int  // nodes that began to fail at the time that the brake looks at
	busy    bool // any result may change something
	isDirty bool
	stored  bool // to be stored after this Step
	// next is when the site must be looked at again, slot its place in the
	// calendar.
	next time.Duration
	slot int
}

// evaluate brings a site up to date: is it seen, and what of its nodes. Pools
// come after all sites.
func (m *Machine) evaluate(s *site) {
	m.expire(s)
	if !s.settled {
		s.settled = s.complete()
	}
	m.observe(s)
	m.refuteNew(s)
	for i := range len(s.nodes) {
		n := s.nodes[i]
		m.watch(n)
		if n.load != nil {
			m.weigh(n) // what is known of it may be too old by now
		}
		for _, l := range n.lines {
			switch {
			case l == nil || n.disabled():
			case n.maintained():
				m.accompany(l)
			default:
				m.judge(l)
			}
		}
	}
	m.unjudged(s)
	m.unproven(s)
	m.retire(s)
}

// complete says whether the site has been seen since the start and a full
// round of its probes is in (S2).
func (s *site) complete() bool {
	seen := s.cfg.NoWitness
	for _, w := range s.witnesses {
		if w.recent == None {
			return false
		}
		seen = seen || w.last == Up
	}
	for _, n := range s.nodes {
		for _, l := range n.lines {
			if l == nil || n.disabled() {
				continue
			}
			if l.recent == None {
				return false
			}
			seen = seen || s.cfg.WitnessNodes && l.truly().recent == Up
		}
	}
	return seen
}

// observe decides whether the site is seen (N3).
func (m *Machine) observe(s *site) {
	silent, since := s.silence()
	if !silent {
		s.asked = false
		if s.answersFrom == Forever {
			s.answersFrom = m.now.Boot
		}
		if s.witnessed() {
			m.seen(s)
		}
		return
	}
	s.answersFrom = Forever
	switch {
	case s.Condition == SiteIsDown:
		answering, _ := s.nodesSince(since)
		if answering && !s.asked {
			m.askSite(s, false) // once, until the witnesses have spoken
		}
		s.asked = answering
	case s.Condition == SiteResolverDown:
		if !s.anyNodeLeft() {
			m.unseen(s)
		}
	case m.now.Boot < since+s.cfg.Threshold:
	case !s.asked:
		s.asked, s.askedAt = true, m.now.Boot
		m.askSite(s, true)
		if s.nothingToAsk() {
			m.unseen(s)
		}
	default:
		m.answered(s, since)
	}
}

// answered looks at what the nodes of a site have said that were asked because
// its witnesses are silent (N3).
func (m *Machine) answered(s *site, since time.Duration) {
	switch answering, none := s.nodesSince(s.askedAt); {
	case answering:
		s.asked = false
		s.Condition, s.Since = SiteResolverDown, m.now.Wall
		s.Resolver = m.site(s, Event{Kind: ResolverDown, Text: m.resolverDownText(s, since)})
		m.changed(s)
	case none:
		m.unseen(s)
	}
}

// witnessed says whether a witness of the site answers.
func (s *site) witnessed() bool {
	if s.cfg.NoWitness {
		return true
	}
	for _, w := range s.witnesses {
		if w.last == Up {
			return true
		}
	}
	if s.cfg.WitnessNodes {
		for _, n := range s.nodes {
			for _, l := range n.lines {
				if l != nil && !n.disabled() && l.truly().last == Up {
					return true
				}
			}
		}
	}
	return false
}

// nodesSince says whether a node has answered a probe that started at or after
// from, and whether all have been asked since and none has. What could not be
// found out is neither (O1), but where some have failed it hides nothing.
func (s *site) nodesSince(from time.Duration) (answering, none bool) {
	failed, waiting := false, false
	for _, n := range s.nodes {
		for _, l := range n.lines {
			if l == nil || n.disabled() {
				continue
			}
			switch r := l.truly(); {
			case r.recent == None || r.recentStart < from || r.recent == Up && r.upStart < from:
				waiting = true
			case r.recent == Up:
				answering = true
			case r.recent == Down:
				failed = true
			}
		}
	}
	return answering, failed && !waiting && !answering
}

// anyNodeLeft says whether a node is left whose last result is not a failure:
// one that could not be found out is none, nor is one that is still to come
// after a start (N3, O1).
func (s *site) anyNodeLeft() bool {
	for _, n := range s.nodes {
		for _, l := range n.lines {
			if l == nil || n.disabled() {
				continue
			}
			if r := l.truly(); r.recent != Down && (r.recent != Unknown || r.last != Down) {
				return true
			}
		}
	}
	return false
}

func (s *site) nothingToAsk() bool {
	for _, n := range s.nodes {
		for _, l := range n.lines {
			if l != nil && !n.disabled() {
				return false
			}
		}
	}
	return true
}

// askSite has all nodes of a site probed now, or all its witnesses.
func (m *Machine) askSite(s *site, nodes bool) {
	if !nodes {
		for _, w := range s.witnesses {
			m.ask(w.subject)
		}
		return
	}
	for _, n := range s.nodes {
		for _, l := range n.lines {
			if l != nil && !n.disabled() {
				m.ask(l.subject)
			}
		}
	}
}

// unseen: no witness and no node of the site answers.
func (m *Machine) unseen(s *site) {
	s.Condition, s.Since, s.asked = SiteIsDown, m.now.Wall, false
	s.sayAt = m.now.Boot
	_, since := s.silence()
	m.lost(s, since)
	m.sight(s)
}

// sight says that a site has come into sight or gone: who steps in for another
// may depend on it (A4).
func (m *Machine) sight(s *site) {
	m.seenChanged = true
	m.changed(s)
	for _, d := range s.dependents {
		m.dirty(d)
	}
}

// seen: a witness of the site answers.
func (m *Machine) seen(s *site) {
	if s.Condition == SiteIsUp {
		return
	}
	was := s.Condition
	down, resolver, since := s.Down, s.Resolver, s.Since
	s.Condition, s.Since, s.Down, s.Resolver = SiteIsUp, m.now.Wall, 0, 0
	s.seenAt = m.now.Boot
	m.sight(s)
	if down != 0 {
		m.site(s, Event{Kind: SiteUp, Resolves: down, Text: m.siteUpText(s, since)})
	}
	s.FailedOver = false
	if resolver != 0 {
		m.site(s, Event{Kind: ResolverUp, Resolves: resolver, Text: m.resolverUpText(s, since)})
	}
	if was != SiteIsDown {
		return
	}
	for _, n := range s.nodes {
		for _, l := range n.lines {
			if l != nil && l.failing {
				l.startFailing(m.now.Boot)
				m.began++
			}
		}
	}
}
