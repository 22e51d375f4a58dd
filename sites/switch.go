package sites

import "fmt"

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
		return refuse("Refused: %s/%s is %s. End that first.", s.Name, n.Name, n.word())
	case !n.answers() && !c.Force:
		return refuse("Refused: %s/%s does not answer%s. Use --force to switch to it all the same.", s.Name, n.Name, m.lastCause(n))
	}
	for _, l := range n.lines {
		if l != nil && l.Word != WordUp && l.Word != WordFailing {
			m.backBy(l, c)
		}
	}
	m.pause(p, c)
	p.Paused.Switch = true
	p.Source, p.From, p.Active, p.activeSince = Own, "", n.Name, m.now.Boot
	p.Members = []Member{n.member(n.serves())}
	p.Since = m.now.Wall
	m.changed(s)
	return Reply{Text: fmt.Sprintf("%s is now served by %s. The pool is paused%s: nothing of it moves by itself. `dnsteer resume %s` ends that.",
		p.label(), n.Name, m.untilText(p.Paused.Until), p.label())}
}

// pause stops the moves of a pool.
func (m *Machine) pause(p *pool, c *Command) {
	h := &Hold{By: c.By, Reason: c.Reason, Since: m.now.Wall}
	h.last(c.For, m.now)
	p.Paused = h
	h.Event = m.poolEvent(p, Event{Kind: Paused, By: c.By, Reason: c.Reason, Text: m.pausedText(p)})
	m.changed(p.site)
}

// holdBack tells once that a pause holds back a move that an outage asks for
// (C2).
func (m *Machine) holdBack(p *pool, why string) {
	if p.Held != 0 {
		return
	}
	p.Held = m.poolEvent(p, Event{Kind: MoveHeld, Text: fmt.Sprintf(
		"%s would move, because %s, but it is paused%s and still answers %s. `dnsteer resume %s` lets it move.",
		p.label(), why, m.untilText(p.Paused.Until), m.givesText(p), p.label())})
	m.changed(p.site)
}

// endHeld tells that no move is held back any more.
func (m *Machine) endHeld(p *pool, why string) {
	if p.Held == 0 {
		return
	}
	m.poolEvent(p, Event{Kind: MoveHeldEnded, Resolves: p.Held, Text: "No move of " + p.label() + " is held back any more: " + why + "."})
	p.Held = 0
	m.changed(p.site)
}

// judgeHeld looks for a move that the pause of a pool holds back: a member that
// no longer serves, or one that has failed for its whole time.
func (m *Machine) judgeHeld(p *pool) {
	if p.Paused == nil {
		return
	}
	waits := false
	for _, x := range p.Members {
		n := p.find(x.Node, x.Replaced)
		switch {
		case n == nil || n.taken():
		case n.serves() == [families]bool{}:
			m.holdBack(p, n.site.Name+"/"+n.Name+" is out")
			return
		default:
			waits = waits || n.overdue()
		}
	}
	if !waits {
		m.endHeld(p, "its nodes answer again")
	}
}

// overdue says whether a line of the node has failed for its whole time and
// would be out if nothing held it back.
func (n *node) overdue() bool {
	for _, l := range n.lines {
		if l != nil && l.judged() && l.Word == WordFailing && l.Offline != 0 {
			return true
		}
	}
	return false
}
