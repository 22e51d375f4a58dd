package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

var update = flag.Bool("update", false, "write golden files anew")

// Programs and people could not tell from an answer what went wrong, and what
// to do about it.
func TestAnswers(t *testing.T) {
	long := strings.Repeat("x", MaxBody)
	tests := []struct{ request, body string }{
		{"GET /api/v1/explain?what=berlin", ""},
		{"GET /api/v1/explain?what=atlantis", ""},
		{"GET /api/v1/explain", ""},
		{"GET /api/v1/explain?what=berlin&what=hamburg", ""},
		{"GET /api/v1/explain?who=berlin", ""},
		{"GET /api/v1/explain?%zz", ""},
		{"GET /api/v1/explain?what=broken", ""},
		{"GET /api/v1/explain?what=panic", ""},
		{"GET /api/v1/explain?what=slow", ""},
		{"GET /api/v1/events", ""},
		{"GET /api/v1/events?kind=nonsense", ""},
		{"GET /api/v1/events?after=-1", ""},
		{"GET /api/v1/events?since=yesterday", ""},
		{"GET /api/v1/events?limit=1001", ""},
		{"GET /api/v1/events?order=up", ""},
		{"GET /api/v1/events?node=a", ""},
		{"GET /api/v1/events/stream?limit=1", ""},
		{"GET /api/v1/events/stream?after=x", ""},
		{"GET /api/v1/history/berlin?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z", ""},
		{"GET /api/v1/history/berlin/a?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z", ""},
		{"GET /api/v1/history/berlin/b?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z", ""},
		{"GET /api/v1/history/berlin/x?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z", ""},
		{"GET /api/v1/history/berlin/a?from=yesterday", ""},
		{"GET /api/v1/history/berlin/a?to=2026-03-01T00:00:00Z&from=2026-03-02T00:00:00Z", ""},
		{"GET /api/v1/history/berlin/a?since=2026-03-01T00:00:00Z", ""},
		{"GET /api/v1/history/", ""},
		{"POST /api/v1/history/berlin", ""},
		{"POST /api/v1/commands", `{"verb": "failback", "site": "berlin"}`},
		{"POST /api/v1/commands", `{"verb": "failback", "site": "atlantis"}`},
		{"POST /api/v1/commands", `{"verb": "dance", "site": "berlin"}`},
		{"POST /api/v1/commands", `{"site": "berlin"}`},
		{"POST /api/v1/commands", `{"verb": "pause", "sight": "berlin"}`},
		{"POST /api/v1/commands", `{"verb": "pause"} {}`},
		{"POST /api/v1/commands", `{"verb": 5}`},
		{"POST /api/v1/commands", `{"verb": "disable", "site": "berlin", "node": "a", "node": "b"}`},
		{"POST /api/v1/commands", `{"verb": "disable", "site": "berlin", "SITE": "hamburg"}`},
		{"POST /api/v1/commands", `{"verb": "disable", "site": "berlin", "\u017fite": "hamburg"}`},
		{"POST /api/v1/commands", `[{"verb": "pause", "site": "berlin"}]`},
		{"POST /api/v1/commands", `null`},
		{"POST /api/v1/commands", ``},
		{"POST /api/v1/commands", `{"verb": "pause", "site": "berlin", "for": "90"}`},
		{"POST /api/v1/commands", `{"verb": "pause", "site": "berlin", "for": "0s"}`},
		{"POST /api/v1/commands", `{"verb": "pause", "site": "berlin", "reason": "` + long[:maxText+1] + `"}`},
		{"POST /api/v1/commands", `{"verb": "pause", "site": "` + long + `"}`},
		{"POST /api/v1/probe/berlin/a", ""},
		{"POST /api/v1/probe/berlin/x", ""},
		{"GET /api/v1/targets", ""},
		{"GET /api/v1/explain?what=app.example.lan", ""},
		{"GET /api/v1/targets/plan", ""},
		{"GET /api/v1/targets/plan?target=router", ""},
		{"GET /api/v1/targets/plan?target=rooter", ""},
		{"GET /api/v1/targets/router", ""},
		{"POST /api/v1/targets/router", `{"verb": "adopt", "name": "App.example.lan."}`},
		{"POST /api/v1/targets/router", `{"verb": "enable", "target": "router"}`},
		{"GET /api/v1/targets/router/certificates", ""},
		{"GET /api/v1/targets/rooter/certificates", ""},
		{"POST /api/v1/targets/rooter", `{"verb": "purge"}`},
		{"POST /api/v1/targets/router", `{"verb": "purge", "target": "other"}`},
		{"POST /api/v1/targets/router", `{"verb": "purge", "name": "app.example.lan"}`},
		{"POST /api/v1/targets/router", `{"verb": "burn"}`},
		{"POST /api/v1/targets/router", `{}`},
		{"POST /api/v1/targets/router", `{"verb": "disable", "verb": "purge", "confirmed": true}`},
		{"POST /api/v1/login", `{"user": "alice", "password": "canary", "pasword": "x"}`},
		{"POST /api/v1/login", `{"user": "alice", "user": "bob", "password": "canary"}`},
		{"POST /api/v1/login", `{"user": "alice", "password": 123}`},
		{"POST /api/v1/login", `{"user": "alice"}`},
		{"POST /api/v1/targets/router", `{"verb": "disable", "reson": "x"}`},
		{"POST /api/v1/targets/router", `{"verb": "disable"} x`},
		{"POST /api/v1/targets/router", ``},
		{"GET /api/v1/alerts", ""},
		{"POST /api/v1/alerts/test?channel=mail", ""},
		{"POST /api/v1/alerts/test?channel=pigeon", ""},
		{"POST /api/v1/alerts/test?chanel=mail", ""},
		{"POST /api/v1/reload", ""},
		{"POST /-/reload", ""},
		{"GET /-/healthy", ""},
		{"GET /-/ready", ""},
		{"GET /", ""},
		{"GET /api/v2/status", ""},
		{"DELETE /api/v1/status", ""},
		{"GET /api/v1/commands", ""},
		{"POST /-/healthy", ""},
	}
	f := &fake{missing: []string{"dns", "first probes"}}
	h := f.handler().Socket()
	var got strings.Builder
	for _, tt := range tests {
		method, target, _ := strings.Cut(tt.request, " ")
		r := httptest.NewRequest(method, target, strings.NewReader(tt.body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if len(tt.body) > 100 {
			tt.body = tt.body[:50] + "…"
		}
		fmt.Fprintf(&got, "%s\n%d %s\n", strings.TrimSpace(tt.request+" "+tt.body), w.Code, w.Header().Get("Content-Type"))
		for _, name := range []string{"Allow", "Retry-After"} {
			if v := w.Header().Get(name); v != "" {
				fmt.Fprintf(&got, "%s: %s\n", name, v)
			}
		}
		fmt.Fprintf(&got, "%s\n", w.Body)
		if w.Code != http.StatusOK {
			var p Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code || p.Title == "" || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: no problem as RFC 9457 has it: %v %s", tt.request, err, w.Body)
			}
		}
	}
	golden(t, "answers.txt", got.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// A page of another site, which can send no JSON by itself, could command the
// controller through a browser.
func TestCommandsAreJSON(t *testing.T) {
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "nonsense;;"} {
		f := &fake{}
		r := httptest.NewRequest(http.MethodPost, "/api/v1/commands", strings.NewReader(`{"verb": "pause", "site": "berlin"}`))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		f.handler().Socket().ServeHTTP(w, r)
		if w.Code != http.StatusUnsupportedMediaType || len(f.commands) > 0 {
			t.Errorf("%q: status %d, commands %v", kind, w.Code, f.commands)
		}
	}
}

// Readers of the status would have to tell null from an empty list.
func TestStatusHasNoNull(t *testing.T) {
	w := httptest.NewRecorder()
	(&fake{}).handler().Socket().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/status", nil))
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "null") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// An internal error that nobody can look up is never mended, and the panic of
// one request must not take the DNS answers with it.
func TestFailuresAreLogged(t *testing.T) {
	tests := []struct{ what, want string }{
		{"panic", "out of cheese"},
		{"broken", "disk on fire"},
	}
	for _, tt := range tests {
		var log bytes.Buffer
		w := httptest.NewRecorder()
		(&fake{}).handlerLogging(&log).Socket().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/explain?what="+tt.what, nil))
		if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), tt.want) {
			t.Errorf("%s: log %q", tt.what, log.String())
		}
		if !strings.Contains(log.String(), "status=500") {
			t.Errorf("%s: the request is not in the log: %q", tt.what, log.String())
		}
	}
}

