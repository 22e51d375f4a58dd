package sites

import "time"

// line is a node as seen over one address family.
type line struct {
	SavedLine
	record
	node   *node
	family Family
	checks []checkClock // beside Node.Probes

	// failing: a failing clock runs, since the start of the first failed probe.
	// frozen is the blind time that does not count (O5).
	failing   bool
	failStart time.Duration
	frozen    time.Duration
	// blind: the line's witnesses do not answer, since blindSince; else they
	// did not the last time from blindSince to blindUntil (O5).
	blind                  bool
	blindSince, blindUntil time.Duration

	// free is when an operator put the line back: a failing clock starts no
	// earlier (N7, C1). forced: it was by force, so it may enter an answer until
	// it next answers or goes out (N12).
	free   time.Duration
	forced bool

	// truth is what the node has really answered while a drill pretends
	// otherwise (C6).
	truth record

	round round
	// recoverStart is the start of the first success (N6); lapsed says that the
	// end of grace has asked for its probe.
	recoverStart time.Duration
	lapsed       bool
	// doubted: a probe that started at doubt has failed while recovering; it
	// counts once the line is proven by one that started no earlier (N6).
	doubted bool
	doubt   time.Duration
	// unsettled: there was a second failure in a row while failing (A9).
	unsettled bool
}

// checkClock follows one probe of a line.
type checkClock struct {
	key       string
	failing   bool
	failStart time.Duration
	row       int // failures in a row, or successes
	last      Check
	figures   *Figures      // of the last result that found something out
	measured  time.Duration // when that was
}

// judged says whether outages may move the line at all (N9).
func (l *line) judged() bool { return l.node.cfg.Failover }

// deadline is when the failing clock runs out, if it runs and does not stand
// still (N2).
func (l *line) deadline() (time.Duration, bool) {
	return l.failStart + l.node.cfg.Threshold + l.frozen, l.failing && !l.blind
}

// overdue says whether the failing clock has run out, be it before it had to
// stand still (A3).
func (l *line) overdue(now time.Duration) bool {
	if !l.failing {
		return false
	}
	if l.blind {
		now = max(l.blindSince, l.failStart)
	}
	return now >= l.failStart+l.node.cfg.Threshold+l.frozen
}

// graceEnd is when a recovering line may come back (N6).
func (l *line) graceEnd() time.Duration { return l.recoverStart + l.node.grace() }

// enter gives the line another word.
func (l *line) enter(m *Machine, w Word) {
	if l.Word == w {
		return
	}
	l.Word, l.Since = w, m.now.Wall
	l.round = round{}
	l.Refuted = false
	if w != WordRecovering {
		l.recoverStart, l.lapsed, l.doubted = 0, false, false
	}
	if w != WordFailing {
		l.unsettled = false
	}
	m.changed(l.node.site)
}

// startFailing starts the failing clock with the row of failures under way.
func (l *line) startFailing(at time.Duration) {
	l.failing, l.failStart, l.frozen = true, at, 0
	l.round = round{}
	if !l.blind {
		l.unfreeze()
	}
}

// unfreeze counts the last blind time, as far as the clock ran in it (O5).
func (l *line) unfreeze() {
	if from := max(l.blindSince, l.failStart); l.blindUntil > from {
		l.frozen += l.blindUntil - from
	}
}

// stopFailing ends it.
func (l *line) stopFailing() {
	l.failing, l.round = false, round{}
}

// restart begins all clocks of the line anew (O5). When one that is out began to
// fail is not known then; during a mass failure it goes on being part of it
// (A10).
func (l *line) restart(now time.Duration, mass bool) {
	switch {
	case l.failing:
		l.startFailing(now)
	case mass && l.Word == WordOut:
		l.failStart = now
	default:
		l.failStart = 0
	}
	if l.Word == WordRecovering {
		l.recoverStart, l.lapsed, l.doubted = now, false, false
	}
	l.awaited, l.dark = now, false
	for i := range l.checks {
		l.checks[i].failStart = now
	}
}

// follow keeps the line's blind time with what its witnesses say (O5).
func (l *line) follow(p proof) {
	switch {
	case p.broken && !l.blind:
		l.blind, l.blindSince = true, p.since
	case p.works && l.blind:
		l.blind, l.blindUntil = false, p.seen
		if l.failing {
			l.unfreeze()
		}
		l.round = round{}
	}
}

// proof is what proves the line now; without a witness it always is (N3).
func (m *Machine) proof(l *line) proof {
	s := l.node.site
	if s.cfg.NoWitness {
		return proof{works: true, seen: m.now.Boot}
	}
	return s.proof(l)
}

