package sites

import (
	"fmt"
	"strings"
	"time"
)

// The sentences about pools.

// givesText names what a pool answers.
func (m *Machine) givesText(p *pool) string {
	a := m.Answer(PoolID{p.site.index, p.index})
	var list []string
	for _, x := range a.IPv4 {
		list = append(list, x.String())
	}
	for _, x := range a.IPv6 {
		list = append(list, x.String())
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

func (p *pool) label() string {
	if p.Name == DefaultPool {
		return p.site.Name
	}
	return p.site.Name + "/" + p.Name
}

func (m *Machine) switchText(p *pool, was spoken) string {
	before, after := was.by(), p.spoken().by()
	t := fmt.Sprintf("%s is now served by %s instead of %s, and answers %s.", p.label(), after, before, m.givesText(p))
	if p.Source == Emergency && m.byName[p.From].Condition == SiteIsDown {
		t += " " + p.From + " cannot be seen at the moment (unverified): it is what it last had."
	}
	return t
}

// by names who serves.
func (s spoken) by() string {
	switch {
	case s.from != "":
		return "the emergency site " + s.from
	case s.source == LastResort:
		return "its last resort"
	case s.active != "":
		return s.active
	default:
		return "its own nodes"
	}
}

func (m *Machine) poolOutageText(p *pool) string {
	t := fmt.Sprintf("Nothing can serve %s: no node of it does, and no emergency site can step in. ", p.label())
	if p.Source == Removed {
		return t + "Its records are taken away (on_empty: remove)."
	}
	return t + "As a last resort it answers " + m.givesText(p) + "."
}

func (m *Machine) poolResolvedText(p *pool) string {
	return fmt.Sprintf("%s is served again, by %s, and answers %s.", p.label(), p.spoken().by(), m.givesText(p))
}

func (m *Machine) pausedText(p *pool) string {
	t := p.label() + " is paused" + m.endText(p.Paused) + ": nothing of it moves by itself."
	return t + " `dnsteer resume " + p.label() + "` ends it."
}

// pausedAnewText says what an order to pause means for a pool that was paused.
func (m *Machine) pausedAnewText(name string, h *Hold) string {
	end := m.endText(h)
	if end == "" {
		end = " until it is resumed"
	}
	t := name + " was paused already, and is now paused" + end
	if h.Reason != "" {
		t += " (" + h.Reason + ")"
	}
	return t + "."
}

// The sentences about what operators and windows do.

func (m *Machine) untilText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + m.clock(t)
}

// endText says when a hold ends by itself.
func (m *Machine) endText(h *Hold) string {
	if h.Lasts > 0 {
		return " for " + dur(h.Lasts) + " once the clock is right"
	}
	return m.untilText(h.Until)
}

func (m *Machine) maintenanceText(n *node, h *Hold, until string) string {
	t := fmt.Sprintf("%s/%s is in maintenance", n.site.Name, n.Name)
	if h.By != "" {
		t += " by " + h.By
	}
	t += until
	if h.Reason != "" {
		t += " (" + h.Reason + ")"
	}
	return t + "."
}

func (m *Machine) maintenanceEndText(n *node, why string) string {
	t := fmt.Sprintf("The maintenance of %s/%s has ended", n.site.Name, n.Name)
	if why != "" {
		t += " (" + why + ")"
	}
	return t + "; " + m.returnText(n)
}

func (m *Machine) disabledText(n *node, h *Hold) string {
	t := fmt.Sprintf("%s/%s is disabled", n.site.Name, n.Name)
	if h.By != "" {
		t += " by " + h.By
	}
	t += m.endText(h)
	if h.Reason != "" {
		t += " (" + h.Reason + ")"
	}
	return t + ": it is not probed and not answered."
}

func (m *Machine) enabledText(n *node) string {
	return fmt.Sprintf("%s/%s is enabled again; %s", n.site.Name, n.Name, m.returnText(n))
}

// returnText says what becomes of a node that an operator has put back.
func (m *Machine) returnText(n *node) string {
	switch {
	case n.disabled():
		return "it is still disabled."
	case n.maintained():
		return "it is still in maintenance."
	case !n.cfg.Failover, n.answers():
		return "it is back in DNS."
	default:
		return "it comes back as soon as it answers."
	}
}

// backBy puts a line back by the operator's word (C1).
func (m *Machine) backBy(l *line, c *Command) {
	before := len(m.nodeEvents)
	m.back(l, "manual")
	m.sign(before, c)
}

// sign writes who gave the command, and why, into the nodes' events that follow
// from it (C8).
func (m *Machine) sign(from int, c *Command) {
	for i := from; i < len(m.nodeEvents); i++ {
		m.nodeEvents[i].By, m.nodeEvents[i].Reason = c.By, c.Reason
	}
}
