package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/support"
	"github.com/dnsteer/dnsteer/sites"
)

// description is the document as its readers have it.
type description struct{ doc map[string]any }

func described(t testing.TB) *description {
	t.Helper()
	d := &description{}
	if err := json.Unmarshal(OpenAPI(), &d.doc); err != nil {
		t.Fatal(err)
	}
	return d
}

// at gives a place in a document.
func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

// hold validates a value against a schema: what stands in this document of JSON
// Schema.
func (d *description) hold(schema, v any, path string) (faults []string) {
	s, _ := schema.(map[string]any)
	bad := func(format string, args ...any) { faults = append(faults, path+": "+fmt.Sprintf(format, args...)) }
	if ref, ok := s["$ref"].(string); ok {
		target := at(d.doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		if target == nil {
			bad("%s leads nowhere", ref)
		}
		return append(faults, d.hold(target, v, path)...)
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		bad("%v is none of %v", v, enum)
	}
	kind := map[string]bool{}
	switch x := v.(type) {
	case string:
		kind["string"] = true
		if s["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339Nano, x); err != nil {
				bad("%q is no time", x)
			}
		}
	case bool:
		kind["boolean"] = true
	case float64:
		kind["number"] = true
		kind["integer"] = x == float64(int64(x))
		if least, ok := s["minimum"].(float64); ok && x < least {
			bad("%v is less than %v", x, least)
		}
	case []any:
		kind["array"] = true
		for i, item := range x {
			faults = append(faults, d.hold(s["items"], item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case map[string]any:
		kind["object"] = true
		faults = append(faults, d.fields(s, x, path)...)
	}
	if want, ok := s["type"].(string); ok && !kind[want] {
		bad("%T is no %s", v, want)
	}
	return faults
}

func (d *description) fields(s, x map[string]any, path string) (faults []string) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, there := x[fmt.Sprint(name)]; !there {
			faults = append(faults, fmt.Sprintf("%s.%v is missing", path, name))
		}
	}
	for name, value := range x {
		switch inner, known := properties[name]; {
		case known:
			faults = append(faults, d.hold(inner, value, path+"."+name)...)
		case s["additionalProperties"] == false:
			faults = append(faults, fmt.Sprintf("%s.%s is not described", path, name))
		default:
			faults = append(faults, d.hold(s["additionalProperties"], value, path+"."+name)...)
		}
	}
	return faults
}

// answer validates an answer to a request.
func (d *description) answer(pattern string, w *httptest.ResponseRecorder) []string {
	method, path, _ := strings.Cut(pattern, " ")
	media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	schema := at(d.doc, "paths", path, strings.ToLower(method), "responses", fmt.Sprint(w.Code), "content", media, "schema")
	if w.Code == http.StatusNoContent && w.Body.Len() == 0 && at(d.doc, "paths", path, strings.ToLower(method), "responses", "204") != nil {
		return nil
	}
	if schema == nil {
		return []string{fmt.Sprintf("%d with %s is not described", w.Code, media)}
	}
	if media == streamMedia || media == support.Media {
		return nil
	}
	var v any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		return []string{err.Error()}
	}
	return d.hold(schema, v, "answer")
}

// Programs that are made from the document would not know what they are answered
// with. Each request of TestAnswers, and a full status, is held against it.
func TestAnswersAreAsDescribed(t *testing.T) {
	d := described(t)
	f := &fake{missing: []string{"dns"}, status: fullStatus(), events: []sites.Event{{ID: 1, Kind: sites.SiteDown, Severity: sites.Critical, Site: "berlin", Text: "x"}}}
	h := f.handler()
	text, err := os.ReadFile(filepath.Join("testdata", "answers.txt"))
	if err != nil {
		t.Fatal(err)
	}
	requests := regexp.MustCompile(`(?m)^(GET|POST|DELETE) \S+( \{.*)?$`).FindAllString(string(text), -1)
	requests = append(requests, "GET /api/v1/status", "GET /api/v1/session", "POST /api/v1/login {}", "POST /api/v1/logout", "POST /api/v1/logout?everywhere=x", "GET /api/v1/openapi.json", "GET /api/v1/events/stream?after=0", "GET /api/v1/support",
		"POST /api/v1/heartbeat/berlin/a {}")
	seen := map[string]bool{}
	for _, line := range requests {
		method, rest, _ := strings.Cut(line, " ")
		target, body, _ := strings.Cut(rest, " ")
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		_, pattern := h.mux.Handler(r)
		if pattern == "" {
			continue
		}
		if pattern == "GET /api/v1/events/stream" {
			f.follow = make(chan sites.Event)
			close(f.follow)
		}
		seen[pattern] = true
		w := httptest.NewRecorder()
		h.Socket().ServeHTTP(w, r)
		if len(line) > 100 {
			line = line[:100] + "…"
		}
		for _, fault := range d.answer(pattern, w) {
			t.Errorf("%s: %s", line, fault)
		}
	}
	for _, p := range h.patterns {
		if !seen[p] {
			t.Errorf("no answer of %s is held against the document", p)
		}
	}
}

