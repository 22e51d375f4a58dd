package sites

import "fmt"

// ExplainNode says in one sentence or two why "site/node" is where it is, and
// what would happen next and when.
func (m *Machine) ExplainNode(name string) string {
	if n := m.findNode(name); n != nil {
		return m.explainNode(n)
	}
	return "There is no node " + name + "."
}

func (m *Machine) explainNode(n *node) string {
	if n.taken() {
		return m.explainTaken(n) + m.explainFigures(n)
	}
	var worst *line
	for _, l := range n.lines {
		if l != nil && (worst == nil || l.Word.worse(worst.Word)) {
			worst = l
		}
	}
	if worst == nil {
		return n.site.Name + "/" + n.Name + " is answered and not judged: its site has no witness in its address family, so no outage can take it out." + m.explainFigures(n)
	}
	t := m.explainDrill(n) + m.explainLine(worst) + m.explainWaiting(n) + m.explainFigures(n)
	if worst.Stale != 0 {
		t += " Its probes have given no result for " + dur(m.now.Boot-max(worst.heard, worst.awaited)) + "; nothing of it moves until they do."
	}
	return t
}

// explainDrill says that a node is in a drill, and what it really answers (C6).
func (m *Machine) explainDrill(n *node) string {
	if n.Drill == nil {
		return ""
	}
	name, truth := n.site.Name+"/"+n.Name, "it does not answer in truth either"
	for _, l := range n.lines {
		if l != nil && l.truth.recent == Up {
			truth = "in truth it answers"
		}
	}
	t := name + " is in a drill"
	if n.Drill.By != "" {
		t += " by " + n.Drill.By
	}
	t += m.endText(n.Drill)
	if n.Drill.Reason != "" {
		t += " (" + n.Drill.Reason + ")"
	}
	return t + ": it is treated as not answering; " + truth + ". `dnsteer drill " + name + " --end` ends that. "
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
	name := n.site.Name + "/" + n.Name
	switch {
	case n.disabled():
		return t + "; it is not probed. `dnsteer enable " + name + "` ends that."
	case n.answers():
		t += "; it answers."
	default:
		t += "; it does not answer" + m.lastCause(n) + "."
	}
	return t + " `dnsteer maintenance " + name + " --end` ends that."
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
		case l.doubted:
			return t + ", and has failed once since: when " + l.proofName() + " answers, its grace starts anew."
		case l.ready(m.now.Boot):
			return t + " and is ready: `dnsteer failback " + l.node.site.Name + "` puts it back."
		case l.node.allPaused():
			return t + ", but its pools are paused: it stays out until `dnsteer resume " + l.node.site.Name + "`."
		}
		t += "; " + m.graceText(l) + "."
		switch {
		case l.node.Quarantine != 0 && l.node.cfg.Failback == FailbackAuto:
			return t + " It is in quarantine, because it has gone out too often: `dnsteer failback " + l.node.site.Name + "` ends that."
		case l.node.heldBack(m):
			return t + " The brake holds it back meanwhile, until fewer nodes fail or `dnsteer release`."
		}
		return t
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
	case !l.judged() && l.recent != Up:
		return name + " is new and has not answered yet; it is answered all the same: `failover: false`."
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
		return t + " It is not taken out for that: `failover: false`." // it may stand by
	case n.allPaused():
		return t + " Its pools are paused, so it stays in DNS until `dnsteer resume " + s.Name + "`."
	case n.heldBack(m):
		return t + " The brake holds it in DNS, because nodes of several sites began to fail at once and the prober is the likeliest cause: until fewer fail, or `dnsteer release`."
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
	switch n := l.node; {
	case n.Drill != nil:
		return "It comes back when the drill ends."
	case n.cfg.Failback == FailbackManual:
		return "When it does again, it waits for `dnsteer failback " + n.site.Name + "`."
	case n.Quarantine != 0:
		return "It is in quarantine, because it has gone out too often: it comes back into DNS when it has answered for " +
			dur(n.grace()) + ", or with `dnsteer failback " + n.site.Name + "` as soon as it answers."
	default:
		return "It comes back into DNS when it has answered for " + dur(n.grace()) + "."
	}
}
