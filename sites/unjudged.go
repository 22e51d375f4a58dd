package sites

import (
	"fmt"
	"time"
)

// dim follows since when nothing but unknown has come of a subject (N14). What
// was under way when the controller was blind began at epoch.
func (r *record) dim(start, epoch time.Duration) {
	start = max(start, epoch)
	switch {
	case !r.unfound():
		r.dark = false
	case !r.dark:
		r.dark, r.darkFrom, r.darkTo = true, start, start
	default:
		r.darkTo = max(r.darkTo, start)
	}
}

// known says whether the last result was an answer or a failure.
func (r *record) known() bool { return r.recent == Up || r.recent == Down }

// darkness is what is not known of what proves a line.
type darkness struct {
	some bool // there is something that could
	all  bool // nothing but unknown has come of all of it, from from to to
	lit  bool // something is known
	from time.Duration
	to   time.Duration
	last Check
}

// darkness looks at all that proves the site's lines of a family.
func (s *site) darkness(f Family) darkness {
	d := darkness{all: true}
	add := func(r *record) {
		d.lit = d.lit || r.known()
		d.all = d.all && r.dark
		d.from = max(d.from, r.darkFrom)
		if !d.some || r.darkTo < d.to {
			d.to = r.darkTo
		}
		d.some, d.last = true, r.lack
	}
	for _, n := range s.nodes {
		if l := n.lines[f]; l != nil && s.cfg.WitnessNodes && !n.disabled() {
			add(l.truly())
		}
	}
	for _, w := range s.witnesses {
		if w.family == f {
			add(&w.record)
		}
	}
	d.all = d.all && d.some
	return d
}

// unjudged tells once of a line, or of a node, that cannot be judged for a reason
// of this machine's own, and of the end of that (N14).
func (m *Machine) unjudged(s *site) {
	for f := range Family(families) {
		d := s.darkness(f)
		switch {
		case s.Unjudged[f] == 0 && d.all && d.to > d.from && d.to-d.from >= s.cfg.Threshold && m.Isolated == 0:
			s.Unjudged[f] = m.site(s, Event{Kind: Unjudged, Text: m.unjudgedText(s.familyName(f), d.from, d.last)})
			m.changed(s)
		case s.Unjudged[f] != 0 && (d.lit || !d.some):
			m.site(s, Event{Kind: Judged, Resolves: s.Unjudged[f], Text: s.familyName(f) + " can be judged again."})
			s.Unjudged[f] = 0
			m.changed(s)
		}
		for _, n := range s.nodes {
			if l := n.lines[f]; l != nil {
				m.unjudgedLine(l, d)
			}
		}
	}
}

func (m *Machine) unjudgedLine(l *line, d darkness) {
	n, r := l.node, l.truly()
	switch {
	case l.Unjudged == 0 && r.dark && r.darkTo > r.darkFrom && r.darkTo-r.darkFrom >= n.cfg.Threshold &&
		!n.taken() && m.Isolated == 0 && !(d.all && d.some) && n.site.Unjudged[l.family] == 0:
		l.Unjudged = m.node(n, Event{Kind: Unjudged, Text: m.unjudgedText(l.name(), r.darkFrom, r.lack)})
		m.changed(n.site)
	case l.Unjudged != 0 && (r.known() || n.disabled()):
		m.node(n, Event{Kind: Judged, Resolves: l.Unjudged, Text: l.name() + " can be judged again."})
		l.Unjudged = 0
		m.changed(n.site)
	}
}

// familyName is how a site is called on the lines of a family.
func (s *site) familyName(f Family) string {
	if s.darkness(IPv4).some && s.darkness(IPv6).some {
		return s.Name + " (" + f.String() + ")"
	}
	return s.Name
}

func (m *Machine) unjudgedText(name string, from time.Duration, c Check) string {
	return fmt.Sprintf("%s cannot be judged since %s: %s%s. Nothing of it moves by an outage until that is otherwise.",
		name, m.clock(m.wallAt(from)), ownFault(c), because(c))
}

// ownFault says what of this machine keeps it from asking.
func ownFault(c Check) string {
	switch c.Cause {
	case CauseLocalRoute:
		return "our own route is missing"
	case CauseLocalPermission:
		return "this machine may not send the probe"
	default:
		return "this machine cannot ask, for a reason of its own"
	}
}

// blindly says whether no line of the site can be judged (N14).
func (s *site) blindly() bool {
	some := false
	for f := range Family(families) {
		if !s.darkness(f).some {
			continue
		}
		if s.Unjudged[f] == 0 {
			return false
		}
		some = true
	}
	return some
}

// explainUnjudged says which lines of a site cannot be judged; "" for none.
func (m *Machine) explainUnjudged(s *site) string {
	for f := range Family(families) {
		if d := s.darkness(f); s.Unjudged[f] != 0 && d.all {
			return m.unjudgedText(s.familyName(f), d.from, d.last)
		} else if s.Unjudged[f] != 0 {
			return s.familyName(f) + " could not be judged before the start, for a reason of this machine's own, and nothing is known of it since."
		}
	}
	return ""
}
