package sites

import (
	"fmt"
	"strings"
)

// command carries out what an operator says, or refuses it (C1 to C8).
func (m *Machine) command(c *Command) Reply {
	if c.Site == "" {
		return m.everywhere(c)
	}
	s := m.byName[c.Site]
	if s == nil {
		return refuse("There is no site %q. The sites are %s.", c.Site, m.siteNames())
	}
	var nodes []*node
	for _, n := range s.nodes {
		if c.Node == "" || n.Name == c.Node {
			nodes = append(nodes, n)
		}
	}
	if c.Node != "" && len(nodes) == 0 {
		return refuse("Site %s has no node %q. Its nodes are %s.", s.Name, c.Node, s.nodeNames())
	}
	m.dirty(s)
	switch c.Verb {
	case Maintenance, Disable:
		return m.takeOut(s, nodes, c)
	case MaintenanceEnd, Enable:
		return m.putBack(s, nodes, c)
	case FailbackNow:
		return m.failback(s, c)
	case Pause, Resume:
		return m.pauses(s, c)
	case Switch:
		return m.switchTo(s, nodes, c)
	case Drill:
		return m.startDrill(s, nodes, c)
	case DrillEnd:
		return m.endDrills(s, nodes, c)
	case Release:
		return m.releaseBrake(c)
	default:
		return refuse("There is no command %q.", c.Verb)
	}
}

// everywhere carries out a command that names no site.
func (m *Machine) everywhere(c *Command) Reply {
	switch c.Verb {
	case Pause, Resume:
		var said []string
		for _, s := range m.sites {
			one := *c
			one.Site = s.Name
			said = append(said, m.command(&one).Text)
		}
		return Reply{Text: strings.Join(said, " ")}
	case Release:
		return m.releaseBrake(c)
	default:
		return refuse("Name the site.")
	}
}

func refuse(format string, args ...any) Reply {
	return Reply{Refused: true, Text: fmt.Sprintf(format, args...)}
}

// unforced refuses what Force would have had done.
func unforced(format string, args ...any) Reply {
	r := refuse(format, args...)
	r.Forceable = true
	return r
}

// takeOut begins maintenance, or disables (N7, N8), unless that would leave a
// pool without a node (C4).
func (m *Machine) takeOut(s *site, nodes []*node, c *Command) Reply {
	if c.Verb == Disable && c.Node == "" {
		return refuse("Name the node to disable: %s.", s.nodeNames())
	}
	if why := m.wouldEmpty(s, nodes); why != "" && !c.Force {
		return refuseEmpty(s, why)
	}
	hold := Hold{By: c.By, Reason: c.Reason, Since: m.now.Wall}
	hold.last(c.For, m.now)
	var done []string
	for _, n := range nodes {
		h := hold
		e := Event{By: c.By, Reason: c.Reason}
		was := &n.Maintenance
		if c.Verb == Disable {
			was = &n.Disabled
			e.Kind, e.Text = NodeDisabled, m.disabledText(n, &h)
		} else {
			e.Kind, e.Text = FailoverMaintenance, m.maintenanceText(n, &h, m.endText(&h))
		}
		if *was != nil {
			e.Resolves, e.Anew = (*was).Event, true
		}
		*was = &h
		if !n.Replaced {
			h.Event = m.node(n, e)
			done = append(done, e.Text)
		}
		m.take(n)
	}
	m.resubject(c.Verb == Disable)
	return Reply{Text: strings.Join(done, " ")}
}

