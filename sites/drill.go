package sites

import (
	"fmt"
	"time"
)

// pretend turns what a node in a drill has answered into the failure that the
// drill is about (C6). What really came is kept for the drill's end.
func (l *line) pretend(o Outcome, res *Result, spoke time.Duration, learnt uint64) Outcome {
	if l.node.Drill == nil {
		return o
	}
	l.truth.check, l.truth.lack, l.truth.silent = l.check, l.lack, l.silent
	l.truth.take(o, res, spoke, learnt)
	if o == Up {
		l.check = Check{Outcome: Down, Cause: "drill", Text: "drill"}
		return Down
	}
	return o
}

// truly gives what the node has really answered, in a drill too: what is proof
// of a line or of a site goes by that.
func (l *line) truly() *record {
	if l.node.Drill != nil {
		return &l.truth
	}
	return &l.record
}

// startDrill treats a node as not answering, so that the real path is
// exercised (C6).
func (m *Machine) startDrill(s *site, nodes []*node, c *Command) Reply {
	switch {
	case c.Node == "":
		return refuse("Name the node to drill: %s.", s.nodeNames())
	case c.For <= 0:
		return refuse("Refused: say for how long, for example --for 5m.")
	}
	n := nodes[0]
	switch {
	case n.taken():
		return refuse("Refused: %s/%s %s, so there is nothing to drill.", s.Name, n.Name, n.outText())
	case !n.cfg.Failover:
		return refuse("Refused: %s/%s has `failover: false`, so no outage moves it.", s.Name, n.Name)
	case n.unjudged():
		return refuse("Refused: %s/%s is not judged, because its site has no witness in its address family, so no outage moves it.", s.Name, n.Name)
	case n.Drill != nil:
		return refuse("Refused: there is a drill of %s/%s already%s.", s.Name, n.Name, m.endText(n.Drill))
	case n.word() != WordUp:
		return refuse("Refused: %s/%s is %s, so there is nothing to drill.", s.Name, n.Name, n.word())
	case !n.answers():
		return refuse("Refused: %s/%s does not answer%s, so there is nothing to drill.", s.Name, n.Name, m.lastCause(n))
	}
	if why := m.wouldEmpty(s, nodes); why != "" && !c.Force {
		return refuseEmpty(s, why)
	}
	h := &Hold{By: c.By, Reason: c.Reason, Since: m.now.Wall}
	h.last(c.For, m.now)
	text := fmt.Sprintf("Drill: %s/%s is treated as not answering%s%s. It is taken out of DNS as in an outage.",
		s.Name, n.Name, m.endText(h), by(c))
	for _, l := range n.lines {
		if l != nil {
			l.truth = l.record
		}
	}
	n.Drill = h
	h.Event = m.node(n, Event{Kind: DrillStarted, Drill: true, By: c.By, Reason: c.Reason, Text: text})
	m.changed(s)
	return Reply{Text: text}
}

func by(c *Command) string {
	t := ""
	if c.By != "" {
		t = " by " + c.By
	}
	if c.Reason != "" {
		t += " (" + c.Reason + ")"
	}
	return t
}

// endDrill ends a drill: what the node has really answered counts again. It is
// back without grace if it answers, and with its first answer if not (C6).
func (m *Machine) endDrill(n *node, why string, e Event) {
	h := n.Drill
	if h == nil {
		return
	}
	n.Drill, n.drilled = nil, m.steps
	e.Kind, e.Resolves, e.Drill = DrillEnded, h.Event, true
	e.Text = fmt.Sprintf("The drill of %s/%s has ended (%s).", n.site.Name, n.Name, why)
	m.node(n, e)
	m.changed(n.site)
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		l.adopt(&l.truth)
		l.truth = record{}
		l.stopFailing()
		switch {
		case l.Word == WordFailing && l.last == Down:
			l.startFailing(l.rowStart)
			m.began++
		case l.Word == WordFailing:
			l.enter(m, WordUp)
		case l.Word == WordOut && l.answers() && n.site.settled:
			m.back(l, "drill")
		case l.Word == WordOut:
			l.enter(m, WordReturning)
		}
	}
}

// endsDrill says whether the drill must end in place of the node going out: a
// pool of it would lose its last node that serves, and nothing could step in, or
// it would be for a real outage of the others (C6). A drill that was begun with
// nothing but an emergency site behind it goes on: it is that which it
// exercises.
func (m *Machine) endsDrill(n *node) bool {
	if m.wouldEmpty(n.site, []*node{n}) != "" {
		return true
	}
	for _, p := range n.in {
		others := false
		for _, x := range p.nodes {
			others = others || x != n && (x.serving() || x.canStepIn())
		}
		if !others && p.inOutage() {
			return true
		}
	}
	return false
}

// inOutage says whether a node of the pool fails that is in no drill.
func (p *pool) inOutage() bool {
	for _, n := range p.nodes {
		if w := n.measured(); n.Drill == nil && !n.taken() && (w == WordOut || w == WordFailing) {
			return true
		}
	}
	return false
}

// spare ends the drills in a pool that has lost its last node that serves, be it
// by a real outage, by an operator, or because no emergency site steps in any
// more (C6).
func (m *Machine) spare(p *pool) {
	end := p.inOutage() || m.emergency(p) == nil
	for _, x := range p.Members {
		n := p.find(x.Node, x.Replaced)
		end = end || p.Source == Own && (n == nil || n.Drill == nil)
	}
	if !end {
		return
	}
	for _, n := range p.nodes {
		m.endDrill(n, "its pool would have no node left", Event{})
	}
}

// endDrills ends the drills of nodes by the operator's word.
func (m *Machine) endDrills(s *site, nodes []*node, c *Command) Reply {
	ended := false
	for _, n := range nodes {
		if n.Drill != nil {
			m.endDrill(n, "ended by "+orElse(c.By, "the operator"), Event{By: c.By, Reason: c.Reason})
			ended = true
		}
	}
	if !ended {
		return refuse("Refused: there is no drill at %s.", s.Name)
	}
	return Reply{Text: "The drill has ended."}
}

// byDrill says whether a pool has moved for a drill: away from a node in one, or
// back when it is over.
func (m *Machine) byDrill(p *pool, was, is spoken) bool {
	began := func(n *node) bool { return n.Drill != nil }
	over := func(n *node) bool { return n.drilled == m.steps }
	if was.from == is.from {
		return p.any(was.active, began) || p.any(is.active, over) || p.stoodIn != "" && p.stoodIn == is.active
	}
	if is.source == Own {
		return p.any("", over)
	}
	if was.source == Own {
		return p.any("", began)
	}
	for _, from := range [...]string{was.from, is.from} {
		if x := m.byName[from]; x != nil && (p.stand(x).any("", began) || p.stand(x).any("", over)) {
			return true
		}
	}
	return false
}

// any says whether a node of the pool, or the one that is named, is as asked.
func (p *pool) any(name string, is func(*node) bool) bool {
	for _, n := range p.nodes {
		if (name == "" || n.Name == name) && is(n) {
			return true
		}
	}
	return false
}
