package sites

import (
	"fmt"
	"time"
)

// switchTo makes a node the active one of an active_passive pool, and pauses
// the pool (C2).
func (m *Machine) switchTo(s *site, nodes []*node, c *Command) Reply {
	name := c.Pool
	if name == "" {
		name = DefaultPool
	}
	var p *pool
	for _, x := range s.pools {
		if x.Name == name {
			p = x
		}
	}
	switch {
	case p == nil:
		return refuse("Site %s has no pool %q.", s.Name, name)
	case p.cfg.Mode != ActivePassive:
		return refuse("Refused: %s is active_active, so all of its nodes that serve are answered. Use maintenance to take one out.", p.label())
	case c.Node == "":
		return refuse("Name the node to switch to: %s.", s.nodeNames())
	}
	n := nodes[0]
	switch {
	case p.find(n.Name, false) == nil:
		return refuse("Refused: pool %s does not hold %s.", p.label(), n.Name)
	case n.taken():
		return refuse("Refused: %s/%s %s. End that first.", s.Name, n.Name, n.outText())
	case !n.answers() && !n.unjudged() && !c.Force:
		return unforced("Refused: %s/%s does not answer%s. Use --force to switch to it all the same.", s.Name, n.Name, m.lastCause(n))
	}
	for _, l := range n.lines {
		if l == nil || l.Word == WordUp || l.Word == WordFailing || !l.answers() && !c.Force {
			continue
		}
		l.free, l.forced = m.now.Boot, !l.answers()
		m.backBy(l, c)
	}
	for _, x := range p.nodes {
		x.Entitled = x.Entitled && x == n // whoever was to take its place was overruled
	}
	m.pause(p, c)
	p.Paused.Switch = true
	p.Source, p.From, p.Active, p.activeSince = Own, "", n.Name, m.now.Boot
	p.Members = []Member{n.member(n.serves())}
	p.Since = m.now.Wall
	m.changed(s)
	return Reply{Text: fmt.Sprintf("%s is now served by %s. The pool is paused%s: nothing of it moves by itself. `dnsteer resume %s` ends that.",
		p.label(), n.Name, m.endText(p.Paused), p.label())}
}

// pause stops the moves of a pool.
func (m *Machine) pause(p *pool, c *Command) {
	h, before := &Hold{By: c.By, Reason: c.Reason, Since: m.now.Wall}, p.Paused
	h.last(c.For, m.now)
	p.Paused = h
	e := Event{Kind: Paused, By: c.By, Reason: c.Reason, Text: m.pausedText(p)}
	if before != nil {
		e.Resolves, e.Anew = before.Event, true
	}
	h.Event = m.poolEvent(p, e)
	m.changed(p.site)
}

// judgeHeld tells once of a move that the pause of a pool holds back, and of its
// end: a member that no longer serves, or one that has failed for its whole time
// (C2), or a site that has been down for so long that another would stand in (N5).
func (m *Machine) judgeHeld(p *pool) {
	s := p.site
	p.due = p.due && p.Paused != nil && s.Condition == SiteIsDown
	switch {
	case p.Paused == nil:
		return
	case p.Source == Own && s.Condition == SiteIsDown && (p.due || p.Held != 0):
		m.holdBack(p, nil, "all of "+s.Name+" has been down for "+dur(m.now.Boot-s.lostAt))
		return
	default:
	}
	for _, x := range p.Members {
		n := p.find(x.Node, x.Replaced)
		switch {
		case n == nil || n.taken() || p.Source != Own:
		case !n.serving():
			m.holdBack(p, n, n.site.Name+"/"+n.Name+" is out")
			return
		case n.overdue(m.now.Boot, p.Held != 0):
			m.holdBack(p, n, n.site.Name+"/"+n.Name+" does not answer")
			return
		}
	}
	why := "its nodes answer again"
	switch {
	case p.Source != Own:
		why = "its nodes do not serve it any more"
	case p.any("", func(n *node) bool { return n.drilled == m.steps && !n.answers() }):
		why = drillOver
	}
	m.endHeld(p, why)
}

// drillOver is why a move is not held back any more that was one of a drill.
const drillOver = "the drill is over"

// holdBack tells of a move that is held back because of a node, or of the whole site
// (nil). What was told as part of a drill is told as what it is when that is over.
func (m *Machine) holdBack(p *pool, n *node, why string) {
	if p.Held != 0 {
		if n == nil || n.drilled != m.steps {
			return
		}
		m.endHeld(p, drillOver)
	}
	p.Held = m.poolEvent(p, Event{Kind: MoveHeld, Drill: n != nil && n.Drill != nil, Text: fmt.Sprintf(
		"%s would move, because %s, but it is paused%s and still answers %s. `dnsteer resume %s` lets it move.",
		p.label(), why, m.endText(p.Paused), m.givesText(p), p.label())})
	m.changed(p.site)
}

// endHeld tells that no move is held back any more.
func (m *Machine) endHeld(p *pool, why string) {
	if p.Held == 0 {
		return
	}
	drill := p.any("", func(n *node) bool { return n.drilled == m.steps })
	m.poolEvent(p, Event{
		Kind: MoveHeldEnded, Resolves: p.Held, Drill: drill,
		Text: "No move of " + p.label() + " is held back any more: " + why + ".",
	})
	p.Held = 0
	m.changed(p.site)
}

// overdue says whether a line of the node has failed for its whole time and
// would be out if nothing held it back; once that was told, until it answers.
func (n *node) overdue(now time.Duration, told bool) bool {
	for _, l := range n.lines {
		if l != nil && l.judged() && l.Word == WordFailing && !l.untold() && (told || l.overdue(now)) {
			return true
		}
	}
	return false
}
