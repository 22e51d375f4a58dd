// Package web serves the dashboard: pages that are made here, can be read
// without JavaScript, and are kept live by small scripts. It shows what the API
// gives and does what the API does, for whom [api.CallerOf] names; it adds no
// power of its own.
//
// Its files are embedded. Scripts of others stand in assets/ as their packages
// have them, with their licences; a test holds them against their hashes.
package web

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
)

//go:embed templates assets
var files embed.FS

// Entrance lets people in and out; [api.Handler] is one.
type Entrance interface {
	Enter(w http.ResponseWriter, r *http.Request, user, password string) (auth.Caller, error)
	Leave(w http.ResponseWriter, r *http.Request, everywhere bool)
	// HasUsers says whether there is anybody to be let in.
	HasUsers() bool
}

// Configuration gives what is in place as it was read, without its secrets.
type Configuration interface {
	// Written gives the text of each file, by path.
	Written(ctx context.Context) ([]config.Shown, error)
}

// Deps are what the pages are made of; none may be nil unless it says so.
type Deps struct {
	Reader    api.Reader
	Operator  api.Operator
	Historian api.Historian
	Entrance  Entrance
	Alerter   api.Alerter
	// Publisher is nil where there are no targets, Configuration where it is not
	// to be shown.
	Publisher     api.Publisher
	Configuration Configuration
	// SiteOf says to which site an address belongs as a client, and whether it is
	// listed there; "" where no DNS server of ours answers.
	SiteOf func(netip.Addr) (site string, known bool)
	// Levers is nil but in a demo.
	Levers Levers
	Log    *slog.Logger
	Now    func() time.Time
}

// Handler serves the pages.
type Handler struct {
	Deps
	prepared
	mux    *http.ServeMux
	assets http.Handler
}

// route is one page.
type route struct {
	pattern string
	role    auth.Role
	serve   func(*visit) error
	// slow: it asks others, which may take as long as they do.
	slow bool
}

// New makes the pages. Errors are faults of the templates.
func New(d Deps) (*Handler, error) {
	p, err := prepare()
	if err != nil {
		return nil, err
	}
	h := &Handler{Deps: d, prepared: p, mux: http.NewServeMux()}
	assets, err := fs.Sub(files, "assets")
	if err != nil {
		return nil, err
	}
	h.assets = http.StripPrefix("/assets/", http.FileServerFS(assets))
	h.mux.HandleFunc("GET /assets/{name}", h.asset)
	for _, r := range h.routes() {
		h.mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) { h.visit(w, req, r) })
	}
	return h, nil
}

func (h *Handler) routes() []route {
	list := []route{
		{pattern: "GET /{$}", role: auth.Viewer, serve: h.overview},
		{pattern: "GET /sites/{site}", role: auth.Viewer, serve: h.site},
		{pattern: "GET /sites/{site}/{node}", role: auth.Viewer, serve: h.node},
		{pattern: "GET /services", role: auth.Viewer, serve: h.services},
		{pattern: "GET /targets", role: auth.Viewer, serve: h.targets},
		{pattern: "GET /targets/act", role: auth.Admin, serve: h.askTarget, slow: true},
		{pattern: "POST /targets/act", role: auth.Admin, serve: h.actTarget, slow: true},
		{pattern: "GET /targets/certificates", role: auth.Operator, serve: h.certificates, slow: true},
		{pattern: "GET /alerts", role: auth.Viewer, serve: h.alerts},
		{pattern: "POST /alerts/test/{channel}", role: auth.Operator, serve: h.testAlerts, slow: true},
		{pattern: "GET /events", role: auth.Viewer, serve: h.events},
		{pattern: "GET /events.csv", role: auth.Viewer, serve: h.exported},
		{pattern: "GET /configuration", role: auth.Viewer, serve: h.configuration},
		{pattern: "POST /configuration", role: auth.Admin, serve: h.reload, slow: true},
		{pattern: "GET /act", role: auth.Operator, serve: h.ask},
		{pattern: "POST /act", role: auth.Operator, serve: h.act},
		{pattern: "POST /probe/{site}/{node}", role: auth.Operator, serve: h.probe, slow: true},
		{pattern: "GET /login", role: auth.Nobody, serve: h.loginPage},
		{pattern: "POST /login", role: auth.Nobody, serve: h.login},
		{pattern: "POST /logout", role: auth.Nobody, serve: h.logout},
	}
	if h.Levers != nil {
		list = append(list, route{pattern: "GET /levers", role: auth.Viewer, serve: h.levers}, route{pattern: "POST /levers", role: auth.Operator, serve: h.pull})
	}
	return list
}

