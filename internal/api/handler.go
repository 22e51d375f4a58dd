package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

// Deps are what the handlers need; none may be nil unless it says so.
type Deps struct {
	Reader    Reader
	Operator  Operator
	Historian Historian
	Publisher Publisher
	Health    Health
	Alerter   Alerter
	Supporter Supporter
	Log       *slog.Logger
	// Gate lets people and programs in; nil where only the socket is served.
	Gate *auth.Gate
	// Replies are those of the last run to commands with a key, and KeepReplies
	// has some stored (nil removes one) and waits for nothing; nil keeps none.
	Replies     map[string][]byte
	KeepReplies func(map[string][]byte)
	// Heartbeats takes the reports of nodes; nil where none reports.
	Heartbeats Heartbeats
}

// MaxBody is how many octets the body of a request may have.
const MaxBody = 1 << 20

// Handler serves the API. What it answers with is JSON, problems included
// ([Problem]); it contains the panics of what it calls.
type Handler struct {
	Deps
	mux      *http.ServeMux
	patterns []string // of all routes
	replies  *replies
	streams  chan struct{} // a place for each
	wrong    failures      // heartbeats with a wrong token

	ending    chan struct{} // closed: streams end
	endingOne sync.Once
}

// NewHandler makes the handlers:
//
//	GET  /api/v1/status               [Status]
//	GET  /api/v1/explain?what=        [Explanation]; 404 for what is not there
//	GET  /api/v1/events               [EventList]; after, before, since, until, kind, site, node, limit, order
//	GET  /api/v1/events/stream        events as they come (SSE); after, kind, site, node
//	GET  /api/v1/history/{site}       [HistoryReport] of its witnesses; from, to
//	GET  /api/v1/history/{site}/{node}
//	POST /api/v1/commands             [CommandRequest] to [CommandReply]; 409 for what is refused
//	POST /api/v1/probe/{site}/{node}  [ProbeReport]
//	GET  /api/v1/targets              [TargetList]
//	GET  /api/v1/targets/plan         [PlanList]; target
//	POST /api/v1/targets/{name}       [TargetRequest] to [TargetReply]; 409 for what is refused
//	GET  /api/v1/targets/{name}/certificates  [CertificateList]
//	GET  /api/v1/alerts               [alert.Status]
//	POST /api/v1/alerts/test          [AlertTests]; channel
//	GET  /api/v1/support              a support bundle ([support.Write])
//	POST /api/v1/reload, /-/reload    [ReloadReport]; 422 for a faulty configuration
//	POST /api/v1/heartbeat/{site}/{node}  a node's own report ([probes.Report]); 204
//	GET  /-/healthy, /-/ready         [Healthful]; 503 with what is missing
//	POST /api/v1/login                [LoginRequest] to [SessionView], with a cookie
//	POST /api/v1/logout               everywhere
//	GET  /api/v1/session              [SessionView]: who asks
//	GET  /api/v1/openapi.json         the description of all this
//
// Who asks is said by [WithCaller]; each route takes a role. A command with an
// Idempotency-Key is carried out once within a day.
// [Handler.EndStreams] must be called before a server is shut down that waits
// for what is under way; [Server.Shutdown] does.
func NewHandler(d Deps) *Handler {
	h := &Handler{
		Deps: d, mux: http.NewServeMux(), replies: newReplies(d.KeepReplies),
		streams: make(chan struct{}, maxStreams), ending: make(chan struct{}),
	}
	h.replies.restore(d.Replies, time.Now())
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /api/v1/status":                      h.status,
		"GET /api/v1/explain":                     h.explain,
		"GET /api/v1/events":                      h.events,
		"GET /api/v1/events/stream":               h.stream,
		"GET /api/v1/history/{site}":              h.history,
		"GET /api/v1/history/{site}/{node}":       h.history,
		"POST /api/v1/commands":                   h.command,
		"POST /api/v1/probe/{site}/{node}":        h.probe,
		"POST /api/v1/reload":                     h.reload,
		"POST /-/reload":                          h.reload,
		"GET /-/healthy":                          h.healthy,
		"GET /-/ready":                            h.ready,
		"POST /api/v1/login":                      h.login,
		"POST /api/v1/logout":                     h.logout,
		"GET /api/v1/session":                     h.session,
		"GET /api/v1/openapi.json":                h.openapi,
		"POST /api/v1/heartbeat/{site}/{node}":    h.heartbeat,
		"GET /api/v1/targets":                     h.targets,
		"GET /api/v1/targets/plan":                h.plan,
		"POST /api/v1/targets/{name}":             h.operateTarget,
		"GET /api/v1/targets/{name}/certificates": h.certificates,
		"GET /api/v1/alerts":                      h.alerts,
		"POST /api/v1/alerts/test":                h.testAlerts,
		"GET /api/v1/support":                     h.support,
	} {
		h.patterns = append(h.patterns, pattern)
		h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := allowed(pattern, CallerOf(r.Context()))
			if err == nil {
				err = handle(w, r)
			}
			if err != nil {
				h.fail(w, r, err)
			}
		})
	}
	return h
}

