package sites

// heard says whether something ends an isolation: that anything answers. After a
// start nothing is known at first, and failures alone say no more than before; but
// where there is one site alone, or no witness, nothing better is to come.
func (m *Machine) heard() bool {
	for _, s := range m.sites {
		if s.anyAnswers() {
			return true
		}
	}
	for _, t := range m.subjects {
		if s := t.site; t.record.recent == Down && (s.cfg.NoWitness || len(m.sites) == 1 && s.Condition == SiteIsDown) {
			return true
		}
	}
	return false
}

// anyAnswers says whether the last probe of anything of the site came back up.
func (s *site) anyAnswers() bool {
	for _, w := range s.witnesses {
		if w.recent == Up {
			return true
		}
	}
	return s.anyNodeAnswers()
}

// isolation decides whether the controller itself is cut off, and says what was
// held back until that was known (N4).
func (m *Machine) isolation() {
	unseen, failing := 0, 0
	for _, s := range m.sites {
		if s.Condition == SiteIsDown {
			unseen++
		} else if silent, _ := s.silence(); silent {
			failing++
		}
	}
	isolated := len(m.sites) >= 2 && unseen == len(m.sites) ||
		len(m.subjects) > 0 && m.unknown == len(m.subjects)
	switch {
	case isolated && m.Isolated == 0:
		m.Isolated = m.event(Event{Kind: ControllerIsolated, Text: m.isolatedText()})
		m.storeGlobal()
	case !isolated && m.Isolated != 0 && m.heard():
		m.event(Event{Kind: ControllerReconnected, Resolves: m.Isolated, Text: m.reconnectedText()})
		m.Isolated = 0
		m.storeGlobal()
		for _, s := range m.sites {
			if s.Condition == SiteIsDown && s.Down == 0 {
				s.quietFrom = m.now.Boot
				s.sayAt = m.now.Boot + s.cfg.Threshold
			}
		}
	}
	m.deaf = !isolated && m.Isolated != 0 // nothing has been heard that ends it
	m.held, m.again = 0, 0
	if isolated || m.deaf {
		return
	}
	m.sayDown(failing > 0)
	m.again = m.sitesDown()
}

// sayDown says which sites are down. While another site's witnesses fail too it
// waits, for it may be the controller that is cut off (N4).
func (m *Machine) sayDown(othersFail bool) {
	for _, s := range m.sites {
		if s.Condition != SiteIsDown || s.Down != 0 {
			continue
		}
		wait := s.sayAt
		if othersFail {
			wait = max(wait, s.sayAt+s.cfg.Threshold)
		}
		if m.now.Boot < wait {
			if m.held == 0 || wait < m.held {
				m.held = wait
			}
			continue
		}
		s.Down = m.site(s, Event{Kind: SiteDown, Text: m.siteDownText(s)})
		m.changed(s)
	}
}
