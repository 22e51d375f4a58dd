package sites

import (
	"slices"
	"strings"
)

// proofName names what proves the line.
func (l *line) proofName() string {
	s := l.node.site
	var names []string
	for _, w := range s.witnesses {
		if w.family == l.family {
			names = append(names, w.subject.Witness)
		}
	}
	switch {
	case len(names) == 1 && !s.cfg.WitnessNodes:
		return "the " + names[0]
	case len(names) == 0 && s.cfg.WitnessNodes:
		return "another node of the site"
	case s.cfg.WitnessAll:
		return "every witness of the site"
	default:
		return "a witness of the site"
	}
}

// prover is what a site's witnesses are called together.
func (s *site) prover() string {
	for _, w := range s.witnesses {
		if strings.HasPrefix(w.subject.Witness, "resolver") {
			return "resolver"
		}
	}
	return "witness"
}

// silentText says that what proves the line does not answer.
func (l *line) silentText() string {
	switch t := l.proofName(); t {
	case "another node of the site":
		return "No other node of the site answers either"
	case "every witness of the site":
		return "Not every witness of the site answers"
	case "a witness of the site":
		return "No witness of the site answers either"
	default:
		t = strings.ToUpper(t[:1]) + t[1:]
		if l.node.site.answersWrong() {
			return t + " does not answer as it should"
		}
		return t + " does not answer either"
	}
}

// witnessNames lists the witnesses of a site.
func (s *site) witnessNames() string {
	var names []string
	for _, w := range s.witnesses {
		names = append(names, w.subject.Witness)
	}
	if s.cfg.WitnessNodes {
		names = append(names, "nodes")
	}
	slices.Sort(names)
	return s.Name + ", " + strings.Join(slices.Compact(names), ", ")
}