// ServeHTTP serves one page.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := h.mux.Handler(r); pattern == "" {
		h.visit(w, r, route{role: auth.Nobody, serve: func(*visit) error {
			return &api.NotFoundError{Text: "There is no page " + r.URL.Path + "."}
		}})
		return
	}
	h.mux.ServeHTTP(w, r)
}

// asset serves a file that may be kept by the URL that it has: that changes with its
// content. By that of another version it is not kept, which may come back.
func (h *Handler) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if r.URL.RequestURI() == h.paths[name] {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	w.Header().Set("Vary", "Accept-Encoding")
	small := h.small[name]
	if small == nil || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.assets.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(small))
}

// visit is one request for a page.
type visit struct {
	w      http.ResponseWriter
	r      *http.Request
	caller *api.Caller
	now    time.Time
	// title of the page and the menu's entry that it belongs to.
	title, menu string
	status      int
}

// visit serves a page to who may see it.
func (h *Handler) visit(w http.ResponseWriter, r *http.Request, to route) {
	v := &visit{w: w, r: r, caller: api.CallerOf(r.Context()), now: h.Now(), status: http.StatusOK}
	err := h.enter(v, to)
	if err == nil {
		return
	}
	p := api.ProblemOf(err)
	v.status, v.title = p.Status, http.StatusText(p.Status)
	text := p.Error()
	if v.status == http.StatusInternalServerError {
		h.Log.Error("page failed", "path", r.URL.Path, "error", err)
		text = "This page cannot be made now. The controller's log says why."
	}
	if err := h.show(v, "problem", text); err != nil {
		h.Log.Error("page failed", "path", r.URL.Path, "error", err)
	}
}

func (h *Handler) enter(v *visit, to route) error {
	switch {
	case v.caller.Role >= to.role:
		if to.slow {
			if err := api.Unhurried(v.w); err != nil {
				return err
			}
		}
		return to.serve(v)
	case v.caller.Role == auth.Nobody:
		v.redirect("/login?to=" + template.URLQueryEscaper(page(v.r)))
		return nil
	default:
		out := "Ask somebody who has it, or log in as another."
		if !h.Entrance.HasUsers() {
			out = "No users are configured (http.users); the commands act, on the machine of the controller without a login."
		}
		return &api.Problem{Status: http.StatusForbidden, Title: "Forbidden", Detail: fmt.Sprintf("%s may look as %s; this takes the role %s. %s", v.name(), v.caller.Role, to.role, out)}
	}
}

// name is how who asks is spoken to.
func (v *visit) name() string {
	if v.caller.Name == "" {
		return "Who has not logged in"
	}
	return v.caller.Name
}

// who names who asks, in events.
func (v *visit) who() string {
	if v.caller.Name == "" {
		return "somebody at " + v.caller.Source.String()
	}
	return v.caller.Name
}

// redirect sends the browser to another page of ours.
func (v *visit) redirect(path string) {
	http.Redirect(v.w, v.r, v.caller.BasePath+path, http.StatusSeeOther)
}

// frame is what every page is made of.
type frame struct {
	Title, Menu, Base string
	User, Role        string
	CanAct, CanLeave  bool
	CanEnter          bool // there is anybody who can log in
	IsAdmin           bool
	Levers            string // the name of the page; "" for none
	Now               time.Time
	Data              any
}

// show sends a page.
func (h *Handler) show(v *visit, page string, data any) error {
	f := frame{
		Title: v.title, Menu: v.menu, Base: v.caller.BasePath, Now: v.now, Data: data,
		User: v.caller.Name, Role: v.caller.Role.String(), CanAct: v.canAct(), IsAdmin: v.caller.Role >= auth.Admin,
		CanLeave: v.caller.Name != "", CanEnter: h.Entrance.HasUsers(),
	}
	if h.Levers != nil {
		f.Levers = h.Levers.Title()
	}
	var out bytes.Buffer
	if err := h.pages[page].Execute(&out, f); err != nil {
		return fmt.Errorf("make the page %s: %w", page, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(v.status)
	_, _ = out.WriteTo(v.w) // whoever has gone need not be told
	return nil
}
