package sites

import (
	"strings"
	"time"
)

// The sentences about moves that the guard puts off (A11).

// putOffWhat names the move.
func (p *pool) putOffWhat() string {
	if p.PutOff.To == "" {
		return "its own nodes in the place of " + p.From
	}
	return p.site.Name + "/" + p.PutOff.To
}

func (m *Machine) putOffText(p *pool) string {
	return p.label() + " is to be served by " + p.putOffWhat() + " again: " + m.waitText(p) + ". `dnsteer failback " + p.site.Name + "` does it now."
}

// waitText says what a failback waits for, and how long: "failback waits:
// berlin/b carries 1.2 MB/s (…), until 14:32:00 UTC at the latest".
func (m *Machine) waitText(p *pool) string {
	g, now := &p.cfg.Guard, m.now.Boot
	losers := m.losers(p)
	asks := " (the guard asks for less than " + Rate(g.BytesPerSecond) + " for " + dur(g.Quiet) + ")"
	var t string
	switch busy, n := g.busy(losers, now); {
	case busy:
		name := n.site.Name + "/" + n.Name
		if b := n.figures(now).BytesPerSecond; b != nil {
			t = name + " carries " + Rate(*b) + asks
		} else {
			t = "what " + name + " carries is not known" + asks
		}
	case p.calm:
		var names []string
		for _, n := range losers {
			names = appendNew(names, n.site.Name+"/"+n.Name)
		}
		verb := " carries"
		if len(names) > 1 {
			verb = " carry"
		}
		t = strings.Join(names, ", ") + verb + " less than " + Rate(g.BytesPerSecond) + ", and is to do so until " + m.clock(m.wallAt(p.calmSince+g.Quiet))
		if len(names) > 1 {
			t = strings.Replace(t, ", and is to", ", and are to", 1)
		}
	default:
		t = "the traffic has ended just now" + asks
	}
	return "failback waits: " + t + ", until " + m.clock(m.wallAt(p.putOffSince+g.AtMost)) + " at the latest"
}

// putOffEndText says why nothing is put off any more.
func (m *Machine) putOffEndText(p *pool) string {
	h, g := p.PutOff, &p.cfg.Guard
	t := "No move of " + p.label() + " is put off any more: "
	moved := h.To == "" && p.Source == Own || h.To != "" && p.Active == h.To
	switch {
	case !moved:
		return t + "there is none to make."
	case p.freed == m.steps:
		return t + "the operator has said so."
	case m.now.Boot >= p.putOffSince+g.AtMost:
		return t + "it has waited " + dur(g.AtMost) + ", and longer it may not."
	case p.calm && m.now.Boot >= p.calmSince+g.Quiet:
		return t + "less than " + Rate(g.BytesPerSecond) + " were carried for " + dur(g.Quiet) + "."
	default:
		return t + "it has been made."
	}
}

// explainPutOff is the part of a pool's explanation.
func (m *Machine) explainPutOff(p *pool) string {
	what := p.putOffWhat()
	if p.PutOff.To == "" {
		what = "Its own nodes"
	}
	return what + " could serve it again; " + m.waitText(p) + "; `dnsteer failback " + p.site.Name + "` does it now"
}

// explainFigures says what is known of a node's work.
func (m *Machine) explainFigures(n *node) string {
	f := n.figures(m.now.Boot)
	if f.none() {
		return ""
	}
	return " Its work: " + f.String() + "."
}

// explainWaiting says that the node is to take over and waits (A11).
func (m *Machine) explainWaiting(n *node) string {
	for _, p := range n.in {
		if p.PutOff != nil && (p.PutOff.To == n.Name || p.PutOff.To == "" && n.serving()) {
			return " It is to serve " + p.label() + " again; " + m.waitText(p) + "."
		}
	}
	return ""
}

// PutOffView is what people are shown of a move that waits (A11).
type PutOffView struct {
	// To is the node that is to take over; "" for the pool's own nodes in the
	// place of an emergency site.
	To    string    `json:"to,omitempty"`
	Since time.Time `json:"since"`
	// Until is when it is made at the latest.
	Until time.Time `json:"until"`
	Text  string    `json:"text"`
}

func (m *Machine) viewPutOff(p *pool) *PutOffView {
	if p.PutOff == nil {
		return nil
	}
	return &PutOffView{
		To: p.PutOff.To, Since: p.PutOff.Since,
		Until: m.wallAt(p.putOffSince + p.cfg.Guard.AtMost), Text: m.waitText(p),
	}
}
