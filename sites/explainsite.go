package sites

import "fmt"

// ExplainSite says whether a site is seen, and what that means.
func (m *Machine) ExplainSite(name string) string {
	s := m.byName[name]
	if s == nil {
		return "There is no site " + name + "."
	}
	since := m.clock(s.Since)
	switch {
	case m.Isolated != 0:
		return "The controller is cut off. " + leftAlone
	case s.Condition == SiteIsDown:
		return name + " cannot be seen since " + since + ". " + m.explainDown(s)
	case s.Condition == SiteResolverDown:
		if s.answersWrong() {
			return "The resolver of " + name + " gives wrong answers since " + since + s.witnessCause() + ": failover of this site is suspended."
		}
		return "The " + s.prover() + " of " + name + " does not answer since " + since + ", its nodes do: failover of this site is suspended."
	case s.Unjudged != [families]uint64{}:
		return m.explainUnjudged(s)
	case s.Unproven != [families]uint64{}:
		return m.explainUnproven(s)
	case s.cfg.NoWitness:
		return name + " has no witness: threshold and two failures decide, and a fault of our own line looks like an outage of its nodes."
	case !s.settled:
		return name + " has not been seen since the start: it answers what was answered before, and nothing of it moves."
	}
	if silent, from := s.silence(); silent {
		what := "no answer"
		if s.answersWrong() {
			what = "no right answer"
		}
		return fmt.Sprintf("%s: %s for %s; if that lasts %s its nodes are asked whether the site is there.", s.witnessNames(), what, dur(m.now.Boot-from), dur(s.cfg.Threshold))
	}
	return name + " is seen."
}

// explainDown says what becomes of a site that cannot be seen (N5).
func (m *Machine) explainDown(s *site) string {
	left := s.leftText()
	switch proof, since := m.provenThroughout(s); {
	case s.FailedOver && s.stoodInFor():
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

// stoodInFor says whether an emergency site serves a pool of the site.
func (s *site) stoodInFor() bool {
	for _, p := range s.pools {
		if p.Source == Emergency {
			return true
		}
	}
	return false
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
		if p.any("", (*node).serving) { // a pause, or the guard, keeps it from them
			t += ": " + p.From + " steps in"
		} else {
			t += ": no node of its own serves, so " + p.From + " steps in"
		}
		if m.byName[p.From].Condition == SiteIsDown {
			t += " (it cannot be seen at the moment)"
		}
	case LastResort, Removed:
		t += p.explainNothing()
	case Empty:
	}
	if p.PutOff != nil {
		t += ". " + m.explainPutOff(p)
	}
	if p.Paused != nil {
		t += ". " + m.explainPause(p)
	}
	if p.braked(m) {
		t += ". The brake holds it, because nodes of several sites began to fail at once and the prober is the likeliest cause: until fewer fail, or `dnsteer release`"
	}
	if !p.site.settled && p.Source != Empty {
		t += ". " + p.site.Name + " has not been seen since the start: nothing of it moves before"
	}
	if m.horizon(p) < Forever {
		t += ". A change may be near, so the built-in server's TTL for it is low"
	}
	return t + "."
}

// explainNothing says why nothing can serve a pool, and what ends that (A5).
func (p *pool) explainNothing() string {
	why, until, last := "nothing can serve it", "a node answers again", "and a node that answers again replaces it at once"
	switch how := p.takenText(); {
	case how != "":
		why, until = "all of its nodes are "+how, "one is put back"
		last = "so nothing can serve it until one is put back"
	case p.Paused != nil:
		why, until = "nothing could serve it", until+" and the pause is over"
		last = "and until the pause is over no node that answers again replaces it by itself"
		if p.any("", (*node).canStepIn) {
			last += " (`dnsteer failback " + p.site.Name + "` puts it back)"
		}
	}
	if p.Source == LastResort {
		return " as a last resort: " + why + ", " + last
	}
	return ": " + why + ", and its records are taken away (`on_empty: remove`) until " + until
}

// takenText says how operators and windows have taken all nodes of the pool; "" if
// one is not taken.
func (p *pool) takenText() string {
	maintained, disabled := false, false
	for _, n := range p.nodes {
		switch {
		case n.Replaced:
		case n.disabled():
			disabled = true
		case n.maintained():
			maintained = true
		default:
			return ""
		}
	}
	switch {
	case maintained && disabled:
		return "in maintenance or disabled"
	case maintained:
		return "in maintenance"
	case disabled:
		return "disabled"
	default:
		return ""
	}
}

// explainPause says how a pool came to be paused, what that holds back, and what
// ends it (C2, C3).
func (m *Machine) explainPause(p *pool) string {
	h, t := p.Paused, "It is paused"
	if h.Switch {
		t = "It was switched and is paused"
	}
	if h.By != "" {
		t += " by " + h.By
	}
	t += m.endText(h)
	if h.Reason != "" {
		t += " (" + h.Reason + ")"
	}
	t += ": nothing of it moves by itself"
	if p.Held != 0 {
		t += ", and a move is held back, because its node does not answer"
	}
	return t + "; `dnsteer resume " + p.label() + "` ends that"
}