// fail answers with an error. One that is nobody's request to mend is logged.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(err)
	if p.Status == http.StatusInternalServerError {
		h.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	writeProblem(w, p)
}

// EndStreams ends the event streams, those that are open and those to come.
// Their readers are told to come back.
func (h *Handler) EndStreams() { h.endingOne.Do(func() { close(h.ending) }) }

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	start := time.Now()
	w := &response{ResponseWriter: rw}
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			h.Log.Error("request panicked", "method", r.Method, "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
			if w.status != 0 { // too late to say so: the reader must not take it for whole
				panic(http.ErrAbortHandler)
			}
			writeProblem(w, problem(http.StatusInternalServerError, "an internal error; the controller's log says more"))
		}
		h.Log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", w.status, "bytes", w.bytes, "took", time.Since(start))
	}()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	if next, pattern := h.mux.Handler(r); pattern == "" {
		h.unknown(w, r, next)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// unknown answers what no pattern matches: next is the mux's own way of saying
// so, in plain text.
func (h *Handler) unknown(w http.ResponseWriter, r *http.Request, next http.Handler) {
	said := refusal{header: http.Header{}}
	next.ServeHTTP(&said, r)
	if said.status != http.StatusMethodNotAllowed {
		writeProblem(w, problem(http.StatusNotFound, "there is nothing at %s", r.URL.Path))
		return
	}
	allow := said.header.Get("Allow")
	w.Header().Set("Allow", allow)
	writeProblem(w, problem(http.StatusMethodNotAllowed, "%s takes %s, not %s", r.URL.Path, allow, r.Method))
}

func (h *Handler) status(w http.ResponseWriter, r *http.Request) error {
	s, err := h.Whole().Status(r.Context())
	if err != nil {
		return err
	}
	s.Problems, s.Config.Warnings = listed(s.Problems), listed(s.Config.Warnings)
	s.Sites, s.Services = listedSites(s.Sites), listedServices(s.Services)
	writeJSON(w, s)
	return nil
}

// listed makes JSON write an empty list as one.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (h *Handler) explain(w http.ResponseWriter, r *http.Request) error {
	v, err := parameters(r.URL, "what")
	if err != nil {
		return err
	}
	what := v.Get("what")
	if what == "" {
		return problem(http.StatusBadRequest, "what: name what is to be explained: SITE, SITE/NODE, SITE/POOL or a host name")
	}
	e, err := h.Reader.Explain(r.Context(), what)
	if err != nil {
		return err
	}
	views, err := h.targetViews(r.Context())
	if err != nil {
		return err
	}
	e.Sentences = listed(explainTargets(what, e.Sentences, views))
	writeJSON(w, e)
	return nil
}

// EventList is the answer to a query for events.
type EventList struct {
	Events []sites.Event `json:"events"`
}

func (h *Handler) events(w http.ResponseWriter, r *http.Request) error {
	q, err := ParseEventQuery(r.URL)
	if err != nil {
		return err
	}
	list, err := h.Reader.Events(r.Context(), q)
	if err != nil {
		return err
	}
	writeJSON(w, EventList{listed(list)})
	return nil
}

func (h *Handler) probe(w http.ResponseWriter, r *http.Request) error {
	if err := Unhurried(w); err != nil {
		return err
	}
	report, err := h.Operator.Probe(r.Context(), r.PathValue("site"), r.PathValue("node"))
	if err != nil {
		return err
	}
	report.Lines = listed(slices.Clone(report.Lines))
	for i := range report.Lines {
		report.Lines[i].Checks = listed(report.Lines[i].Checks)
	}
	writeJSON(w, report)
	return nil
}

func (h *Handler) reload(w http.ResponseWriter, r *http.Request) error {
	if err := Unhurried(w); err != nil {
		return err
	}
	report, err := h.Operator.Reload(r.Context())
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case err != nil:
		return problem(http.StatusUnprocessableEntity, "%v", err)
	}
	report.Warnings = listed(report.Warnings)
	writeJSON(w, report)
	return nil
}

// Healthful is the answer of a health check that found nothing wrong.
type Healthful struct {
	Status string `json:"status"`
}

func (h *Handler) healthy(w http.ResponseWriter, r *http.Request) error {
	if err := h.Health.Healthy(r.Context()); err != nil {
		return problem(http.StatusServiceUnavailable, "%v", err)
	}
	writeJSON(w, Healthful{"healthy"})
	return nil
}

func (h *Handler) ready(w http.ResponseWriter, r *http.Request) error {
	if missing := h.Health.Missing(r.Context()); len(missing) > 0 {
		p := problem(http.StatusServiceUnavailable, "not ready yet")
		p.Missing = missing
		return p
	}
	writeJSON(w, Healthful{"ready"})
	return nil
}
