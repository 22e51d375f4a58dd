package sites

import (
	"maps"
	"slices"
)

// alert is something that was said and has not ended, with the event that would
// end it.
type alert struct {
	id   uint64
	ends Event
}

// open lists what was said of a site and has not ended.
func (s *site) open() (list []alert) {
	add := func(id uint64, e Event) {
		if id != 0 {
			e.Site = s.Name
			list = append(list, alert{id, e})
		}
	}
	add(s.Down, Event{Kind: SiteUp})
	add(s.Resolver, Event{Kind: ResolverUp})
	for f := range families {
		add(s.Unjudged[f], Event{Kind: Judged})
		add(s.Unproven[f], Event{Kind: Judged})
	}
	for _, n := range s.nodes {
		list = append(list, n.open()...)
	}
	for _, p := range s.pools {
		add(p.Outage, Event{Kind: PoolOutageResolved, Pool: p.Name})
		if p.PutOff != nil {
			add(p.PutOff.Event, Event{Kind: MovePutOffEnded, Pool: p.Name})
		}
		if p.Paused != nil {
			add(p.Paused.Event, Event{Kind: Resumed, Pool: p.Name})
			add(p.Held, Event{Kind: MoveHeldEnded, Pool: p.Name})
		}
	}
	return list
}

// open lists what was said of a node. What was ordered of a former incarnation
// is its heir's.
func (n *node) open() (list []alert) {
	drill := false
	add := func(id uint64, k Kind) {
		told := slices.ContainsFunc(list, func(a alert) bool { return a.id == id })
		if id != 0 && !told { // a certificate's end is told once, whatever the probes
			list = append(list, alert{id, Event{Kind: k, Site: n.site.Name, Node: n.Name, Drill: drill}})
		}
	}
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		add(l.Stale, ProbeFresh)
		add(l.Unjudged, Judged)
		drill = l.Drill
		add(l.Offline, NodeOnline)
		add(l.Outage, FailoverFailback)
		drill = false
		for _, key := range slices.Sorted(maps.Keys(l.Probes)) {
			add(l.Probes[key].NeverUp, ProbeRecovered)
			add(l.Probes[key].Failed, ProbeRecovered)
			if c := l.Probes[key].Certificate; c != nil {
				add(c.Event, CertificateRenewed)
			}
		}
	}
	if n.Drill != nil {
		drill = true
		add(n.Drill.Event, DrillEnded)
		drill = false
	}
	add(n.Quarantine, QuarantineEnded)
	if n.Replaced {
		return list
	}
	for _, h := range [...]*Hold{n.Maintenance, n.Window} {
		if h != nil {
			add(h.Event, FailoverMaintenance)
		}
	}
	if n.Disabled != nil {
		add(n.Disabled.Event, NodeEnabled)
	}
	return list
}

// lostAlerts gives those of the alerts that stand no more, because the configuration
// has no longer what they are about: nothing else would ever end them (A7).
func (m *Machine) lostAlerts(before []alert) (gone []alert) {
	left := make(map[uint64]bool)
	for _, s := range m.sites {
		for _, a := range s.open() {
			left[a.id] = true
		}
	}
	for _, a := range before {
		if !left[a.id] {
			gone = append(gone, a)
		}
	}
	return gone
}

// end tells the end of alerts.
func (m *Machine) end(list []alert, why string) {
	for _, a := range list {
		e := a.ends
		e.Resolves, e.Text = a.id, why
		e = m.stamp(e)
		switch {
		case e.Node != "":
			m.nodeEvents = append(m.nodeEvents, e)
		case e.Pool != "":
			m.poolEvents = append(m.poolEvents, e)
		default:
			m.fx.Events = append(m.fx.Events, e)
		}
	}
}

// reconfigured is why an alert ends whose subject has left.
const reconfigured = "It ends with a change of the configuration, which has no longer what it was about."