// putBack ends maintenance, or enables.
func (m *Machine) putBack(s *site, nodes []*node, c *Command) Reply {
	var done []string
	for _, n := range nodes {
		before := n.taken()
		switch {
		case c.Verb == Enable && n.Disabled != nil:
			m.enable(n, c.Reason, c.By)
		case c.Verb == MaintenanceEnd && n.maintained():
			n.WindowSkip, n.WindowEnded = s.coveredUntil(n), m.now.Suspect && n.Window != nil
			m.endMaintenance(n, c.Reason, c.By)
		default:
			continue
		}
		if before && !n.Replaced {
			done = append(done, s.Name+"/"+n.Name+": "+m.returnText(n))
		}
	}
	if len(done) == 0 {
		what := "disabled"
		if c.Verb == MaintenanceEnd {
			what = "in maintenance"
		}
		return refuse("Refused: nothing of %s is %s.", strings.TrimSuffix(s.Name+"/"+c.Node, "/"), what)
	}
	return Reply{Text: strings.Join(done, " ")}
}

// endMaintenance ends the maintenance of an operator and of a window.
func (m *Machine) endMaintenance(n *node, reason, by string) {
	ended, window := n.Maintenance, n.Window
	n.Maintenance, n.Window = nil, nil
	switch {
	case ended == nil:
		ended = window
	case window != nil && !n.Replaced: // each has its own beginning
		m.node(n, Event{
			Kind: FailoverMaintenance, Resolves: window.Event, By: by, Reason: reason,
			Text: n.site.Name + "/" + n.Name + " is no longer in its maintenance window: the command ends that too.",
		})
	}
	m.maintenanceEnded(n, ended, Event{By: by, Reason: reason})
}

// maintenanceEnded tells of it, and lets the node come back unless it is held
// otherwise.
func (m *Machine) maintenanceEnded(n *node, ended *Hold, e Event) {
	if !n.Replaced {
		e.Kind, e.Resolves, e.Text = FailoverMaintenance, ended.Event, m.maintenanceEndText(n, e.Reason)
		m.node(n, e)
	}
	m.changed(n.site)
	m.release(n)
}

// enable ends a disabling: what was found out before and meanwhile counts no
// more, and a probe is asked for at once (N8).
func (m *Machine) enable(n *node, reason, by string) {
	began := n.Disabled.Event
	n.Disabled = nil
	m.changed(n.site)
	for _, l := range n.lines {
		if l != nil {
			l.forget(m.now.Boot)
			for i := range l.checks {
				l.checks[i] = checkClock{key: l.checks[i].key}
			}
			m.ask(l.subject)
		}
	}
	m.resubject(true)
	if !n.Replaced {
		m.node(n, Event{Kind: NodeEnabled, Resolves: began, By: by, Reason: reason, Text: m.enabledText(n)})
	}
	m.release(n)
}

// pauses stops the moves of a site's pools, or lets them go on (C3).
func (m *Machine) pauses(s *site, c *Command) Reply {
	var done []string
	found := false
	for _, p := range s.pools {
		if c.Pool != "" && c.Pool != p.Name {
			continue
		}
		found = true
		name := s.Name + "/" + p.Name
		switch {
		case c.Verb == Pause && p.Paused == nil:
			m.pause(p, c)
			done = append(done, name+" is paused.")
		case c.Verb == Pause:
			switched := p.Paused.Switch
			m.pause(p, c)
			p.Paused.Switch = switched // it stays where it was switched to (C2)
			done = append(done, m.pausedAnewText(name, p.Paused))
		case c.Verb == Resume && p.Paused != nil:
			m.resume(p, c.Reason, c.By)
			done = append(done, name+" goes on.")
		}
	}
	switch {
	case !found:
		return refuse("Site %s has no pool %q.", s.Name, c.Pool)
	case len(done) == 0:
		return Reply{Text: s.Name + " is not paused."}
	}
	return Reply{Text: strings.Join(done, " ")}
}

// resume lets a pool go on: clocks that ran meanwhile count, and a round is
// asked for at once (C3).
func (m *Machine) resume(p *pool, reason, by string) {
	resolves := p.Paused.Event
	m.poolEvent(p, Event{Kind: Resumed, Resolves: resolves, By: by, Reason: reason, Text: p.site.Name + "/" + p.Name + " moves by itself again."})
	p.Paused = nil
	m.endHeld(p, "it is not paused any more")
	m.changed(p.site)
	for _, n := range p.nodes {
		n.again()
	}
}
