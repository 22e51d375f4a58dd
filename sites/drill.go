package sites

import "fmt"

// drilled turns what a node in a drill has answered into the failure that the
// drill pretends (C6). What really came is kept for the drill's end.
func (l *line) drilled(o Outcome) Outcome {
	l.real = o
	if l.node.Drill != nil && o == Up {
		return Down
	}
	return o
}

// drillCheck is what the node's failure in a drill is called.
func drillCheck() Check { return Check{Outcome: Down, Cause: "drill", Text: "drill"} }

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
		return refuse("Refused: %s/%s is %s, so there is nothing to drill.", s.Name, n.Name, n.word())
	case !n.cfg.Failover:
		return refuse("Refused: %s/%s has `failover: false`, so no outage moves it.", s.Name, n.Name)
	case n.Drill != nil:
		return refuse("Refused: there is a drill of %s/%s already%s.", s.Name, n.Name, m.untilText(n.Drill.Until))
	}
	if why := m.wouldEmpty(s, nodes); why != "" && !c.Force {
		return refuse("Refused: %s. Give the site an emergency_site, wait until another node answers, or use --force.", why)
	}
	h := &Hold{By: c.By, Reason: c.Reason, Since: m.now.Wall}
	h.last(c.For, m.now)
	text := fmt.Sprintf("Drill: %s/%s is treated as not answering%s%s. It is taken out of DNS as in an outage.",
		s.Name, n.Name, m.untilText(h.Until), by(c))
	n.Drill = h
	h.Event = m.node(n, Event{Kind: DrillStarted, By: c.By, Reason: c.Reason, Text: text})
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

// endDrill ends a drill: the node is back without grace if it really answers,
// and comes back when it first does if not (C6).
func (m *Machine) endDrill(n *node, why string) {
	h := n.Drill
	if h == nil {
		return
	}
	n.Drill = nil
	m.node(n, Event{
		Kind: DrillEnded, Resolves: h.Event, Drill: true,
		Text: fmt.Sprintf("The drill of %s/%s has ended (%s).", n.site.Name, n.Name, why),
	})
	m.changed(n.site)
	for _, l := range n.lines {
		if l == nil || l.last != Down || l.check.Cause != drillCheck().Cause {
			continue
		}
		was := l.Word
		l.stopFailing()
		l.free = m.now.Boot
		l.recent, l.last, l.row, l.rowStart = l.real, l.real, 1, l.start
		if l.real == Up {
			l.upStart, l.upFinish = l.start, l.finish
		}
		switch {
		case l.real == Up && was != WordUp:
			m.back(l, "drill")
			m.online(l)
		case was != WordUp && was != WordFailing:
			l.enter(m, WordReturning)
		}
	}
}

// spare ends the drill of a node whose pool has lost its other nodes by a real
// outage (C6). A drill that was begun with nothing but an emergency site behind
// it goes on: it is that which it exercises.
func (m *Machine) spare(p *pool) {
	real := false
	for _, n := range p.nodes {
		if w := n.measured(); n.Drill == nil && !n.taken() && (w == WordOut || w == WordFailing) {
			real = true
		}
	}
	for _, n := range p.nodes {
		if real && n.Drill != nil {
			m.endDrill(n, "its pool would have no node left")
		}
	}
}

// endDrills ends the drills of nodes by the operator's word.
func (m *Machine) endDrills(s *site, nodes []*node, c *Command) Reply {
	ended := false
	for _, n := range nodes {
		if n.Drill != nil {
			m.endDrill(n, "ended by "+orElse(c.By, "the operator"))
			ended = true
		}
	}
	if !ended {
		return refuse("Refused: there is no drill at %s.", s.Name)
	}
	return Reply{Text: "The drill has ended."}
}
