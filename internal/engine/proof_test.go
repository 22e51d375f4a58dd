package engine_test

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// lacks says what is missing of the evidence that takes a node out now (N2);
// it is empty when nothing is.
func (g *ledger) lacks(w *world, s *sites.Site, n *sites.Node, f sites.Family, addr netip.Addr, disabled func(string) bool, drill bool) string {
	t := g.tracks[sites.Subject{Site: s.Name, Node: n.Name, Addr: addr}]
	if t == nil || len(t.counted) < 2 {
		return "two results"
	}
	h := seen(t.counted, drill)
	if h[len(h)-1].outcome != sites.Down || h[len(h)-2].outcome != sites.Down {
		return "two failures in a row"
	}
	name := s.Name + "/" + n.Name
	subject := sites.Subject{Site: s.Name, Node: n.Name, Addr: addr}
	since := max(failingSince(h, g.rise[name], g.carried[subject]), g.all, g.sites[s.Name], g.nodes[name])
	deadline := since + n.Threshold
	for _, b := range g.blind[line{s.Name, n.Name, f}] {
		if b.to == 0 {
			if !s.NoWitness {
				return "a line that works"
			}
			continue
		}
		if b.to > since && !s.NoWitness {
			deadline += max(0, b.to-max(b.from, since))
		}
	}
	if w.now < deadline {
		return fmt.Sprintf("its time: the deadline is at %s (failing since %s)", deadline-time.Hour, since-time.Hour)
	}
	if s.NoWitness {
		return ""
	}
	list := g.members(s, n.Name, f, disabled, true)
	proof, ok := g.proven(list, s.WitnessAll, deadline)
	if !ok {
		return fmt.Sprintf("a witness that answers after the deadline %s", deadline-time.Hour)
	}
	for i := len(h) - 1; i >= 0 && h[i].outcome == sites.Down; i-- {
		if h[i].start < proof {
			break
		}
		if _, ok := g.proven(list, s.WitnessAll, h[i].finish); ok {
			return ""
		}
	}
	return fmt.Sprintf("a whole round after %s", proof-time.Hour)
}

// failingSince is when the failures that have not been refuted began (N1, O4).
func failingSince(h []heard, rise int, failing bool) (since time.Duration) {
	ups := 0
	for _, x := range h {
		if x.outcome == sites.Up {
			if ups++; ups >= rise {
				failing = false
			}
			continue
		}
		ups = 0
		if !failing {
			failing, since = true, x.start
		}
	}
	return since
}

// proven says whether a line was proven by probes that started at or after t,
// and when that was first known.
func (g *ledger) proven(list [][]sites.Subject, all bool, t time.Duration) (time.Duration, bool) {
	var when []time.Duration
	for _, m := range list {
		first := time.Duration(-1)
		for _, subject := range m {
			tr := g.tracks[subject]
			if tr == nil {
				tr = g.left[subject]
			}
			if tr == nil {
				continue
			}
			for _, h := range tr.counted {
				if h.outcome == sites.Up && h.start >= t && (first < 0 || h.finish < first) {
					first = h.finish
				}
			}
		}
		if first >= 0 {
			when = append(when, first)
		}
	}
	switch {
	case len(when) == 0 || all && len(when) < len(list):
		return 0, false
	case all:
		return slices.Max(when), true
	default:
		return slices.Min(when), true
	}
}