// fullStatus has something in every field.
func fullStatus() Status {
	at := time.Unix(1_700_000_000, 0)
	addr := []netip.Addr{netip.MustParseAddr("10.1.0.11")}
	return Status{
		Time: at, Version: "1", Instance: "hq", Started: at, Problems: []string{"x"}, Critical: []CriticalView{{Kind: sites.SiteDown, Site: "berlin", Pool: "default", Since: at, Text: "x", Do: "y"}}, Isolated: true, Brake: "holds",
		Config: ConfigStatus{Path: "p", Hash: "h", Loaded: at, Error: "e"}, Store: StoreStatus{Path: "s", Error: "e"},
		DNS:  &DNSStatus{Listen: []string{"x"}, Serials: map[string]uint32{"lan": 1}, Queries: 1, Strangers: []string{"x"}},
		HTTP: &HTTPStatus{Listen: []string{"https://x/"}, Error: "e", CertificateEnds: at},
		Sites: []sites.SiteView{{
			Name: "berlin", Condition: sites.SiteIsUp, Witnesses: []sites.WitnessView{{Name: "w", Cause: "c"}},
			Nodes: []sites.NodeView{{
				Name: "a", Word: sites.WordOut, Ordered: &sites.Hold{}, Drill: &sites.Hold{}, Next: at, Addresses: addr,
				Lines: []sites.LineView{{Family: "ipv4", Address: addr[0], Checks: []sites.Checked{{Probe: "tcp", Cause: "c", Text: "t"}}}, {}},
			}, {}},
			Pools: []sites.PoolView{{Name: "default", Active: "a", IPv4: addr, IPv6: addr, Paused: &sites.Hold{}}},
		}, {}},
		Services: []ServiceView{{Hosts: []string{"h"}, Pool: "p", Sites: []ServiceAnswerView{{Addresses: []string{"x"}}, {}}}, {}},
	}
}

// A route that nobody has given a role or a description would be unknown to those
// who should use it, or open to those who should not.
func TestEveryRouteIsKnown(t *testing.T) {
	h := (&fake{}).handler()
	ops := operations()
	for _, p := range h.patterns {
		if _, ok := roles[p]; !ok {
			t.Errorf("%s has no role", p)
		}
		if op, ok := ops[p]; !ok || op.summary == "" {
			t.Errorf("%s is not described", p)
		}
	}
	for p := range ops {
		if !slices.Contains(h.patterns, p) {
			t.Errorf("%s is described and not there", p)
		}
	}
	for p := range roles {
		if !slices.Contains(h.patterns, p) {
			t.Errorf("%s has a role and is not there", p)
		}
	}
}

