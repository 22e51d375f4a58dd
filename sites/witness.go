package sites

import "time"

// witness is one probe that proves a line.
type witness struct {
	record
	family Family
}

// proof is what the witnesses of one line say together, for one node.
type proof struct {
	// works: the line is proven. broken: it is disproven, since the start of
	// the first probe that failed. Neither is so before the first results.
	works, broken bool
	since         time.Duration
	// seen is the start of the probe that proves the line.
	seen time.Duration
}

// proof combines the witnesses of a line; with WitnessNodes, the nodes other
// than l's are one more of them.
func (s *site) proof(l *line) proof {
	var p proof
	up, down, members := 0, 0, 0
	add := func(o Outcome, failedAt, upAt time.Duration) {
		members++
		switch o {
		case Up:
			up++
			p.seen = max(p.seen, upAt)
		case Down:
			// The line is disproven by the first that fails where all must
			// answer, else by the last.
			if earlier := failedAt < p.since; down == 0 || earlier == s.cfg.WitnessAll {
				p.since = failedAt
			}
			down++
		default: // nothing is known yet
		}
	}
	for _, w := range s.witnesses {
		if w.family == l.family {
			add(w.last, w.rowStart, w.upStart)
		}
	}
	if s.cfg.WitnessNodes && (s.cfg.WitnessAll || s.hasOthers(l)) {
		add(s.others(l))
	}
	if s.cfg.WitnessAll {
		p.works, p.broken = up == members, down > 0
	} else {
		p.works, p.broken = up > 0, down > 0 && down == members
	}
	return p
}

// hasOthers says whether the line has other nodes that are probed: where any
// witness is enough, none that is not there keeps a line from being disproven.
func (s *site) hasOthers(l *line) bool {
	for _, n := range s.nodes {
		if n.lines[l.family] != nil && n.Name != l.node.Name && !n.disabled() {
			return true
		}
	}
	return false
}

// others is what the other nodes of a line say as one witness.
func (s *site) others(l *line) (o Outcome, failedAt, upAt time.Duration) {
	for _, n := range s.nodes {
		k := n.lines[l.family]
		if k == nil || n.Name == l.node.Name || n.disabled() {
			continue
		}
		switch r := k.truly(); r.last {
		case Up:
			o, upAt = Up, max(upAt, r.upStart)
		case Down:
			if o != Up {
				o, failedAt = Down, max(failedAt, r.rowStart)
			}
		default: // nothing is known yet
		}
	}
	return o, failedAt, upAt
}

// answeredSince says whether the line is proven by probes that started at or
// after t and came after learnt results, and when the last of those that it
// takes had answered.
func (s *site) answeredSince(l *line, t time.Duration, learnt uint64) (bool, time.Duration) {
	if !s.proof(l).works {
		return false, 0
	}
	some, all := false, true
	var earliest, latest time.Duration
	add := func(ok bool, finish time.Duration) {
		if !ok {
			all = false
			return
		}
		if !some || finish < earliest {
			earliest = finish
		}
		some, latest = true, max(latest, finish)
	}
	for _, w := range s.witnesses {
		if w.family == l.family {
			add(w.last == Up && w.upStart >= t && w.upLearnt > learnt, w.upFinish)
		}
	}
	if s.cfg.WitnessNodes {
		add(s.othersSince(l, t, learnt))
	}
	if s.cfg.WitnessAll {
		return some && all, latest
	}
	return some, earliest
}

// othersSince says whether another node of the line has answered a probe that
// started at or after t, and when the first had.
func (s *site) othersSince(l *line, t time.Duration, learnt uint64) (ok bool, finish time.Duration) {
	for _, n := range s.nodes {
		k := n.lines[l.family]
		if k == nil || n.Name == l.node.Name || n.disabled() {
			continue
		}
		r := k.truly()
		if r.last != Up || r.upStart < t || r.upLearnt <= learnt {
			continue
		}
		if !ok || r.upFinish < finish {
			ok, finish = true, r.upFinish
		}
	}
	return ok, finish
}

// askWitnesses has the witnesses of a line probed now.
func (m *Machine) askWitnesses(l *line) {
	s := l.node.site
	for _, w := range s.witnesses {
		if w.family == l.family {
			m.ask(w.subject)
		}
	}
	if s.cfg.WitnessNodes {
		for _, n := range s.nodes {
			if k := n.lines[l.family]; k != nil && n.Name != l.node.Name && !n.disabled() {
				m.ask(k.subject)
			}
		}
	}
}

// silence says whether all witnesses of the site fail, and since when (N3).
// With WitnessNodes alone the nodes are the witnesses.
func (s *site) silence() (silent bool, since time.Duration) {
	for _, w := range s.witnesses {
		if w.last != Down {
			return false, 0
		}
		since = max(since, w.rowStart)
	}
	asked := len(s.witnesses)
	if s.cfg.WitnessNodes {
		for _, n := range s.nodes {
			for _, l := range n.lines {
				if l == nil || n.disabled() {
					continue
				}
				r := l.truly()
				if r.last != Down {
					return false, 0
				}
				since, asked = max(since, r.rowStart), asked+1
			}
		}
	}
	if asked == 0 { // whoever is not asked is not silent (N8)
		return false, 0
	}
	return true, max(since, s.quietFrom)
}
