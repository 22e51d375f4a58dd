package sites

import (
	"cmp"
	"slices"
)

// number gives the events of a Step IDs in the order in which they are told. They
// were given theirs as they happened, and who follows events by their IDs would take
// one that comes behind a higher one for one that he has had.
func (m *Machine) number() {
	list := m.fx.Events
	if slices.IsSortedFunc(list, func(a, b Event) int { return cmp.Compare(a.ID, b.ID) }) {
		return
	}
	before := m.LastEvent - uint64(len(list)) // all of the Step are in the list
	numbers := make([]uint64, len(list))
	for i := range list {
		numbers[list[i].ID-before-1] = before + 1 + uint64(i)
	}
	renew := func(id *uint64) {
		if *id > before {
			*id = numbers[*id-before-1]
		}
	}
	for i := range list {
		renew(&list[i].ID)
		renew(&list[i].Resolves)
	}
	m.eachEvent(renew)
}

// eachEvent gives every ID of an event that is kept, but for that of the last one.
func (m *Machine) eachEvent(f func(id *uint64)) {
	f(&m.Isolated)
	f(&m.Mass)
	f(&m.Suspect)
	for _, s := range m.sites {
		f(&s.Down)
		f(&s.Resolver)
		for i := range families {
			f(&s.Unjudged[i])
			f(&s.Unproven[i])
		}
		for _, n := range s.nodes {
			n.eachEvent(f)
		}
		for _, p := range s.pools {
			f(&p.Held)
			f(&p.Outage)
			p.Paused.eachEvent(f)
			if p.PutOff != nil {
				f(&p.PutOff.Event)
			}
		}
	}
}

func (n *node) eachEvent(f func(id *uint64)) {
	f(&n.Quarantine)
	for _, h := range [...]*Hold{n.Maintenance, n.Disabled, n.Window, n.Drill} {
		h.eachEvent(f)
	}
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		for _, id := range [...]*uint64{&l.Offline, &l.Outage, &l.Unjudged, &l.Stale} {
			f(id)
		}
		for key, p := range l.Probes {
			f(&p.NeverUp)
			f(&p.Failed)
			if p.Certificate != nil {
				c := *p.Certificate // the one that stands may be read by who stores it
				f(&c.Event)
				p.Certificate = &c
			}
			l.Probes[key] = p
		}
	}
}

func (h *Hold) eachEvent(f func(id *uint64)) {
	if h != nil {
		f(&h.Event)
	}
}
