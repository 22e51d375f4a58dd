package sites

import (
	"slices"
	"time"
)

// absorb enters the result of a node's probes on one line: what the probes that
// count say together, and what each says for itself (O2).
func (m *Machine) absorb(l *line, res *Result) {
	if res.Start < l.notBefore || (l.last != None && res.Start < l.start) || len(res.Checks) != len(l.checks) {
		return
	}
	l.heard = res.Finish
	changed, measured := m.followChecks(l, res)
	before := l.recent
	l.silent = awaited(res.Checks)
	if outcome := l.combine(res.Checks); outcome != None {
		spoke := l.spoke(res)
		outcome = l.pretend(outcome, res, spoke, m.learnt)
		l.take(outcome, res, spoke, m.learnt)
		l.contradict(outcome, m.now.Boot)
	} else {
		// No probe of it has ever answered: that they fail is kept for N3 and
		// N10 alone.
		if l.recent == None || res.Start >= l.recentStart {
			l.recent, l.recentStart = unanswered(res.Checks), res.Start
			l.lack = lacking(res.Checks)
		}
	}
	if changed || l.recent != before || l.busy() && !m.patient(l) || l.node.site.busy {
		m.dirty(l.node.site)
	}
	if measured {
		m.measured(l.node)
	}
}

// busy says whether any result of the line may change something.
func (l *line) busy() bool {
	switch l.Word {
	case WordUp:
		return l.last != Up || l.Offline != 0
	case WordOut:
		return l.last != Down || l.Offline == 0
	default:
		return true
	}
}

// patient says whether a failing line waits for its deadline alone, at which it is
// looked at: until then one more failure changes nothing. While all nodes fail each
// result would else have its whole site looked at.
func (m *Machine) patient(l *line) bool {
	at, ticking := l.deadline()
	return l.Word == WordFailing && l.last == Down && l.recent == Down && l.row > 2 && (l.unsettled || !l.judged()) &&
		l.node.Drill == nil && ticking && at > m.now.Boot && m.due(l)
}

// combine gives what the steering probes that have ever answered say together;
// None if there are none (O2).
func (l *line) combine(checks []Check) Outcome {
	up, down, counted := 0, 0, 0
	var first [Unknown + 1]Check // of those that count, by outcome
	for i, c := range checks {
		p := &l.node.cfg.Probes[i]
		if !p.Steer || !l.Probes[p.Key].Answered {
			continue
		}
		counted++
		switch c.Outcome {
		case Up:
			up++
		case Down:
			down++
		default: // found out nothing
		}
		if first[c.Outcome].Outcome == None {
			first[c.Outcome] = c
		}
	}
	need := l.node.cfg.Require
	if need == 0 || need > counted {
		need = counted
	}
	switch {
	case counted == 0:
		return None
	case up >= need:
		l.check = first[Up]
		return Up
	case counted-down < need:
		l.check = first[Down]
		return Down
	default:
		l.lack = first[Unknown]
		if l.last != Down {
			l.check = l.lack // else the cause of the failure stands
		}
		return Unknown
	}
}

// spoke gives the moment that a success of the steering probes is evidence of:
// of those that it takes, the earliest. 0 means the probes' own start.
func (l *line) spoke(res *Result) time.Duration {
	var buffer [8]time.Duration
	said, counted, told := buffer[:0], 0, false
	for i := range res.Checks {
		c, p := &res.Checks[i], &l.node.cfg.Probes[i]
		if !p.Steer || !l.Probes[p.Key].Answered {
			continue
		}
		counted++
		switch {
		case c.Outcome != Up:
		case c.Heard != 0:
			said, told = append(said, c.Heard), true
		default:
			said = append(said, res.Start)
		}
	}
	need := l.node.cfg.Require
	if need == 0 || need > counted {
		need = counted
	}
	if !told || len(said) < need {
		return 0
	}
	slices.Sort(said)
	return said[len(said)-need]
}

// awaited says whether what is not known of a node is only what it has not said
// yet.
func awaited(checks []Check) (yes bool) {
	for i := range checks {
		if c := &checks[i]; c.Outcome == Unknown {
			if c.Cause != CauseAwaited {
				return false
			}
			yes = true
		}
	}
	return yes
}

func unanswered(checks []Check) Outcome {
	for _, c := range checks {
		if c.Outcome == Down {
			return Down
		}
	}
	return Unknown
}

// lacking gives the first of the checks that found out nothing.
func lacking(checks []Check) Check {
	for _, c := range checks {
		if c.Outcome == Unknown {
			return c
		}
	}
	return Check{}
}

// followChecks follows each probe of a line by itself: the first success makes
// it count, a whole threshold without one is said once, and so is the failure
// of a probe that moves nothing. It says whether something was changed, and
// whether the node's work was measured.
func (m *Machine) followChecks(l *line, res *Result) (changed, measured bool) {
	for i := range res.Checks {
		c, k := &res.Checks[i], &l.checks[i]
		k.last = *c
		measured = k.measure(c, res.Finish) || measured
		if !c.Expires.IsZero() && m.certificate(l, i, c) {
			changed = true
		}
		switch c.Outcome {
		case Up:
			if k.failing || k.row == 0 {
				k.failing, k.row = false, 0
			}
			k.row++
		case Down:
			if !k.failing {
				k.failing, k.failStart, k.row = true, res.Start, 0
			}
			k.row++
		default:
			continue
		}
		if m.followCheck(l, i, res) {
			changed = true
		}
	}
	return changed, measured
}

// failedFor is how long something has failed on a line that is seen: anew from when
// it is seen again (O5).
func (l *line) failedFor(since, now time.Duration) time.Duration {
	if l.blind {
		return 0
	}
	return now - max(since, l.blindUntil)
}

func (m *Machine) followCheck(l *line, i int, res *Result) bool {
	n, p, k := l.node, &l.node.cfg.Probes[i], &l.checks[i]
	mem, before := l.Probes[p.Key], l.Probes[p.Key]
	if !k.failing {
		mem.Answered = true
		if k.row >= n.cfg.Rise || mem.NeverUp != 0 {
			if id := max(mem.Failed, mem.NeverUp); id != 0 {
				m.node(n, Event{Kind: ProbeRecovered, Resolves: id, Text: m.probeText(l, i, "answers")})
			}
			mem.Failed, mem.NeverUp = 0, 0
		}
	} else if k.row >= 2 && l.failedFor(k.failStart, res.Finish) >= n.cfg.Threshold && m.provenSince(l, k.failStart) {
		switch {
		case !mem.Answered && mem.NeverUp == 0:
			mem.NeverUp = m.node(n, Event{Kind: ProbeNeverUp, Text: m.probeText(l, i, "has never answered")})
		case mem.Answered && !p.Steer && mem.Failed == 0:
			mem.Failed = m.node(n, Event{Kind: ProbeFailed, Text: m.probeText(l, i, "fails")})
		}
	}
	if mem == before {
		return false
	}
	if l.Probes == nil {
		l.Probes = make(map[string]SavedProbe, len(l.checks))
	}
	l.Probes[p.Key] = mem
	m.changed(n.site)
	return true
}

// provenSince says whether the line works by a witness probe that started at
// or after t: what is not proven is held against nobody.
func (m *Machine) provenSince(l *line, t time.Duration) bool {
	s := l.node.site
	if s.cfg.NoWitness {
		return true
	}
	ok, _ := s.answeredSince(l, t, 0)
	return ok
}