// A viewer could act, an operator could reload, or nobody in particular could
// read: each route is asked for by each role.
func TestRolesAreHeld(t *testing.T) {
	want := map[string]auth.Role{
		"GET /-/healthy": auth.Nobody, "GET /-/ready": auth.Nobody, "POST /-/reload": auth.Admin,
		"POST /api/v1/login": auth.Nobody, "POST /api/v1/logout": auth.Nobody, "GET /api/v1/session": auth.Nobody,
		"GET /api/v1/openapi.json": auth.Nobody, "GET /api/v1/status": auth.Viewer, "GET /api/v1/explain": auth.Viewer,
		"GET /api/v1/events": auth.Viewer, "GET /api/v1/events/stream": auth.Viewer, "GET /api/v1/history/{site}": auth.Viewer,
		"GET /api/v1/history/{site}/{node}": auth.Viewer, "POST /api/v1/commands": auth.Operator,
		"POST /api/v1/probe/{site}/{node}": auth.Operator, "POST /api/v1/reload": auth.Admin,
		"POST /api/v1/heartbeat/{site}/{node}": auth.Nobody, "GET /api/v1/targets": auth.Viewer,
		"GET /api/v1/alerts": auth.Viewer, "POST /api/v1/alerts/test": auth.Operator, "GET /api/v1/support": auth.Admin,
		"GET /api/v1/targets/{name}/certificates": auth.Operator, "GET /api/v1/targets/plan": auth.Operator, "POST /api/v1/targets/{name}": auth.Admin,
	}
	f := &fake{}
	h := f.handler()
	for _, p := range h.patterns {
		need, ok := want[p]
		if !ok {
			t.Errorf("%s: say here who may ask for it", p)
			continue
		}
		if strings.Contains(p, HeartbeatPath) {
			continue // its login is the token of the node, whoever sends it: TestHeartbeat
		}
		for role := auth.Nobody; role <= auth.Admin; role++ {
			method, path, _ := strings.Cut(p, " ")
			path = strings.NewReplacer("{site}", "berlin", "{node}", "a", "{name}", "router").Replace(path)
			f.follow = make(chan sites.Event)
			close(f.follow)
			w := httptest.NewRecorder()
			r := httptest.NewRequest(method, path, strings.NewReader("{}"))
			h.ServeHTTP(w, r.WithContext(WithCaller(r.Context(), &Caller{Role: role})))
			refused := w.Code == http.StatusForbidden || w.Code == http.StatusUnauthorized
			if refused != (role < need) || refused && (w.Code == http.StatusUnauthorized) != (role == auth.Nobody) {
				t.Errorf("%s by %s: %d", p, role, w.Code)
			}
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/status", nil))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("who is not said to be anybody gets %d", w.Code)
	}
}

// Somebody could give commands in another's name.
func TestCommandsBearTheCallersName(t *testing.T) {
	for _, tt := range []struct {
		name   string
		caller Caller
		want   string
	}{
		{"a user", Caller{Name: "alice", Role: auth.Operator}, "alice"},
		{"nobody in particular", Caller{Role: auth.Operator, Source: netip.MustParseAddr("127.0.0.1")}, "somebody at 127.0.0.1"},
		{"the socket", Caller{Role: auth.Admin, Local: true}, "root"},
	} {
		f := &fake{}
		r := httptest.NewRequest(http.MethodPost, "/api/v1/commands", strings.NewReader(`{"verb": "pause", "site": "berlin", "by": "root"}`))
		r.Header.Set("Content-Type", "application/json")
		f.handler().ServeHTTP(httptest.NewRecorder(), r.WithContext(WithCaller(r.Context(), &tt.caller)))
		if len(f.commands) != 1 || f.commands[0].By != tt.want {
			t.Errorf("%s: %+v", tt.name, f.commands)
		}
	}
}

// Readers of the documents would look for routes that are not there.
func TestReference(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "api.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- routes -->\n", "<!-- end of routes -->\n"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the routes", path)
	}
	made := before + begin + "\n" + Reference() + "\n" + end + after
	if *update {
		if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if made != string(page) {
		t.Errorf("%s is out of date: run go test ./internal/api -update", path)
	}
}

// A restart would carry a command out twice that its sender repeats.
func TestRepliesOutliveARestart(t *testing.T) {
	values := map[string][]byte{}
	keep := func(v map[string][]byte) { maps.Copy(values, v) }
	f := &fake{}
	send := func(who string) {
		d := f.handler().Deps
		d.Replies, d.KeepReplies = values, keep
		r := httptest.NewRequest(http.MethodPost, "/api/v1/commands", strings.NewReader(`{"verb": "pause", "site": "berlin"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		NewHandler(d).ServeHTTP(w, r.WithContext(WithCaller(r.Context(), &Caller{Name: who, Role: auth.Operator})))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Done.") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	send("alice")
	send("alice")
	if len(f.commands) != 1 {
		t.Errorf("carried out %d times", len(f.commands))
	}
	send("bob")
	if len(f.commands) != 2 {
		t.Error("another's key is taken for this one's")
	}
}
