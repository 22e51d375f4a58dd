package publish

import "slices"

// sight is how much of a site can be seen.
type sight struct {
	// lost: nothing of it; held: nothing is sent to its targets by itself.
	lost, held bool
}

// Seen says whether a site can be seen: that a target of one that cannot does
// not answer either is no news.
func (p *Publisher) Seen(site string, seen bool) {
	p.seeing.Lock()
	s := p.sights[site]
	was := s.lost
	s.lost = !seen
	p.sights[site] = s
	p.seeing.Unlock()
	if was && seen {
		p.Compare(site)
	}
}

// Hold has nothing sent by itself to the targets of a site that cannot be seen,
// or of any while the controller is cut off (E8): no move, no repair, nothing
// that a configuration has changed. A push under way ends before its next write.
// Whatever is wanted meanwhile is caught up with at the end. What an operator
// orders goes on: see [Publisher.Order].
func (p *Publisher) Hold(site string, held bool) {
	p.seeing.Lock()
	s := p.sights[site]
	was := s.held
	s.held = held
	p.sights[site] = s
	p.seeing.Unlock()
	if was == held {
		return
	}
	for _, m := range p.of(site) {
		if !held {
			m.mu.Lock()
			m.ordered = false
			m.mu.Unlock()
		}
		m.kick()
	}
}

// Order has the targets of a site brought to what they should hold now, though
// the site is held: an operator has ordered something of it. What else has
// waited goes along, for a target gets what the built-in server gives. It lasts
// until that has come there. Of a site that is held it names the targets that get
// it now, and those that do not before the site was seen since the start (S2); one
// that is disabled, or only looked at, is neither.
func (p *Publisher) Order(site string) (sent, later []string) {
	for _, m := range p.of(site) {
		held, known := m.order()
		switch {
		case !held:
		case known && !slices.Contains(sent, m.name):
			sent = append(sent, m.name)
		case !known && !slices.Contains(later, m.name):
			later = append(later, m.name)
		}
	}
	return sent, later
}

// Held names the targets of a site that are held; of all sites for "".
func (p *Publisher) Held(site string) (list []string) {
	for _, m := range p.find("") {
		if (site == "" || m.site == site) && p.holds(m.site) && !slices.Contains(list, m.name) {
			list = append(list, m.name)
		}
	}
	return list
}

func (m *member) order() (held, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.rouse()
	held = m.p.holds(m.site)
	if held {
		m.ordered = true
		m.orders++
		m.yield()
	}
	return held && m.kept.Disabled == nil && !m.target.DryRun, m.known
}

// halted says whether nothing is to be sent by itself. The caller holds mu.
func (m *member) halted() bool { return !m.ordered && m.p.holds(m.site) }

func (p *Publisher) holds(site string) bool {
	p.seeing.Lock()
	defer p.seeing.Unlock()
	return p.sights[site].held
}

func (p *Publisher) isLost(site string) bool {
	p.seeing.Lock()
	defer p.seeing.Unlock()
	return p.sights[site].lost
}
