package sites

import (
	"fmt"
	"strings"
	"time"
)

// unproven tells once of lines that cannot be judged because what must prove them
// does not answer, while the site is seen by others of its witnesses, and of the end
// of that (N14): the only witness of a family, or one of those that all must answer.
func (m *Machine) unproven(s *site) {
	for f := range Family(families) {
		broken, since := s.disproven(f)
		switch {
		case s.Unproven[f] == 0 && broken && s.Condition == SiteIsUp && s.witnessed() && m.Isolated == 0 &&
			m.now.Boot-since >= s.cfg.Threshold:
			s.Unproven[f] = m.site(s, Event{Kind: Unjudged, Text: m.unprovenText(s, f, since)})
			m.changed(s)
		case s.Unproven[f] != 0 && !broken && s.isProven(f):
			m.site(s, Event{Kind: Judged, Resolves: s.Unproven[f], Text: s.familyName(f) + " can be judged again."})
			s.Unproven[f] = 0
			m.changed(s)
		}
	}
}

// disproven says whether no node's line of a family is proven, because witnesses
// fail, and since when that can be counted.
func (s *site) disproven(f Family) (broken bool, since time.Duration) {
	since = s.quietFrom
	for _, n := range s.nodes {
		switch l := n.lines[f]; {
		case l == nil || n.disabled():
		case !l.blind:
			return false, 0
		default:
			broken, since = true, max(since, l.blindSince)
		}
	}
	return broken, since
}

// isProven says whether a line of a family is proven, or none is left.
func (s *site) isProven(f Family) bool {
	if s.cfg.NoWitness {
		return true
	}
	some := false
	for _, n := range s.nodes {
		if l := n.lines[f]; l != nil && !n.disabled() {
			if s.proof(l).works {
				return true
			}
			some = true
		}
	}
	return !some
}

// explainUnproven says which lines of a site are not proven; "" for none.
func (m *Machine) explainUnproven(s *site) string {
	for f := range Family(families) {
		if s.Unproven[f] == 0 {
			continue
		}
		if broken, since := s.disproven(f); broken {
			return m.unprovenText(s, f, since)
		}
		return s.familyName(f) + " could not be judged before the start, for want of an answer of its witnesses, and nothing is known of them since."
	}
	return ""
}

func (m *Machine) unprovenText(s *site, f Family, since time.Duration) string {
	return fmt.Sprintf("%s cannot be judged since %s: %s. Nothing of it moves by an outage until that is otherwise.",
		s.familyName(f), m.clock(m.wallAt(since)), s.whatFails(f))
}

// whatFails names the witnesses of a family that do not answer.
func (s *site) whatFails(f Family) string {
	var names []string
	others := s.cfg.WitnessNodes
	for _, w := range s.witnesses {
		switch {
		case w.family != f:
		case w.last == Down:
			names = append(names, "the "+w.subject.Witness+because(w.check))
		default:
			others = others && s.cfg.WitnessAll
		}
	}
	if others && !s.nodesProve(f) {
		names = append(names, "its other nodes")
	}
	text := "no answer of " + strings.Join(names, ", ")
	if len(names) == 0 {
		text = "what must prove it has not answered since"
	}
	if s.cfg.WitnessAll {
		text += ", and every witness must answer"
	}
	return text
}

// nodesProve says whether a node of a family answers, as witness of another.
func (s *site) nodesProve(f Family) bool {
	for _, n := range s.nodes {
		if l := n.lines[f]; l != nil && !n.disabled() && l.truly().last == Up {
			return true
		}
	}
	return false
}
