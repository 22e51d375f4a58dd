package sites

import (
	"fmt"
	"strings"
	"time"
)

// ExplainNode says in one sentence or two why "site/node" is where it is, and
// what would happen next and when.
func (m *Machine) ExplainNode(name string) string {
	n := m.findNode(name)
	if n == nil {
		return "There is no node " + name + "."
	}
	if n.taken() {
		return m.explainTaken(n)
	}
	var worst *line
	for _, l := range n.lines {
		if l != nil && (worst == nil || l.Word.worse(worst.Word)) {
			worst = l
		}
	}
	if worst == nil {
		return name + " is answered and not judged: its site has no witness in its address family, so no outage can take it out."
	}
	t := m.explainLine(worst)
	if worst.Stale != 0 {
		t += " Its probes have given no result for " + dur(m.now.Boot-max(worst.heard, worst.awaited)) + "; nothing of it moves until they do."
	}
	return t
}

func (m *Machine) explainTaken(n *node) string {
	h := n.ordered()
	t := n.site.Name + "/" + n.Name + " is "
	if n.disabled() {
		t += "disabled"
	} else {
		t += "in maintenance"
	}
	if h.By != "" {
		t += " by " + h.By
	}
	t += m.endText(h)
	if h.Reason != "" {
		t += " (" + h.Reason + ")"
	}
	if n.disabled() {
		return t + "; it is not probed."
	}
	if n.answers() {
		return t + "; it answers."
	}
	return t + "; it does not answer" + m.lastCause(n) + "."
}

func (m *Machine) lastCause(n *node) string {
	for _, l := range n.lines {
		if l != nil && l.recent == Down {
			return because(l.check)
		}
	}
	return ""
}

func (m *Machine) explainLine(l *line) string {
	name := l.name()
	switch l.Word {
	case WordUp:
		return name + " answers and serves."
	case WordPending:
		return m.explainPending(l)
	case WordFailing:
		return m.explainFailing(l)
	case WordOut:
		t := fmt.Sprintf("%s is out of DNS since %s", name, m.clock(l.Since))
		if l.last == Up {
			return t + fmt.Sprintf("; it has answered %d of the %d times in a row that it takes to believe it.", l.row, l.node.cfg.Rise)
		}
		return t + "; it does not answer" + because(l.check) + "."
	case WordRecovering:
		t := fmt.Sprintf("%s answers again since %s", name, m.clock(l.Since))
		switch {
		case l.last == Down:
			return t + ", but its last probe failed" + because(l.check) + ": once " + l.node.site.proofName() + " answers, its grace starts anew."
		case l.ready(m.now.Boot):
			return t + " and is ready: `dnsteer failback " + l.node.site.Name + "` puts it back."
		case l.node.allPaused():
			return t + ", but its pools are paused."
		}
		return t + "; " + m.graceText(l) + "."
	case WordReturning:
		return name + " comes back into DNS as soon as it answers" + because(l.check) + "."
	default:
		return name + " is " + string(l.Word) + "."
	}
}

func (m *Machine) explainPending(l *line) string {
	name, s := l.name(), l.node.site
	switch {
	case l.recent == None:
		return name + " is new and has not been probed yet."
	case l.recent == Up && !s.settled:
		return name + " is new and answers; it joins once " + s.proofName() + " answers and all of the site has been probed."
	case l.recent == Unknown:
		return name + " is new, and it could not be found out whether it answers."
	default:
		return name + " is new and does not answer yet: it joins when it first does."
	}
}

// explainFailing says what a failing line waits for.
func (m *Machine) explainFailing(l *line) string {
	n, s := l.node, l.node.site
	t := fmt.Sprintf("%s has not answered for %s%s.", l.name(), dur(m.now.Boot-l.failStart), because(l.check))
	if l.last == Up {
		t = fmt.Sprintf("%s has answered %d of the %d times in a row that it takes to believe it, after failing%s.",
			l.name(), l.row, n.cfg.Rise, because(l.check))
	}
	at, ticking := l.deadline()
	switch {
	case !l.judged():
		return t + " It stays in DNS all the same: `failover: false`."
	case n.allPaused():
		return t + " Its pools are paused, so it stays in DNS."
	case !ticking && s.Condition == SiteIsDown:
		return t + " Nothing of " + s.Name + " can be seen, so it stays in DNS: our own line is the likeliest cause."
	case !ticking:
		return t + " " + s.capitalProof() + " does not answer either, so it stays in DNS until that does."
	case s.cfg.NoWitness && at > m.now.Boot:
		return t + " It will be taken out at " + m.clock(m.wallAt(at)) + " if it still does not answer then."
	case at > m.now.Boot:
		return t + " It will be taken out at " + m.clock(m.wallAt(at)) + " if it still does not answer then and " + s.proofName() + " does."
	default:
		return t + " Its time is over; it is taken out as soon as " + s.proofName() + " has answered, it has failed once more, and " + s.proofName() + " has answered again."
	}
}

// proofName names what proves the site's line.
func (s *site) proofName() string {
	switch {
	case len(s.witnesses) == 1 && !s.cfg.WitnessNodes:
		return "the " + s.witnesses[0].subject.Witness
	case len(s.witnesses) == 0 && s.cfg.WitnessNodes:
		return "another node of the site"
	case s.cfg.WitnessAll:
		return "every witness of the site"
	default:
		return "a witness of the site"
	}
}

func (s *site) capitalProof() string {
	t := s.proofName()
	return strings.ToUpper(t[:1]) + t[1:]
}

// ExplainSite says whether a site is seen, and what that means.
func (m *Machine) ExplainSite(name string) string {
	s := m.byName[name]
	if s == nil {
		return "There is no site " + name + "."
	}
	since := m.clock(s.Since)
	switch {
	case m.Isolated != 0:
		return "The controller is cut off. All DNS is left alone until it sees a site again."
	case s.Condition == SiteIsDown:
		return name + " cannot be seen since " + since + ". Its DNS is left alone: our own line is the likeliest cause."
	case s.Condition == SiteResolverDown:
		return "The resolver of " + name + " does not answer since " + since + ", its nodes do: failover of this site is suspended."
	case !s.settled:
		return name + " has not been seen since the start: it answers what was answered before, and nothing of it moves."
	}
	if silent, from := s.silence(); silent {
		return fmt.Sprintf("%s does not answer for %s; if that lasts %s its nodes are asked whether the site is there.", s.capitalProof(), dur(m.now.Boot-from), dur(s.cfg.Threshold))
	}
	return name + " is seen."
}

// ExplainPool says who serves a pool, and why.
func (m *Machine) ExplainPool(id PoolID) string {
	p := m.sites[id.Site].pools[id.Pool]
	t := p.label() + " answers " + m.givesText(p)
	switch p.Source {
	case Own:
		if p.cfg.Mode == ActivePassive {
			t += " (" + p.Active + " is active)"
		}
	case Emergency:
		t += ": no node of its own serves, so " + p.From + " steps in"
		if m.byName[p.From].Condition == SiteIsDown {
			t += " (it cannot be seen at the moment)"
		}
	case LastResort:
		t += " as a last resort: nothing can serve it"
	}
	if p.Paused != nil {
		t += ". It is paused" + m.endText(p.Paused) + ": nothing of it moves by itself"
	}
	if h := m.horizon(p); h < Forever {
		t += ". A change is near (within " + dur(max(h, time.Second)) + "), so its TTL is low"
	}
	return t + "."
}
