package sites

import (
	"fmt"
	"strings"
	"time"
)

// dur writes a duration as people read it: "12s", "5m", "1h20m".
func dur(d time.Duration) string {
	d = max(d, 0)
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// clock writes a moment by the wall clock, with the day if it is another one.
func (m *Machine) clock(t time.Time) string {
	if t.Sub(m.now.Wall).Abs() > 12*time.Hour {
		return t.Format("2006-01-02 15:04:05 MST")
	}
	return t.Format("15:04:05 MST")
}

// wallAt gives the wall clock's reading at a time of the other clock.
func (m *Machine) wallAt(t time.Duration) time.Time { return m.now.Wall.Add(t - m.now.Boot) }

// name is how a line is called: its node, and the family if the node is judged
// in more than one.
func (l *line) name() string {
	n := l.node
	s := n.site.Name + "/" + n.Name
	if n.Replaced {
		s += " (former address " + l.subject.Addr.String() + ")"
	} else if n.lines[0] != nil && n.lines[1] != nil {
		s += " (" + l.family.String() + ")"
	}
	return s
}

func because(c Check) string {
	switch {
	case c.Text != "":
		return " (" + c.Text + ")"
	case c.Cause != "":
		return " (" + c.Cause + ")"
	}
	return ""
}

// evidence names what has proven the line.
func (l *line) evidence() string {
	s := l.node.site
	if s.cfg.NoWitness {
		return "no witness is configured, so the threshold and two failures decide"
	}
	for _, w := range s.witnesses {
		if w.family == l.family && w.last == Up {
			return "the " + w.subject.Witness + " answers"
		}
	}
	return "another node of the site answers"
}

func (m *Machine) offlineText(l *line) string {
	return fmt.Sprintf("%s has not answered for %s%s; %s.", l.name(), dur(m.now.Boot-l.failStart), because(l.check), l.evidence())
}

func (m *Machine) outageText(l *line) string {
	return fmt.Sprintf("%s was taken out of DNS: it has not answered for %s (threshold %s)%s, while %s.",
		l.name(), dur(m.now.Boot-l.failStart), dur(l.node.cfg.Threshold), because(l.check), l.evidence())
}

func (m *Machine) onlineText(l *line) string {
	s := fmt.Sprintf("%s answers again (%d in a row).", l.name(), l.row)
	if l.Word == WordRecovering {
		s = strings.TrimSuffix(s, ".") + "; " + m.graceText(l) + "."
	}
	return s
}

// graceText says when a recovering line comes back.
func (m *Machine) graceText(l *line) string {
	if l.node.cfg.Failback == FailbackManual {
		return "it waits for `dnsteer failback " + l.node.site.Name + "`"
	}
	return "it comes back into DNS at " + m.clock(m.wallAt(l.graceEnd())) + " if it then answers (" + l.graceName() + ")"
}

// graceName says how long a line waits.
func (l *line) graceName() string {
	if l.node.Quarantine != 0 {
		return "quarantine " + dur(l.node.grace())
	}
	return "grace " + dur(l.node.grace())
}

func (l *line) backText(how string, answered time.Duration) string {
	t := l.name() + " is back in DNS: "
	switch how {
	case "waived":
		return t + "its pool has no other node that serves, so the rest of its grace is waived."
	case "manual":
		return t + "put back by the operator."
	case "drill":
		return t + "the drill is over, and it answers."
	case "auto":
		return t + "it has answered for " + dur(answered) + " (" + l.graceName() + ")."
	default:
		return t + "it answers again."
	}
}

func (m *Machine) probeText(l *line, i int, what string) string {
	k := &l.checks[i]
	t := fmt.Sprintf("The probe %q of %s %s", l.node.cfg.Probes[i].Name, l.name(), what)
	if !k.failing {
		return t + "."
	}
	t += ", for " + dur(m.now.Boot-k.failStart) + " now" + because(k.last) + "."
	if !l.Probes[k.key].Answered {
		t += " Until it does it counts for nothing: is its definition right?"
	}
	return t
}

func (m *Machine) staleText(l *line) string {
	return fmt.Sprintf("Nothing has been heard of the probes of %s for %s: nothing of it moves until there is.", l.name(), dur(m.now.Boot-max(l.heard, l.awaited)))
}

// The sentences about sites and the controller.

func (m *Machine) resolverDownText(s *site, since time.Duration) string {
	how, until := "has not answered for %s%s, its nodes do", "it answers"
	if s.answersWrong() {
		how, until = "has given wrong answers for %s%s, its nodes answer", "it gives the right one"
	}
	return fmt.Sprintf("The %s of %s "+how+". Failover of this site is suspended until "+until+".",
		s.prover(), s.Name, dur(m.now.Boot-since), s.witnessCause())
}

func (m *Machine) resolverUpText(s *site, since time.Time) string {
	return fmt.Sprintf("The %s of %s answers as it should again after %s: failover of this site works again.", s.prover(), s.Name, dur(m.now.Wall.Sub(since)))
}

func (m *Machine) siteDownText(s *site) string {
	how := "neither its " + s.prover() + " nor any of its nodes answers"
	switch wrong, nodes := s.answersWrong(), s.anyNodeAnswers(); {
	case len(s.witnesses) == 0:
		how = "none of its nodes answers"
	case nodes && wrong:
		how = "its nodes answer again, but its resolver gives wrong answers"
	case nodes:
		how = "its nodes answer again, but its " + s.prover() + " does not"
	case wrong:
		how = "its resolver gives wrong answers, and none of its nodes answers"
	}
	t := fmt.Sprintf("%s cannot be seen since %s: %s%s. %s", s.Name, m.clock(s.Since), how, s.witnessCause(), s.leftText())
	if s.cfg.FailoverAfter > 0 && s.cfg.EmergencySite != "" {
		t += " If it alone stays so for " + dur(s.cfg.FailoverAfter) + ", its emergency site steps in."
	}
	return t
}

// leftText says what becomes of the DNS of a site that cannot be seen, and why. What
// is ordered goes through all the same (N7, N8), and a site that steps in for it has
// moves of its own: then it is not said to be left alone.
func (s *site) leftText() string {
	moved, stepped := false, ""
	for _, p := range s.pools {
		if p.Source == Emergency {
			stepped = p.From
		}
		moved = moved || p.Source != Empty && p.Since.After(s.Since)
	}
	what, why, until := "Its DNS is left alone", "our own line is the likeliest cause", "its "+s.prover()+" answers as it should"
	if moved || stepped != "" {
		what = "No outage of it moves its DNS"
	}
	t := what + ": " + why + "."
	if s.anyNodeAnswers() {
		t = what + " until " + until + "."
	}
	switch taken := s.takenText(); {
	case moved && taken != "":
		t += " What was ordered has moved it (" + taken + ")."
	case moved:
		t += " What was ordered or configured has moved it since."
	case stepped != "":
		t += " It is what " + stepped + " serves in its place."
	}
	return t
}

// takenText lists the nodes of the site that an order or a window has taken out, and
// how; "" if none is.
func (s *site) takenText() string {
	var disabled, maintained []string
	for _, n := range s.nodes {
		switch {
		case n.Replaced:
		case n.disabled():
			disabled = append(disabled, n.Name)
		case n.maintained():
			maintained = append(maintained, n.Name)
		}
	}
	var list []string
	if len(maintained) > 0 {
		list = append(list, "in maintenance: "+strings.Join(maintained, ", "))
	}
	if len(disabled) > 0 {
		list = append(list, "disabled: "+strings.Join(disabled, ", "))
	}
	return strings.Join(list, "; ")
}

// anyNodeAnswers says whether the last probe of a node of the site came back up.
func (s *site) anyNodeAnswers() bool {
	for _, n := range s.nodes {
		for _, l := range n.lines {
			if l != nil && !n.disabled() && l.truly().recent == Up {
				return true
			}
		}
	}
	return false
}

func (m *Machine) siteUpText(s *site, since time.Time) string {
	t := fmt.Sprintf("%s is seen again after %s.", s.Name, dur(m.now.Wall.Sub(since)))
	if s.FailedOver {
		return t + " Its nodes come back when they have answered for their grace."
	}
	return t + " No outage moved anything of it meanwhile."
}

// answersWrong says whether it is by wrong answers that the site's witnesses
// fail, not by silence.
func (s *site) answersWrong() bool {
	for _, w := range s.witnesses {
		if w.last == Down {
			return w.check.wrong()
		}
	}
	return false
}

func (s *site) witnessCause() string {
	for _, w := range s.witnesses {
		if w.last == Down {
			return because(w.check)
		}
	}
	return ""
}

// leftAlone is what isolation means for DNS (E8, N4).
const leftAlone = "No outage moves anything, and nothing is sent to targets by itself, until it sees a site again."

func (m *Machine) isolatedText() string {
	if len(m.subjects) > 0 && m.unknown == len(m.subjects) {
		return "The controller can ask nothing for reasons of its own (every probe is unknown). " + leftAlone
	}
	return fmt.Sprintf("The controller sees none of its %d sites: it is the one that is cut off. %s", len(m.sites), leftAlone)
}

func (m *Machine) reconnectedText() string {
	var seen []string
	for _, s := range m.sites {
		if s.Condition != SiteIsDown && s.anyAnswers() {
			seen = append(seen, s.Name)
		}
	}
	if len(seen) == 0 {
		return "The controller is not taken to be cut off any more: by the sites that are left that cannot be told. No outage moved anything meanwhile."
	}
	return "The controller is no longer cut off: it sees " + strings.Join(seen, ", ") + ". No outage moved anything meanwhile."
}

func (m *Machine) siteNames() string {
	var names []string
	for _, s := range m.sites {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

func (s *site) nodeNames() string {
	var names []string
	for _, n := range s.nodes {
		names = appendNew(names, n.Name)
	}
	return strings.Join(names, ", ")
}
