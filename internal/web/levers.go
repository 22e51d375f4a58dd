package web

import (
	"net/http"

	"github.com/dnsteer/dnsteer/internal/api"
)

// Levers are what a demo lets one break from the dashboard.
type Levers interface {
	// Title is the page's name.
	Title() string
	// Levers lists them in order.
	Levers() []Lever
	// Pull moves one, and says what that did; false for an unknown one.
	Pull(id string) (text string, ok bool)
}

// Lever is one thing that can be broken and mended.
type Lever struct {
	// ID is sent back, What is what it is about, State how it is now, Does what
	// pulling it does.
	ID, What, State, Does string
	Broken                bool
}

func (h *Handler) levers(v *visit) error { return h.showLevers(v, "") }

func (h *Handler) showLevers(v *visit, done string) error {
	v.title, v.menu = h.Levers.Title(), "levers"
	return h.show(v, "levers", struct {
		Done   string
		Levers []Lever
	}{done, h.Levers.Levers()})
}

func (h *Handler) pull(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return &api.Problem{Status: http.StatusBadRequest, Title: "Bad Request", Detail: "the form cannot be read"}
	}
	text, ok := h.Levers.Pull(v.r.PostForm.Get("id"))
	if !ok {
		return &api.NotFoundError{Text: "There is nothing of that name to break."}
	}
	return h.showLevers(v, text)
}