// What is asked for by a command would be lost on its way.
func TestCommandsArriveWhole(t *testing.T) {
	want := sites.Command{
		Verb: sites.Maintenance, Site: "berlin", Node: "a", Pool: "p", Force: true, For: 36 * time.Hour, By: "bob", Reason: "new kernel",
	}
	body, err := json.Marshal(request(&want))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseCommand(body)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("command (-want +got):\n%s", d)
	}
}

// A query would find other events than were asked for.
func TestQueriesArriveWhole(t *testing.T) {
	want := EventQuery{
		After: 5, Before: 9, Since: time.Unix(1e9, 5).UTC(), Until: time.Unix(2e9, 0).UTC(),
		Kinds: []sites.Kind{sites.SiteDown, sites.SiteUp}, Site: "berlin", Node: "a/b&c", Limit: 7, Ascending: true,
	}
	got, err := ParseEventQuery(&url.URL{RawQuery: want.Encode()})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("query (-want +got):\n%s", d)
	}
}

// What a stranger sends must never stop the controller.
func FuzzParseCommand(f *testing.F) {
	f.Add([]byte(`{"verb": "pause", "site": "berlin", "for": "1d12h"}`))
	f.Add([]byte(`{"verb": "enable"} x`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := ParseCommand(body)
		if _, ok := errors.AsType[*Problem](err); err != nil && !ok {
			t.Fatalf("an error that is no problem: %v", err)
		}
		if err != nil {
			return
		}
		again, err := json.Marshal(request(&c))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseCommand(again); err != nil || back != c {
			t.Fatalf("%s: %+v came back as %+v, %v", again, c, back, err)
		}
	})
}

