package sites

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// NodeWord gives the word of "site/node"; ok is false if there is no such node.
func (m *Machine) NodeWord(name string) (w Word, ok bool) {
	if n := m.findNode(name); n != nil {
		return n.word(), true
	}
	return "", false
}

// SiteSettled says whether a site has been seen since the start and a full round
// of its probes is in: nothing of it is pushed to a target before (S2).
func (m *Machine) SiteSettled(name string) bool {
	s := m.byName[name]
	return s != nil && s.settled
}

// SiteLost says whether nothing of a site can be seen (N3).
func (m *Machine) SiteLost(name string) bool {
	s := m.byName[name]
	return s != nil && s.Condition == SiteIsDown
}

// SiteHeld says whether nothing is sent by itself to the targets of a site: it
// cannot be seen or judged, or the controller is isolated (E8, N4, N14). Where an emergency site
// has stepped in for it (N5), that is sent.
func (m *Machine) SiteHeld(name string) bool {
	s := m.byName[name]
	return s != nil && (m.Isolated != 0 || s.blindly() || s.Condition == SiteIsDown && !s.FailedOver)
}

// SiteWord gives the condition of a site, or "paused" when a pool of it is; ""
// if there is no such site.
func (m *Machine) SiteWord(name string) string {
	s := m.byName[name]
	if s == nil {
		return ""
	}
	for _, p := range s.pools {
		if p.Paused != nil {
			return "paused"
		}
	}
	return string(s.Condition)
}

// FindPool finds "site/pool", or "site" for its default pool.
func (m *Machine) FindPool(name string) (PoolID, bool) {
	site, pool, ok := strings.Cut(name, "/")
	if !ok {
		pool = DefaultPool
	}
	s := m.byName[site]
	if s == nil {
		return PoolID{}, false
	}
	for _, p := range s.pools {
		if p.Name == pool {
			return PoolID{s.index, p.index}, true
		}
	}
	return PoolID{}, false
}

// findNode finds the present incarnation of "site/node".
func (m *Machine) findNode(name string) *node {
	site, node, _ := strings.Cut(name, "/")
	if s := m.byName[site]; s != nil {
		for _, n := range s.nodes {
			if n.Name == node && !n.Replaced {
				return n
			}
		}
	}
	return nil
}

// SiteView is what people are shown of a site.
type SiteView struct {
	Name      string    `json:"name"`
	Condition Condition `json:"condition"`
	Since     time.Time `json:"since"`
	// Unjudged: a line of it cannot be judged (N14).
	Unjudged  bool          `json:"unjudged,omitempty"`
	Explain   string        `json:"explain"`
	Witnesses []WitnessView `json:"witnesses"`
	Nodes     []NodeView    `json:"nodes"`
	Pools     []PoolView    `json:"pools"`
}

// WitnessView is what people are shown of a witness.
type WitnessView struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Cause   string `json:"cause,omitempty"`
	Text    string `json:"text,omitempty"`
}

// NodeView is what people are shown of a node: what is measured and what was
// ordered, apart (C7).
type NodeView struct {
	Name      string       `json:"name"`
	Word      Word         `json:"word"`
	Measured  Word         `json:"measured"`
	Since     time.Time    `json:"since"`
	Answers   bool         `json:"answers"`
	Addresses []netip.Addr `json:"addresses"`
	Ordered   *Hold        `json:"ordered,omitempty"`
	// Drill is set while the node is treated as not answering (C6).
	Drill *Hold `json:"drill,omitempty"`
	// Quarantine: it waits longer than its grace after an outage (N11).
	Quarantine bool   `json:"quarantine,omitempty"`
	Stale      bool   `json:"stale,omitempty"`
	Unjudged   bool   `json:"unjudged,omitempty"`
	Explain    string `json:"explain"`
	// Next is when the node's place in DNS can change next; zero if nothing is
	// in sight.
	Next  time.Time  `json:"next,omitzero"`
	Lines []LineView `json:"lines"`
	// Timeout is after what time a probe of it has failed.
	Timeout time.Duration `json:"timeout_ns"`
	// Figures of its work, where a probe finds them out.
	Figures *Figures `json:"figures,omitempty"`
}

// LineView is what people are shown of a node on one line.
type LineView struct {
	Family  string     `json:"family"`
	Address netip.Addr `json:"address"`
	Word    Word       `json:"word"`
	Since   time.Time  `json:"since"`
	Checks  []Checked  `json:"checks"`
}

// Checked is the last outcome of one probe.
type Checked struct {
	Probe    string        `json:"probe"`
	Steer    bool          `json:"steer"`
	Outcome  string        `json:"outcome"`
	Cause    string        `json:"cause,omitempty"`
	Text     string        `json:"text,omitempty"`
	Duration time.Duration `json:"duration_ns"`
}

