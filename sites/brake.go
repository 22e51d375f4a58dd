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
// a second while it holds (A10).
func (m *Machine) judgeBrake() {
	if m.cfg.Brake.Percent == 0 {
		if m.Mass != 0 {
			m.endBrake("it is switched off")
		}
		return
	}
	if m.now.Boot == m.braked {
		return
	}
	m.braked = m.now.Boot
	many, sites, total := m.massFailing()
	over := many > 2 && sites >= 2 && many*100 > total*m.cfg.Brake.Percent
	switch {
	case over && m.Mass == 0 && !m.Released:
		m.Mass = m.event(Event{Kind: MassFailure, Text: fmt.Sprintf(
			"%d of %d nodes in %d sites began to fail within %s of each other while their sites' resolvers answer: "+
				"the likeliest cause is the prober itself (a firewall rule, a wrong path, a certificate, a clock). "+
				"Pools in which no node passes its probes are left alone. `dnsteer release` ends that.",
			many, total, sites, dur(m.cfg.Brake.Within))})
		m.storeGlobal()
		m.touchAll()
	case !over && m.Mass != 0:
		m.endBrake("fewer nodes fail now")
	}
	if !over && m.Released {
		m.Released = false
		m.storeGlobal()
	}
}

func (m *Machine) endBrake(why string) {
	m.event(Event{Kind: MassFailureEnded, Resolves: m.Mass, Text: "The brake is off: " + why + "."})
	m.Mass = 0
	m.storeGlobal()
	m.touchAll()
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

// touchAll looks at every site again: what the brake says changes for all.
func (m *Machine) touchAll() {
	for _, s := range m.sites {
		m.dirty(s)
	}
}

// massFailing gives the most nodes that began to fail within the brake's time
// of each other, on lines that are proven, in how many sites they are, and how
// many nodes there are.
func (m *Machine) massFailing() (many, inSites, total int) {
	starts := m.failures[:0]
	for _, s := range m.sites {
		for _, n := range s.nodes {
			if !n.cfg.Failover || n.Replaced || n.taken() {
				continue
			}
			total++
			for _, l := range n.lines {
				if l != nil && l.fails() && !l.blind && n.Drill == nil {
					starts = append(starts, failure{l.failStart, n})
				}
			}
		}
	}
	m.failures = starts
	slices.SortStableFunc(starts, func(a, b failure) int { return cmp.Compare(a.at, b.at) })
	first := 0
	for last := range starts {
		for starts[last].at-starts[first].at > m.cfg.Brake.Within {
			first++
		}
		if n, s := distinct(starts[first : last+1]); n > many {
			many, inSites = n, s
		}
	}
	return many, inSites, total
}

// fails says whether the line does not answer since a time that is known: while
// it is failing, and when it has been taken out for it.
func (l *line) fails() bool {
	return l.last == Down && l.failStart != 0 && (l.Word == WordFailing && l.failing || l.Word == WordOut)
}

// distinct counts the nodes, and their sites, in a list that may hold both
// lines of a node.
func distinct(list []failure) (nodes, inSites int) {
	seen := make(map[*node]struct{}, len(list))
	places := make(map[*site]struct{})
	for _, f := range list {
		seen[f.node] = struct{}{}
		places[f.node.site] = struct{}{}
	}
	return len(seen), len(places)
}

// braked says whether the brake holds the pool: it does while there is a mass
// failure and no node of the pool passes its probes (A10).
func (p *pool) braked(m *Machine) bool {
	if m.Mass == 0 {
		return false
	}
	for _, n := range p.nodes {
		if !n.taken() && n.answers() && n.serves() != [families]bool{} {
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

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
