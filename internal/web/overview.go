package web

import (
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
)

const operator = auth.Operator

// maxCards is how many sites the first page shows whole, and maxRows how many nodes
// they may have together: it must be light enough for a phone. Where there are more,
// those in trouble are shown whole as far as that goes, and the others in a line each.
const (
	maxCards = 24
	maxRows  = 48
)

// maxProblems bounds the problems that are listed; all of them are in the status.
const maxProblems = 20

// lastEvents is about how many events the first page shows, and ofEvents among how
// many it looks for what belongs together.
const (
	lastEvents = 10
	ofEvents   = 40
)

// overview is the first page.
func (h *Handler) overview(v *visit) error {
	st, err := h.Reader.Status(v.r.Context())
	if err != nil {
		return err
	}
	cards, rest := h.cards(v, &st)
	for i := range cards {
		h.sparks(v, &cards[i])
	}
	list, unread, err := h.past(v, api.EventQuery{Limit: ofEvents})
	if err != nil {
		return err
	}
	v.title, v.menu = "Overview", "overview"
	return h.show(v, "overview", struct {
		Summary  summary
		Problems []string
		Left     int // problems that are not listed
		Brake    bool
		Cards    []card
		Rest     []restRow
		Events   []incident
		Unread   bool
	}{h.summarise(&st), st.Problems[:min(len(st.Problems), maxProblems)], max(0, len(st.Problems)-maxProblems), st.Brake == "holds", cards, rest, newest(incidents(list, v), lastEvents), unread})
}

// newest gives the first incidents that have so many events together.
func newest(list []incident, most int) []incident {
	n := 0
	for i := range list {
		if n += len(list[i].Events); n >= most {
			return list[:i+1]
		}
	}
	return list
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
	c := h.card(v, besides(&st), s)
	c.Alone = true
	c.shorten()
	h.sparks(v, &c)
	list, unread, err := h.past(v, api.EventQuery{Site: s.Name, Limit: 30})
	if err != nil {
		return err
	}
	x, err := h.Reader.Explain(v.r.Context(), s.Name)
	if err != nil {
		return err
	}
	v.title, v.menu = s.Name, "overview"
	why := x.Sentences
	if c.Others != nil {
		why = why[:min(len(why), maxProblems)]
	}
	return h.show(v, "site", struct {
		Card    card
		Actions []action
		Why     []string
		Left    int // sentences that are not shown
		Events  []incident
		Unread  bool
	}{c, siteActions(v, &st, s), why, len(x.Sentences) - len(why), incidents(list, v), unread})
}