// PoolView is what people are shown of a pool.
type PoolView struct {
	Name   string       `json:"name"`
	Mode   string       `json:"mode"`
	Serves string       `json:"serves"`
	Active string       `json:"active,omitempty"`
	Since  time.Time    `json:"since"`
	IPv4   []netip.Addr `json:"ipv4,omitempty"`
	IPv6   []netip.Addr `json:"ipv6,omitempty"`
	Paused *Hold        `json:"paused,omitempty"`
	// Held: an outage asks for a move that the pause holds back (C2).
	Held bool `json:"held,omitempty"`
	// Braked: a mass failure holds the pool (A10).
	Braked bool `json:"braked,omitempty"`
	// PutOff: a move that is not due to an outage waits for its traffic (A11).
	PutOff  *PutOffView `json:"put_off,omitempty"`
	Explain string      `json:"explain"`
}

// View gives what people are shown of the sites, as of the last Step. It shares
// nothing with the machine.
func (m *Machine) View() []SiteView { return m.ViewOf(0, len(m.sites)) }

// ViewOf is View for the sites from one to before another, by their places in the
// configuration.
func (m *Machine) ViewOf(from, to int) []SiteView {
	views := make([]SiteView, 0, to-from)
	for _, s := range m.sites[from:to] {
		v := SiteView{Name: s.Name, Condition: s.Condition, Since: s.Since, Unjudged: s.Unjudged != [families]uint64{} || s.Unproven != [families]uint64{}, Explain: m.ExplainSite(s.Name)}
		v.Nodes, v.Pools = slices.Grow(v.Nodes, len(s.nodes)), slices.Grow(v.Pools, len(s.pools))
		for _, w := range s.witnesses {
			v.Witnesses = append(v.Witnesses, WitnessView{
				Name: w.subject.Witness, Outcome: w.recent.String(), Cause: w.check.Cause, Text: w.check.Text,
			})
		}
		for _, n := range s.nodes {
			if !n.Replaced {
				v.Nodes = append(v.Nodes, m.viewNode(n))
			}
		}
		for _, p := range s.pools {
			id := PoolID{s.index, p.index}
			a := m.Answer(id)
			v.Pools = append(v.Pools, PoolView{
				Name: p.Name, Mode: p.cfg.Mode.String(), Serves: a.String(), Active: p.Active, Since: p.Since,
				IPv4: a.IPv4, IPv6: a.IPv6, Paused: copied(p.Paused), Held: p.Held != 0, Braked: p.braked(m), PutOff: m.viewPutOff(p),
				Explain: m.ExplainPool(id),
			})
		}
		views = append(views, v)
	}
	return views
}

func (m *Machine) viewNode(n *node) NodeView {
	v := NodeView{
		Name: n.Name, Word: n.word(), Measured: n.measured(), Answers: !n.disabled() && n.answers(), Addresses: n.answered(),
		Timeout: n.cfg.Timeout, Ordered: copied(n.ordered()), Drill: copied(n.Drill), Quarantine: n.Quarantine != 0,
		Explain: m.explainNode(n),
	}
	if f := n.figures(m.now.Boot); !f.none() {
		v.Figures = &f
	}
	if at, ok := m.nextMove(n); ok {
		v.Next = m.wallAt(at)
	}
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		if v.Since.Before(l.Since) {
			v.Since = l.Since
		}
		v.Stale = v.Stale || l.Stale != 0
		v.Unjudged = v.Unjudged || l.Unjudged != 0
		lv := LineView{Family: l.family.String(), Address: l.subject.Addr, Word: l.Word, Since: l.Since}
		for i := range l.checks {
			c, p := &l.checks[i].last, &n.cfg.Probes[i]
			lv.Checks = append(lv.Checks, Checked{
				Probe: p.Name, Steer: p.Steer, Outcome: c.Outcome.String(), Cause: c.Cause, Text: c.Text, Duration: c.Duration,
			})
		}
		v.Lines = append(v.Lines, lv)
	}
	if h := n.ordered(); h != nil {
		v.Since = h.Since
	}
	return v
}

// answered lists all addresses of a node.
func (n *node) answered() []netip.Addr {
	return append(append([]netip.Addr{}, n.cfg.Addresses...), n.cfg.Secondary...)
}

// ordered gives what an operator or a window has ordered of a node.
func (n *node) ordered() *Hold {
	switch {
	case n.Disabled != nil:
		return n.Disabled
	case n.Maintenance != nil:
		return n.Maintenance
	default:
		return n.Window
	}
}

// nextMove is when a node's place in DNS can change next by itself.
func (m *Machine) nextMove(n *node) (at time.Duration, ok bool) {
	if n.taken() {
		return 0, false
	}
	for _, l := range n.lines {
		if l == nil || !l.judged() {
			continue
		}
		var t time.Duration
		switch deadline, ticking := l.deadline(); {
		case l.Word == WordFailing && ticking:
			t = deadline
		case l.Word == WordRecovering && !l.doubted && n.cfg.Failback == FailbackAuto:
			t = l.graceEnd()
		default:
			continue
		}
		if !ok || t < at {
			at, ok = t, true
		}
	}
	return at, ok
}
