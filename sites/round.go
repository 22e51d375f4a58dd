package sites

import "time"

// phase is how far a round has come (N2).
type phase uint8

const (
	idle        phase = iota
	wantProof         // the witnesses were asked and have not answered yet
	wantFailure       // a probe of the node must start now, and fail
	wantProof2        // a probe of the witnesses must start after that, and answer
)

// round is the evidence that takes a node out: witness, node, witness.
type round struct {
	phase phase
	// from is the earliest start of the probe that the phase waits for; its
	// result comes after learnt others.
	from   time.Duration
	learnt uint64
	// spent: a round was broken; the next failure of the node that starts at or
	// after from begins another.
	spent bool
}

// due says whether the line waits for a verdict: it fails, and the verdict
// would change or tell something.
func (m *Machine) due(l *line) bool {
	if !l.failing || l.last != Down {
		return false
	}
	if l.untold() {
		return true
	}
	return l.Word == WordFailing && l.judged() && !l.node.heldBack(m)
}

// untold says whether it is still to be told that the node is offline: it was
// not, or as part of a drill that is over.
func (l *line) untold() bool { return l.Offline == 0 || l.Drill && l.node.Drill == nil }

// runRound takes the round of a failing line as far as the evidence goes. While
// the line is not proven its clock stands still, and no round goes on.
func (m *Machine) runRound(l *line) {
	at, ticking := l.deadline()
	if !ticking || at > m.now.Boot || !m.due(l) {
		return
	}
	if l.node.site.cfg.NoWitness {
		// What could not be found out since confirms nothing (O1, S5).
		if l.row >= 2 && l.recent == Down && !l.stuck {
			m.verdict(l)
		}
		return
	}
	r := &l.round
	if r.phase == idle {
		if r.spent && l.start < r.from {
			return
		}
		*r = round{phase: wantProof, from: m.now.Boot}
		m.askWitnesses(l)
	}
	if r.phase == wantProof {
		if ok, at := l.node.site.answeredSince(l, r.from, 0); ok {
			*r = round{phase: wantFailure, from: at, learnt: m.learnt}
			m.ask(l.subject)
		}
	}
	if r.phase == wantFailure && l.start >= r.from && l.learnt > r.learnt && l.last == Down {
		*r = round{phase: wantProof2, from: l.finish, learnt: l.learnt}
		m.askWitnesses(l)
	}
	if r.phase == wantProof2 {
		if ok, _ := l.node.site.answeredSince(l, r.from, r.learnt); ok {
			if l.row >= 2 {
				m.verdict(l)
			} else {
				*r = round{spent: true, from: m.now.Boot}
			}
		}
	}
}

// contradict ends a round that a result has broken: the node answered, or what
// the round has asked it could not be found out (O1).
func (l *line) contradict(o Outcome, now time.Duration) {
	if o == Up && l.round.phase != idle || o == Unknown && l.round.phase == wantFailure {
		l.round = round{spent: true, from: now}
	}
}

// verdict: the evidence of N2 is whole.
func (m *Machine) verdict(l *line) {
	n := l.node
	l.round = round{spent: true, from: m.now.Boot}
	if l.untold() {
		l.Drill = n.Drill != nil
		for _, p := range n.in {
			if p.stoodIn == n.Name {
				p.stoodIn = ""
			}
		}
		l.Offline = m.node(n, Event{Kind: NodeOffline, Resolves: l.Offline, Drill: l.Drill, Text: m.offlineText(l)})
		m.changed(n.site)
	}
	if l.Word != WordFailing || !l.judged() || !n.site.settled {
		return
	}
	if n.Drill != nil && m.endsDrill(n) {
		m.endDrill(n, "its pool would have no node left", Event{})
		return
	}
	m.judgeBrake()
	if n.heldBack(m) {
		return
	}
	text, first := m.outageText(l), n.wholly()
	l.enter(m, WordOut)
	if l.Outage == 0 {
		l.Outage = m.node(n, Event{Kind: FailoverOutage, Drill: n.Drill != nil, Text: text})
	}
	if first {
		m.countOutage(n)
	}
	l.stopFailing()
	l.forced, n.Entitled = false, false
}

// online tells that a node that was said to be offline answers again.
func (m *Machine) online(l *line) {
	if l.Offline == 0 {
		return
	}
	resolves := l.Offline
	l.Offline = 0
	m.node(l.node, Event{Kind: NodeOnline, Resolves: resolves, Drill: l.Drill, Text: m.onlineText(l)})
	l.Drill = l.Drill && l.Outage != 0
	m.changed(l.node.site)
}
