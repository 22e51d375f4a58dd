package sites

import "fmt"

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

// explainUp says what a line does that is up.
func (m *Machine) explainUp(l *line) string {
	does := "stands by"
	for _, p := range l.node.in {
		if p.Source != Emergency && p.had(l.node) != [families]bool{} {
			does = "serves"
		}
	}
	t := l.name() + " "
	switch {
	case l.Stale != 0:
		return t + does + "."
	case l.recent == None:
		return t + does + " as before the start; it has not been probed since."
	case l.recent == Unknown:
		return t + does + ". Whether it answers could not be found out" + because(l.check) + ", so nothing of it moves."
	case l.recent == Down && l.last != Down:
		return t + does + ". The probe that it has now has never answered, so it keeps its state."
	}
	return t + "answers and " + does + "."
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
	if h == n.Window {
		t += m.untilText(n.site.coveredUntil(n))
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
		return m.explainUp(l)
	case WordPending:
		return m.explainPending(l)
	case WordFailing:
		return m.explainFailing(l)
	case WordOut:
		t := fmt.Sprintf("%s is out of DNS since %s", name, m.clock(l.Since))
		if l.last == Up {
			return t + fmt.Sprintf("; it has answered %d of the %d times in a row that it takes to believe it.", l.row, l.node.cfg.Rise)
		}
		return t + "; it does not answer" + because(l.check) + ". " + m.backAgainText(l)
	case WordRecovering:
		t := fmt.Sprintf("%s answers again since %s", name, m.clock(l.Since))
		switch {
		case l.last == Down:
			return t + ", but its last probe failed" + because(l.check) + ": once " + l.proofName() + " answers, its grace starts anew."
		case l.ready(m.now.Boot):
			return t + " and is ready: `dnsteer failback " + l.node.site.Name + "` puts it back."
		case l.node.allPaused():
			return t + ", but its pools are paused: it stays out until `dnsteer resume " + l.node.site.Name + "`."
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
	for _, n := range s.nodes {
		if n.heir == l.node && l.recent != Up {
			return name + " has a new address (" + l.subject.Addr.String() + ") that does not answer yet: the former one is answered and judged until it does."
		}
	}
	switch {
	case l.recent == None:
		return name + " is new and has not been probed yet."
	case l.recent == Up && !s.settled:
		return name + " is new and answers; it joins once " + l.proofName() + " answers and all of the site has been probed."
	case l.recent == Unknown:
		return name + " is new, and it could not be found out whether it answers."
	default:
		return name + " is new and does not answer yet: it joins when it first does."
	}
}

// explainFailing says what a failing line waits for.
func (m *Machine) explainFailing(l *line) string {
	n, s := l.node, l.node.site
	at, ticking := l.deadline()
	t := fmt.Sprintf("%s has not answered for %s%s.", l.name(), dur(m.now.Boot-l.failStart), because(l.check))
	again := "still does not answer then"
	if l.last == Up {
		t = fmt.Sprintf("%s has answered %d of the %d times in a row that it takes to believe it, after failing.", l.name(), l.row, n.cfg.Rise)
		again = "fails again"
	} else if l.recent == Unknown {
		t += " At the moment it cannot be found out whether it does."
	}
	switch {
	case !l.judged():
		return t + " It stays in DNS all the same: `failover: false`."
	case n.allPaused():
		return t + " Its pools are paused, so it stays in DNS until `dnsteer resume " + s.Name + "`."
	case !ticking && s.Condition == SiteIsDown:
		return t + " Nothing of " + s.Name + " can be seen, so it stays in DNS: our own line is the likeliest cause."
	case !ticking:
		left := max(0, at-max(l.blindSince, l.failStart))
		return t + " " + l.silentText() + ", so its clock stands still and it stays in DNS until that is otherwise (then " + dur(left) + " are left)."
	case s.cfg.NoWitness && at > m.now.Boot:
		return t + " It will be taken out at " + m.clock(m.wallAt(at)) + " if it " + again + "."
	case at > m.now.Boot:
		return t + " It will be taken out at " + m.clock(m.wallAt(at)) + " if it " + again + " and " + l.proofName() + " does."
	default:
		return t + " Its time is over: it is taken out as soon as " + l.proofName() + " has answered, it has failed once more, and " + l.proofName() + " has answered again."
	}
}

// backAgainText says what an out line needs to come back.
func (m *Machine) backAgainText(l *line) string {
	if l.node.cfg.Failback == FailbackManual {
		return "When it does again, it waits for `dnsteer failback " + l.node.site.Name + "`."
	}
	return "It comes back into DNS when it has answered for " + dur(l.node.cfg.Grace) + "."
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
		return name + " cannot be seen since " + since + ". " + m.explainDown(s)
	case s.Condition == SiteResolverDown:
		return "The resolver of " + name + " does not answer since " + since + ", its nodes do: failover of this site is suspended."
	case s.cfg.NoWitness:
		return name + " has no witness: threshold and two failures decide, and a fault of our own line looks like an outage of its nodes."
	case !s.settled:
		return name + " has not been seen since the start: it answers what was answered before, and nothing of it moves."
	}
	if silent, from := s.silence(); silent {
		return fmt.Sprintf("%s: no answer for %s; if that lasts %s its nodes are asked whether the site is there.", s.witnessNames(), dur(m.now.Boot-from), dur(s.cfg.Threshold))
	}
	return name + " is seen."
}

// explainDown says what becomes of a site that cannot be seen (N5).
func (m *Machine) explainDown(s *site) string {
	const left = "Its DNS is left alone: our own line is the likeliest cause."
	switch proof, since := m.provenThroughout(s); {
	case s.FailedOver:
		return "Its emergency site steps in (`on_site_down`); its nodes come back when they have answered for their grace."
	case s.cfg.FailoverAfter == 0 || s.cfg.EmergencySite == "":
		return left
	case !s.settled:
		return left + " (It has not been seen since the start, so its emergency site does not step in.)"
	case s.lineFault:
		return left + " (Another site was lost with it, so its emergency site does not step in.)"
	case proof == "":
		return left + " (No other site proves at the moment that our line works, so its emergency site does not step in.)"
	default:
		return left + " If it alone stays so until " + m.clock(m.wallAt(since+s.cfg.FailoverAfter)) + " while " + proof + " answers, its emergency site steps in."
	}
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
		t += " as a last resort: nothing can serve it, and a node that answers again replaces it at once"
	}
	if p.Paused != nil {
		t += ". It is paused" + m.endText(p.Paused) + ": nothing of it moves by itself"
	}
	if !p.site.settled && p.Source != Empty {
		t += ". " + p.site.Name + " has not been seen since the start: nothing of it moves before"
	}
	if m.horizon(p) < Forever {
		t += ". A change may be near, so its TTL is low"
	}
	return t + "."
}
