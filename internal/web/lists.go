package web

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// eventsPage is how many events a page has.
const eventsPage = 100

// events is the page of events with its filters.
func (h *Handler) events(v *visit) error {
	q, err := eventQuery(v)
	if err != nil {
		return err
	}
	list, err := h.Reader.Events(v.r.Context(), q)
	if err != nil {
		return err
	}
	st, err := h.Reader.Status(v.r.Context())
	if err != nil {
		return err
	}
	var names []string
	for i := range st.Sites {
		names = append(names, st.Sites[i].Name)
	}
	older := ""
	if len(list) == eventsPage {
		u := v.r.URL.Query()
		u.Set("before", strconv.FormatUint(list[len(list)-1].ID, 10))
		older = "/events?" + u.Encode()
	}
	v.title, v.menu = "Events", "events"
	return h.show(v, "events", struct {
		Events            []incident
		Site, Node, Kind  string
		Sites             []string
		Kinds             []sites.Kind
		Older, Export     string
		Filtered, Further bool
	}{
		incidents(list, v), q.Site, q.Node, query(v.r, "kind"), names, sites.Kinds(), older,
		"/events.csv?" + v.r.URL.RawQuery, q.Site+q.Node != "" || len(q.Kinds) > 0, q.Before != 0,
	})
}

func eventQuery(v *visit) (api.EventQuery, error) {
	q := api.EventQuery{Site: query(v.r, "site"), Node: query(v.r, "node"), Limit: eventsPage}
	if kind := sites.Kind(query(v.r, "kind")); kind != "" {
		if !kind.Known() {
			return q, &api.NotFoundError{Text: fmt.Sprintf("There is no kind of event %q.", kind)}
		}
		q.Kinds = []sites.Kind{kind}
	}
	if before := query(v.r, "before"); before != "" {
		var err error
		if q.Before, err = strconv.ParseUint(before, 10, 64); err != nil {
			return q, &api.NotFoundError{Text: fmt.Sprintf("before: %q is no number.", before)}
		}
	}
	return q, nil
}

// exportPiece is how many events an export reads at a time, and exportTime how long who
// gets them may take for so many.
const (
	exportPiece = 1000
	exportTime  = time.Minute
)

// exported gives all chosen events as CSV (RFC 4180), the newest first.
func (h *Handler) exported(v *visit) error {
	q, err := eventQuery(v)
	if err != nil {
		return err
	}
	q.Limit = exportPiece
	list, err := h.Reader.Events(v.r.Context(), q)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	v.w.Header().Set("Content-Disposition", `attachment; filename="dnsteer-events.csv"`)
	out := csv.NewWriter(v.w)
	_ = out.Write([]string{"id", "time", "severity", "kind", "site", "node", "pool", "text", "resolves", "by", "reason"}) // Error tells
	limit := http.NewResponseController(v.w)
	for {
		_ = limit.SetWriteDeadline(time.Now().Add(exportTime)) // where it cannot be set, there is none
		for i := range list {
			_ = out.Write(cells(&list[i])) // Error tells
		}
		out.Flush()
		if err = out.Error(); err == nil && len(list) == exportPiece {
			q.Before = list[len(list)-1].ID
			list, err = h.Reader.Events(v.r.Context(), q)
		} else if err == nil {
			return nil
		}
		if err != nil {
			h.Log.Debug("an export was cut off", "error", err)
			panic(http.ErrAbortHandler) // what was sent must not be taken for whole
		}
	}
}

// cells are the row of an event.
func cells(e *sites.Event) []string {
	return []string{
		strconv.FormatUint(e.ID, 10), e.Time.UTC().Format(time.RFC3339), string(e.Severity), string(e.Kind), e.Site, e.Node, e.Pool,
		plain(e.Text), strconv.FormatUint(e.Resolves, 10), plain(e.By), plain(e.Reason),
	}
}

