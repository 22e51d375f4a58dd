package web

import (
	"fmt"
	"strings"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

const operator = auth.Operator

// maxSparks is how many sites get spark lines on the first page.
const maxSparks = 24

// overview is the first page.
func (h *Handler) overview(v *visit) error {
	st, err := h.Reader.Status(v.r.Context())
	if err != nil {
		return err
	}
	cards := h.cards(v, &st)
	for i := range cards[:min(len(cards), maxSparks)] {
		h.sparks(v, &cards[i])
	}
	list, err := h.Reader.Events(v.r.Context(), api.EventQuery{Limit: 10})
	if err != nil {
		return err
	}
	v.title, v.menu = "Overview", "overview"
	return h.show(v, "overview", struct {
		Summary  summary
		Problems []string
		Cards    []card
		Events   []incident
	}{summarise(&st, cards), st.Problems, cards, incidents(list, v)})
}

// summary is the status line: words, not numbers.
type summary struct {
	Text string
	Tone Tone
	// More problems than the one that Text names.
	More int
}

func summarise(st *api.Status, cards []card) summary {
	if len(st.Problems) > 0 {
		tone := Watch
		for _, c := range cards {
			for _, p := range c.Pools {
				if p.Tone == Gone {
					tone = Gone
				}
			}
		}
		return summary{sentence(st.Problems[0]), tone, len(st.Problems) - 1}
	}
	var ordered []string
	for _, c := range cards {
		for _, n := range c.Nodes {
			if n.Ordered != nil {
				ordered = append(ordered, c.Name+"/"+n.Name)
			}
		}
	}
	var text string
	switch n := len(cards); {
	case n == 0:
		text = "There are no sites: this is an ordinary name server."
	case n == 1:
		text = cards[0].Name + " serves from its own nodes."
	default:
		text = fmt.Sprintf("All %d sites serve from their own nodes.", n)
	}
	if len(ordered) > 0 {
		return summary{text + " Taken out on purpose: " + strings.Join(ordered, ", ") + ".", Held, 0}
	}
	return summary{text + " Nothing to do.", Calm, 0}
}

// incident is an event with those that it ended.
type incident struct {
	sites.Event
	Tone  Tone
	Ended bool
	// Base and Subject make the link.
	Base, Subject string
}

// incidents writes events for people, newest first. What a later one has ended
// is told quietly.
func incidents(list []sites.Event, v *visit) []incident {
	ended := make(map[uint64]bool)
	for i := range list {
		if list[i].Resolves != 0 {
			ended[list[i].Resolves] = true
		}
	}
	var out []incident
	for i := range list {
		e := incident{Event: list[i], Base: v.caller.BasePath, Subject: list[i].Subject(), Ended: ended[list[i].ID], Tone: Calm}
		switch {
		case e.Ended:
		case e.Severity == sites.Critical:
			e.Tone = Gone
		case e.Severity == sites.Warning:
			e.Tone = Watch
		}
		out = append(out, e)
	}
	return out
}

// site is the page of one site.
func (h *Handler) site(v *visit) error {
	st, err := h.Reader.Status(v.r.Context())
	if err != nil {
		return err
	}
	s, err := find(&st, v.r.PathValue("site"))
	if err != nil {
		return err
	}
	c := h.card(v, s)
	h.sparks(v, &c)
	list, err := h.Reader.Events(v.r.Context(), api.EventQuery{Site: s.Name, Limit: 30})
	if err != nil {
		return err
	}
	x, err := h.Reader.Explain(v.r.Context(), s.Name)
	if err != nil {
		return err
	}
	v.title, v.menu = s.Name, "overview"
	return h.show(v, "site", struct {
		Card   card
		Why    []string
		Events []incident
	}{c, x.Sentences, incidents(list, v)})
}