// judge brings a line that no operator has taken up to date: called when a
// result of it or of its witnesses has come, and when a deadline has.
func (m *Machine) judge(l *line) {
	s := l.node.site
	p := m.proof(l)
	if l.doubted && m.provenSince(l, l.doubt) {
		l.enter(m, WordOut)
	}
	switch l.last {
	case Down:
		m.judgeDown(l)
	case Up:
		m.judgeUp(l)
	default: // nothing is known yet
	}
	was := l.blind
	if l.follow(p); was && !l.blind {
		m.began++
	}
	if l.Word == WordPending && !l.Refuted && m.refuted(l) {
		l.Refuted = true
		m.changed(s)
	}
	if l.failing {
		m.runRound(l)
	}
}

// refuted says whether a new node has failed on a proven line (N10). What was asked
// while the witness was silent says nothing of it (O5).
func (m *Machine) refuted(l *line) bool {
	return l.recent == Down && l.last == None && l.recentStart >= l.blindUntil && m.provenSince(l, l.recentStart)
}

// accompany follows a line in maintenance: it is probed on and not judged (N7).
func (m *Machine) accompany(l *line) {
	l.follow(m.proof(l))
	if l.last == Up && l.row >= l.node.cfg.Rise {
		m.online(l)
	}
}

// judgeDown: the last counted result is a failure.
func (m *Machine) judgeDown(l *line) {
	if !l.failing && l.Word != WordPending && !(l.Word == WordOut && !l.untold()) {
		l.startFailing(max(l.rowStart, l.free))
		m.began++
	}
	switch l.Word {
	case WordUp:
		l.enter(m, WordFailing)
	case WordRecovering:
		if !l.doubted {
			l.doubted, l.doubt = true, l.rowStart
		}
		if m.provenSince(l, l.doubt) {
			l.enter(m, WordOut)
		}
	default: // it does not serve, or fails already
	}
	if l.Word == WordFailing && l.row >= 2 && !l.unsettled && l.judged() {
		l.unsettled = true
		m.dirty(l.node.site)
	}
}

// judgeUp: the last counted result is a success.
func (m *Machine) judgeUp(l *line) {
	s := l.node.site
	rise := l.node.cfg.Rise
	l.forced = false
	switch l.Word {
	case WordPending, WordReturning:
		if s.settled && l.answers() {
			m.back(l, "")
		}
	case WordFailing:
		if l.row >= rise {
			l.stopFailing()
			l.enter(m, WordUp)
		}
	case WordOut:
		if l.row >= rise {
			l.stopFailing()
			l.enter(m, WordRecovering)
			l.recoverStart = l.rowStart
			if l.graceEnd() <= m.now.Boot {
				l.lapsed = true
				m.ask(l.subject)
			}
		}
	case WordRecovering:
		l.stopFailing()
		m.judgeRecovering(l)
	default: // up already
	}
	if l.row >= rise {
		if l.Word != WordFailing {
			l.stopFailing()
		}
		m.online(l)
	}
}

// judgeRecovering ends a grace that has passed and been confirmed (N6). A failure of
// which is not yet proven whose fault it was keeps the line waiting: else it would be
// chance whether the node or the witness is heard first when a line is back.
func (m *Machine) judgeRecovering(l *line) {
	n, s := l.node, l.node.site
	switch {
	case l.graceEnd() > m.now.Boot || l.doubted:
	case n.cfg.Failback == FailbackManual || !s.settled || n.heldBack(m):
	case l.answers() && l.upStart >= l.graceEnd():
		m.back(l, "auto")
	case !l.lapsed:
		l.lapsed = true
		m.ask(l.subject)
	}
}

// back puts a line back among those that serve. how is "auto", "manual" or
// "waived" for a failback, and empty for what was no outage.
func (m *Machine) back(l *line, how string) {
	outage, answered := l.Outage, m.now.Boot-l.recoverStart
	l.stopFailing()
	l.enter(m, WordUp)
	if outage != 0 || how != "" && how != "drill" {
		l.Outage = 0
		m.node(l.node, Event{Kind: FailoverFailback, Resolves: outage, Drill: l.Drill, Text: l.backText(how, answered)})
		l.Drill = l.Drill && l.Offline != 0
	}
	switch {
	case !l.node.wholly():
	case how == "manual":
		m.endQuarantine(l.node, "was ended by the operator")
	default:
		m.endQuarantine(l.node, "has ended with its return")
	}
}

// ready says whether a recovering line waits for the operator (N6).
func (l *line) ready(now time.Duration) bool {
	return l.Word == WordRecovering && l.node.cfg.Failback == FailbackManual && l.graceEnd() <= now && l.last == Up
}
