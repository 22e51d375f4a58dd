package sites

import (
	"fmt"
	"slices"
	"strings"
)

// failback puts back what answers, now (C1).
func (m *Machine) failback(s *site, c *Command) Reply {
	var back, left, resumed []string
	for _, n := range s.nodes {
		if n.taken() {
			continue
		}
		for _, l := range n.lines {
			if l == nil || l.Word != WordOut && l.Word != WordRecovering {
				continue
			}
			if !l.answers() && !c.Force {
				left = appendNew(left, n.Name)
				continue
			}
			n.Entitled = true
			l.free, l.forced = m.now.Boot, !l.answers()
			m.backBy(l, c)
			m.clearQuarantine(n, c)
			back = appendNew(back, n.Name)
		}
	}
	if len(back) > 0 {
		s.downAt = m.now.Boot // what was put back in a site that is down has its whole time (N5)
	}
	for _, p := range s.pools {
		if p.Paused != nil && p.Paused.Switch {
			m.resume(p, c.Reason, c.By)
			resumed = append(resumed, p.label())
		}
		m.failbackPool(p)
		p.freed = m.steps
	}
	var said []string
	if len(back) > 0 {
		said = append(said, fmt.Sprintf("Put back: %s.", strings.Join(back, ", ")))
	}
	if len(left) > 0 {
		said = append(said, fmt.Sprintf("Left out, because they do not answer: %s (--force puts them back all the same).", strings.Join(left, ", ")))
	}
	if len(resumed) > 0 {
		said = append(said, fmt.Sprintf("The pause since the switch is ended: %s moves by itself again.", strings.Join(resumed, ", ")))
	}
	if len(said) == 0 {
		said = append(said, "No node of "+s.Name+" is out by an outage.")
	}
	return Reply{Text: strings.Join(said, " ")}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// failbackPool makes the first node in order that is up and answers the active
// one, paused or not (C1, C3).
func (m *Machine) failbackPool(p *pool) {
	if p.cfg.Mode != ActivePassive {
		return
	}
	for _, n := range p.nodes {
		if n.steady() {
			n.Entitled = true
			if p.Active != n.Name {
				p.Since = m.now.Wall
			}
			p.Active, p.activeSince = n.Name, m.now.Boot
			p.Members = []Member{n.member(n.serves())}
			m.changed(p.site)
			return
		}
	}
}