// plain keeps a spreadsheet from taking a text for a formula.
func plain(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// What the page of services shows: services and their answers in all, and names of one
// service.
const (
	maxAnswers = 400
	maxHosts   = 50
)

// serviceCard is a service as it is shown, and how many of its names and sites are not.
type serviceCard struct {
	api.ServiceView
	MoreHosts, MoreSites int
}

// serviceCards gives the services for which there is a place, and how many there are
// beside them.
func serviceCards(list []api.ServiceView) (cards []serviceCard, more int) {
	room := maxAnswers
	for i := range list {
		c := serviceCard{ServiceView: list[i]}
		room-- // for itself
		if i > 0 && room < len(c.Sites) {
			return cards, len(list) - i
		}
		if n := len(c.Hosts) - maxHosts; n > 0 {
			c.Hosts, c.MoreHosts = c.Hosts[:maxHosts], n
		}
		if n := len(c.Sites) - room; n > 0 {
			c.Sites, c.MoreSites = c.Sites[:room], n
		}
		room -= len(c.Sites)
		cards = append(cards, c)
	}
	return cards, 0
}

// services is the page of services, with the question what a client gets.
func (h *Handler) services(v *visit) error {
	st, err := h.Reader.Status(v.r.Context())
	if err != nil {
		return err
	}
	page := struct {
		Services     []serviceCard
		More         int // services that are not shown
		Example      string
		Client, Name string
		Sites        []string
		asked
	}{Client: query(v.r, "client"), Name: query(v.r, "name")}
	page.Services, page.More = serviceCards(st.Services)
	for i := range st.Sites {
		page.Sites = append(page.Sites, st.Sites[i].Name)
	}
	if len(st.Services) > 0 && len(st.Services[0].Hosts) > 0 {
		page.Example = st.Services[0].Hosts[0]
	}
	if page.Name != "" {
		page.asked = h.asked(v, page.Client, page.Name, page.Sites)
	}
	v.title, v.menu = "Services", "services"
	return h.show(v, "services", page)
}

// asked is what a client gets for a name, and why.
type asked struct {
	// Taken says why an address is taken for a site's.
	Taken, Fault string
	Answer       *api.ServiceAnswerView
	Why          []string
}

// asked says what a client gets for a name. The client is a site's name or an
// address.
func (h *Handler) asked(v *visit, client, name string, known []string) (out asked) {
	site := client
	if a, err := netip.ParseAddr(client); err == nil {
		var listed bool
		if site, listed = h.SiteOf(a); site == "" {
			out.Fault = "The built-in DNS server is not in use, so an address belongs to no site: choose a site."
			return out
		}
		out.Taken = fmt.Sprintf("%s is one of the clients of %s.", a, site)
		if !listed {
			out.Taken = fmt.Sprintf("%s is in no site's clients: it gets the answers of the default site, %s.", a, site)
		}
	}
	if !slices.Contains(known, site) {
		out.Fault = fmt.Sprintf("%q is neither an address nor a site. The sites are %s.", client, strings.Join(known, ", "))
		return out
	}
	x, err := h.Reader.Explain(v.r.Context(), strings.ToLower(name))
	if err != nil {
		out.Fault = sentence(err.Error())
		return out
	}
	for i := range x.Answers {
		if x.Answers[i].Site == site {
			out.Answer = &x.Answers[i]
			if i < len(x.Sentences) {
				out.Why = x.Sentences[i : i+1]
			}
			return out
		}
	}
	out.Why, out.Fault = x.Sentences, fmt.Sprintf("Clients of %s get nothing for %s.", site, name)
	return out
}

// configuration is the page of the configuration in place.
func (h *Handler) configuration(v *visit) error { return h.showConfiguration(v, "", "") }

// reload has the files read again, and shows what came of it.
func (h *Handler) reload(v *visit) error {
	report, err := h.Operator.Reload(v.r.Context())
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err // what came of it is not known
	case err != nil:
		v.status = http.StatusUnprocessableEntity
		return h.showConfiguration(v, "", err.Error())
	}
	return h.showConfiguration(v, report.Text, "")
}

func (h *Handler) showConfiguration(v *visit, done, fault string) error {
	st, err := h.Reader.Status(v.r.Context())
	if err != nil {
		return err
	}
	page := struct {
		Status      *api.Status
		Files       []config.Shown
		Done, Fault string
	}{Status: &st, Done: done, Fault: fault}
	if h.Configuration != nil {
		if page.Files, err = h.Configuration.Written(v.r.Context()); err != nil {
			return err
		}
	}
	v.title, v.menu = "Configuration", "configuration"
	return h.show(v, "configuration", page)
}