// What a stranger asks for must never stop the controller.
func FuzzParseEventQuery(f *testing.F) {
	f.Add("after=1&since=2026-01-02T15:04:05Z&kind=site_up&kind=site_down&limit=10&order=asc")
	f.Fuzz(func(t *testing.T, query string) {
		q, err := ParseEventQuery(&url.URL{RawQuery: query})
		if _, ok := errors.AsType[*Problem](err); err != nil && !ok {
			t.Fatalf("an error that is no problem: %v", err)
		}
		if err != nil {
			return
		}
		if q.Limit < 1 || q.Limit > MaxLimit {
			t.Fatalf("limit %d", q.Limit)
		}
		back, err := ParseEventQuery(&url.URL{RawQuery: q.Encode()})
		if d := cmp.Diff(q, back, cmp.Comparer(time.Time.Equal)); err != nil || d != "" {
			t.Fatalf("%v\n%s", err, d)
		}
	})
}

// A request that is given up must not be counted as the controller's fault.
func TestGivenUp(t *testing.T) {
	if p := ProblemOf(fmt.Errorf("ask: %w", context.Canceled)); p.Status != http.StatusServiceUnavailable {
		t.Errorf("status %d", p.Status)
	}
}

// What a stranger asks for must never stop the controller, and a question that
// says nothing else is about the last day.
func FuzzSpan(f *testing.F) {
	f.Add("from=2026-01-02T15:04:05Z&to=2026-01-02T16:04:05%2B02:00")
	f.Add("to=0000-01-01T00:00:00Z")
	f.Add("")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, query string) {
		from, to, err := span(&url.URL{RawQuery: query}, now)
		if _, ok := errors.AsType[*Problem](err); err != nil && !ok {
			t.Fatalf("an error that is no problem: %v", err)
		}
		if err != nil {
			return
		}
		if from.After(to) || query == "" && (!to.Equal(now) || !from.Equal(now.Add(-24*time.Hour))) {
			t.Fatalf("%q: from %s to %s", query, from, to)
		}
		if _, err := json.Marshal(HistoryReport{From: from, To: to}); err != nil {
			t.Fatal(err)
		}
	})
}
