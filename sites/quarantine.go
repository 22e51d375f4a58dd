package sites

import (
	"fmt"
	"slices"
	"time"
)

// grace is how long a recovering node waits: its own, or that of a quarantine
// if that is longer (N11).
func (n *node) grace() time.Duration {
	if n.Quarantine != 0 {
		return max(n.cfg.Grace, n.cfg.Quarantine.Hold)
	}
	return n.cfg.Grace
}

// countOutage enters an outage of the node into its history, and begins a
// quarantine with the one that is too many (N11). Drills do not count, nor does
// what happens while the wall clock, by which the history goes, cannot be right
// (O6).
func (m *Machine) countOutage(n *node) {
	q := n.cfg.Quarantine
	if q.Outages == 0 || n.Drill != nil || m.now.Suspect {
		return
	}
	n.Outages = slices.DeleteFunc(n.Outages, func(t time.Time) bool {
		ago := m.now.Wall.Sub(t)
		return ago > q.Within || ago < 0
	})
	n.Outages = append(n.Outages, m.now.Wall)
	if over := len(n.Outages) - q.Outages; over > 0 {
		n.Outages = slices.Clone(n.Outages[over:])
	}
	if len(n.Outages) >= q.Outages && n.Quarantine == 0 {
		n.Quarantine = m.node(n, Event{Kind: QuarantineStarted, Text: fmt.Sprintf(
			"%s/%s has gone out %d times within %s: when it answers again it waits for %s instead of %s. `dnsteer failback %s` ends that.",
			n.site.Name, n.Name, len(n.Outages), dur(q.Within), dur(q.Hold), dur(n.cfg.Grace), n.site.Name)})
	}
}

// endQuarantine ends a quarantine: with the node's return, or cleared by a
// failback.
func (m *Machine) endQuarantine(n *node, how string) {
	if n.Quarantine == 0 {
		return
	}
	m.node(n, Event{
		Kind: QuarantineEnded, Resolves: n.Quarantine,
		Text: "The quarantine of " + n.site.Name + "/" + n.Name + " " + how + ".",
	})
	n.Quarantine = 0
	m.changed(n.site)
}

// clearQuarantine ends a quarantine by the operator's word, and forgets what has
// led to it (C1).
func (m *Machine) clearQuarantine(n *node, c *Command) {
	if n.Outages != nil {
		n.Outages = nil
		m.changed(n.site)
	}
	before := len(m.nodeEvents)
	m.endQuarantine(n, "was ended by the operator")
	m.sign(before, c)
}

// freed ends the quarantine of a node of which a change of the configuration has
// taken the line that was out: no return will (N11, N13).
func (n *node) freed() {
	if w := n.measured(); !n.taken() && (w == WordUp || w == WordFailing) {
		n.Quarantine = 0
	}
}

// wholly says whether no line of the node is out by an outage any more.
func (n *node) wholly() bool {
	for _, l := range n.lines {
		if l != nil && (l.Word == WordOut || l.Word == WordRecovering) {
			return false
		}
	}
	return true
}
