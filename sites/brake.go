package sites

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// failure is when a node began to fail.
type failure struct {
	at   time.Duration
	node *node
}

// brakeEvery is how often the brake is looked at while it holds.
const brakeEvery = time.Second

// judgeBrake begins and ends the brake. It is called before a verdict, and once
// a second while it holds or is released (A10). Where nothing has begun to fail
// since the last look there is nothing to find.
func (m *Machine) judgeBrake() {
	if m.cfg.Brake.Percent == 0 {
		if m.Mass != 0 {
			m.endBrake("it is switched off")
		}
		if m.Released {
			m.Released = false
			m.storeGlobal()
		}
		return
	}
	if m.lookedAt == m.began && (m.Mass == 0 && !m.Released || m.braked == m.now.Boot) {
		return
	}
	m.braked, m.lookedAt = m.now.Boot, m.began
	f := m.massFailing()
	switch {
	case f.mass && m.Mass == 0 && !m.Released:
		m.Mass = m.event(Event{Kind: MassFailure, Text: fmt.Sprintf(
			"%d of %d nodes in %d sites began to fail within %s of each other while their sites' resolvers answer: "+
				"the likeliest cause is the prober itself (a firewall rule, a wrong path, a certificate, a clock). "+
				"Pools in which no node passes its probes are left alone. `dnsteer release` ends that.",
			f.nodes, f.of, f.sites, dur(m.cfg.Brake.Within))})
		m.storeGlobal()
		m.dirtyAll()
	case !f.mass && m.Mass != 0:
		m.endBrake("fewer nodes fail now")
	case !f.mass && m.Released:
		m.Released = false
		m.storeGlobal()
	}
}

// brakeDue is when the brake is to be looked at next by itself.
func (m *Machine) brakeDue() time.Duration {
	if m.Mass == 0 && !m.Released {
		return Forever
	}
	return m.braked + brakeEvery
}

func (m *Machine) endBrake(why string) {
	m.event(Event{Kind: MassFailureEnded, Resolves: m.Mass, Text: "The brake is off: " + why + "."})
	m.Mass = 0
	m.storeGlobal()
	m.dirtyAll()
	for _, s := range m.sites {
		for _, n := range s.nodes {
			n.again()
		}
	}
}

// again lets the node's failing lines start a round at once, because what held
// them back is over.
func (n *node) again() {
	for _, l := range n.lines {
		if l != nil && l.failing {
			l.round = round{}
		}
	}
}

// massFailure is how many nodes, in how many sites, began to fail within the
// brake's time of each other, of all that have failover.
type massFailure struct {
	nodes, sites, of int
	mass             bool // enough to hold pools
}

// massFailing looks for a mass failure among the nodes that fail on lines that
// are proven (A10). Drills are none.
func (m *Machine) massFailing() (f massFailure) {
	starts, of := m.failing()
	f.of = of
	first, nodes, places := 0, 0, 0
	for _, x := range starts {
		if x.node.begun++; x.node.begun == 1 {
			nodes++
			if x.node.site.begun++; x.node.site.begun == 1 {
				places++
			}
		}
		for ; x.at-starts[first].at > m.cfg.Brake.Within; first++ {
			n := starts[first].node
			if n.begun--; n.begun == 0 {
				nodes--
				if n.site.begun--; n.site.begun == 0 {
					places--
				}
			}
		}
		mass := nodes > 2 && places >= 2 && nodes*100 > f.of*m.cfg.Brake.Percent
		if mass && !f.mass || mass == f.mass && nodes > f.nodes {
			f.nodes, f.sites, f.mass = nodes, places, mass
		}
	}
	return f
}

// failing lists when lines began to fail, the earliest first, and counts the
// nodes with failover.
func (m *Machine) failing() (starts []failure, of int) {
	starts = m.failures[:0]
	held := m.Mass != 0 || m.Released // a witness that is silent for a moment ends neither
	for _, s := range m.sites {
		for _, n := range s.nodes {
			n.begun = 0
			if !n.cfg.Failover {
				continue
			}
			if !n.Replaced {
				of++
			}
			// A former incarnation begins none, and what it was part of goes on.
			if n.taken() || n.Drill != nil || n.Replaced && !held {
				continue
			}
			for _, l := range n.lines {
				if l != nil && l.fails() && (l.provenLately(m.now.Boot) || held && s.Condition != SiteIsDown) {
					starts = append(starts, failure{l.failStart, n})
				}
			}
		}
		s.begun = 0
	}
	m.failures = starts
	slices.SortStableFunc(starts, func(a, b failure) int { return cmp.Compare(a.at, b.at) })
	return starts, of
}

// provenLately says whether the witnesses of a failing line answer, or did after it had
// begun to fail and have been silent for less time than says anything of the site (N3):
// one lost question must not hide a mass failure.
func (l *line) provenLately(now time.Duration) bool {
	c := l.node.site.cfg
	return !l.blind || l.blindSince-l.failStart > c.Interval && now-l.blindSince < c.Threshold
}

// fails says whether the line fails since a time that is known: while it is
// failing, and when it has been taken out for it.
func (l *line) fails() bool {
	return l.failStart != 0 && (l.Word == WordFailing && l.failing || l.Word == WordOut)
}

// braked says whether the brake holds the pool: it does while there is a mass
// failure and no node of the pool passes its probes (A10).
func (p *pool) braked(m *Machine) bool {
	if m.Mass == 0 {
		return false
	}
	for _, n := range p.nodes {
		if n.passes() {
			return false
		}
	}
	return true
}

// release ends the brake by the operator's word, until the share has dropped.
func (m *Machine) releaseBrake(c *Command) Reply {
	if m.Mass == 0 {
		return refuse("Refused: there is no mass failure, and no brake to release.")
	}
	m.Released = true
	m.endBrake("released by " + orElse(c.By, "the operator"))
	return Reply{Text: "The brake is released: nodes that do not answer are taken out once their sites' resolvers prove the line."}
}

// passes says whether the node passes its probes on a line, be it in
// maintenance or in a drill: then it is not the prober.
func (n *node) passes() bool {
	for _, l := range n.lines {
		if l != nil && !n.disabled() && l.truly().answers() {
			return true
		}
	}
	return false
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
