package sites

import "net/netip"

// node is a node of the configuration, or (Replaced) the incarnation with the
// addresses that it had before (A7).
type node struct {
	SavedNode
	cfg   *Node
	site  *site
	index int   // in Site.Nodes
	heir  *node // the one that replaces it, for a replaced one
	// former is the one that it replaces, until its new address is up (A7).
	former *node
	// was is the one that it goes on from, while a configuration is put in place.
	was   *node
	lines [families]*line
	in    []*pool // the pools that hold it
	// drilled is the Step that has ended the last drill.
	drilled uint64
	begun   int // lines that began to fail at the time that the brake looks at
	// load is the one that counts for the policy least_load; nil if it is not
	// known (A8).
	load *float64
}

func (n *node) disabled() bool   { return n.Disabled != nil }
func (n *node) maintained() bool { return n.Maintenance != nil || n.Window != nil }

// taken says whether an operator or a window has taken the node out.
func (n *node) taken() bool { return n.disabled() || n.maintained() }

// word is the node's state: what an operator has ordered, else that of its
// worst judged line. A node with no judged line is up: nothing can take it out
// (N13).
func (n *node) word() Word {
	switch {
	case n.disabled():
		return WordDisabled
	case n.maintained():
		return WordMaintenance
	}
	return n.measured()
}

// measured is the state of its worst line, whatever an operator has ordered.
func (n *node) measured() Word {
	w := WordUp
	for _, l := range n.lines {
		if l != nil && l.Word.worse(w) {
			w = l.Word
		}
	}
	return w
}

// answers says whether the last finished probe came back up on any line (N12).
func (n *node) answers() bool {
	for _, l := range n.lines {
		if l != nil && l.answers() {
			return true
		}
	}
	return false
}

// unjudged says whether nothing judges the node (N13).
func (n *node) unjudged() bool {
	for _, l := range n.lines {
		if l != nil {
			return false
		}
	}
	return true
}

// lineFor gives the line that decides for a family: its own, or, where that
// family is not judged, the one that is (N13). It is nil if none is.
func (n *node) lineFor(f Family) *line {
	if l := n.lines[f]; l != nil {
		return l
	}
	return n.lines[1-f]
}

// gives says whether the node has an address of the family to be answered.
func (n *node) gives(f Family) bool {
	for _, list := range [...][]netip.Addr{n.cfg.Addresses, n.cfg.Secondary} {
		for _, a := range list {
			if FamilyOf(a) == f {
				return true
			}
		}
	}
	return false
}

// serves says in which families the node serves: those whose line is up or
// failing, all of a node without failover (whose new address waits for its
// first answer as any other, A7), none of one that is taken, and none of one whose
// former addresses still serve in its place.
func (n *node) serves() (in [families]bool) {
	if n.former != nil && n.former.serves() != in {
		return in
	}
	return n.those(func(l *line) bool {
		return !l.judged() && n.former == nil || l.Word == WordUp || l.Word == WordFailing
	})
}

// serving says whether it serves in any family.
func (n *node) serving() bool { return n.serves() != [families]bool{} }

// may says in which families a pending node counts as serving where the pool
// has nothing else (N10).
func (n *node) may() (in [families]bool) {
	return n.those(func(l *line) bool { return l.Word == WordPending && !l.Refuted })
}

// those gives the families whose line is as asked. A node without any line
// that is judged always is (N13).
func (n *node) those(ok func(*line) bool) (in [families]bool) {
	if n.taken() {
		return in
	}
	for f := range in {
		if l := n.lineFor(Family(f)); n.gives(Family(f)) {
			in[f] = l == nil || ok(l)
		}
	}
	return in
}

// steady says whether the node may be switched to: it serves, does not fail,
// and its last probe came back up (A2).
func (n *node) steady() bool {
	if !n.serving() {
		return false
	}
	judged := false
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		judged = true
		if l.answers() && (l.Word == WordUp || !l.judged() && l.Word != WordFailing) {
			return true
		}
	}
	return !judged
}

// forced says whether an operator has put a line back by force that has not answered
// since.
func (n *node) forced() bool {
	for _, l := range n.lines {
		if l != nil && l.forced {
			return true
		}
	}
	return false
}

// allPaused says whether every pool of the node is paused (C3).
func (n *node) allPaused() bool {
	for _, p := range n.in {
		if p.Paused == nil {
			return false
		}
	}
	return len(n.in) > 0
}

// heldBack says whether nothing lets the node move: every pool of it is paused
// (C3) or held by the brake (A10).
func (n *node) heldBack(m *Machine) bool {
	for _, p := range n.in {
		if p.Paused == nil && !p.braked(m) {
			return false
		}
	}
	return len(n.in) > 0
}

// member gives the node as a member of an answer.
func (n *node) member(in [families]bool) Member {
	return Member{Node: n.Name, Replaced: n.Replaced, In: in}
}

// take begins what an operator or a window has ordered: whatever was measured
// so far decides nothing any more (N7, N8).
func (m *Machine) take(n *node) {
	m.endDrill(n, "the node was taken out", Event{})
	for _, l := range n.lines {
		if l != nil {
			l.stopFailing()
			l.enter(m, WordReturning)
		}
	}
	n.Entitled = false
	m.changed(n.site)
}

// release ends it: a line that answers is back in the same step, any other
// when it first does (N7).
func (m *Machine) release(n *node) {
	if n.taken() {
		return
	}
	n.Entitled = true
	m.changed(n.site)
	for _, l := range n.lines {
		if l == nil {
			continue
		}
		l.stopFailing()
		l.free = m.now.Boot
		if l.answers() || !l.judged() {
			m.back(l, "")
		}
	}
}
