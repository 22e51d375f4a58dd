package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A page of another site could have a router's records removed through a
// browser.
func TestTargetRequestsAreJSON(t *testing.T) {
	for _, kind := range []string{"", "text/plain", "nonsense;;"} {
		f := &fake{}
		r := httptest.NewRequest(http.MethodPost, "/api/v1/targets/router", strings.NewReader(`{"verb": "purge", "confirmed": true}`))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		f.handler().ServeHTTP(w, r)
		if w.Code != http.StatusUnsupportedMediaType || len(f.targets) > 0 {
			t.Errorf("%q: status %d, requests %v", kind, w.Code, f.targets)
		}
	}
}

// What is said of a target would get lost on its way, or its answer.
func TestTargetsOverTheSocket(t *testing.T) {
	f := &fake{}
	c := started(t, f)
	views, err := c.Targets(t.Context())
	if err != nil || len(views) != 1 || views[0].State != TargetCurrent || views[0].Records[0].Name != "app.example.lan" {
		t.Errorf("targets %+v, %v", views, err)
	}
	plans, err := c.Plan(t.Context(), "router")
	if err != nil || len(plans) != 2 || plans[1].Changes[0].To != "10.1.0.11" {
		t.Errorf("plans %+v, %v", plans, err)
	}
	if _, err := c.Plan(t.Context(), "a b"); !notFound(err) {
		t.Errorf("the plan of a target that is not there: %v", err)
	}
	want := TargetRequest{Verb: TargetAdopt, Target: "router", Name: "app.example.lan", Confirmed: true, By: "ann", Reason: "first use"}
	if reply, err := c.Operate(t.Context(), want); err != nil || reply.Refused || len(reply.Changes) != 1 {
		t.Errorf("adopt: %+v, %v", reply, err)
	}
	if d := cmp.Diff([]TargetRequest{want}, f.targets); d != "" {
		t.Errorf("request (-want +got):\n%s", d)
	}
	if reply, err := c.Operate(t.Context(), TargetRequest{Verb: TargetEnable, Target: "router"}); err != nil || !reply.Refused || reply.Text != "router is not disabled." {
		t.Errorf("a refusal: %+v, %v", reply, err)
	}
	if _, err := c.Operate(t.Context(), TargetRequest{Verb: TargetEnable, Target: "rooter/.."}); !notFound(err) {
		t.Errorf("a target that is not there: %v", err)
	}
}

func notFound(err error) bool {
	_, ok := errors.AsType[*NotFoundError](err)
	return ok
}

// A controller without targets would answer about them as if it were broken.
func TestNoTargets(t *testing.T) {
	f := &fake{}
	h := NewHandler(Deps{Reader: f, Operator: f, Historian: f, Health: f, Log: slog.New(slog.DiscardHandler)})
	for _, tt := range []struct{ request, want string }{
		{"GET /api/v1/targets", `{"targets":[]}`},
		{"GET /api/v1/targets/plan", `{"plans":[]}`},
		{"GET /api/v1/targets/plan?target=x", `{"title":"Not Found","status":404,"detail":"There is no target x: the configuration has none."}`},
		{"POST /api/v1/targets/x", `{"title":"Not Found","status":404,"detail":"There is no target x: the configuration has none."}`},
	} {
		method, path, _ := strings.Cut(tt.request, " ")
		r := httptest.NewRequest(method, path, strings.NewReader(`{"verb": "disable"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := strings.TrimSpace(w.Body.String()); got != tt.want {
			t.Errorf("%s: %s", tt.request, got)
		}
	}
}

// What a stranger sends must never stop the controller, nor be taken for another
// target's.
func FuzzParseTargetRequest(f *testing.F) {
	f.Add("router", []byte(`{"verb": "adopt", "name": "app.example.lan", "confirmed": true}`))
	f.Add("router", []byte(`{"verb": "purge", "target": "other"}`))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		in, err := ParseTargetRequest(name, body)
		if _, ok := errors.AsType[*Problem](err); err != nil && !ok {
			t.Fatalf("an error that is no problem: %v", err)
		}
		if err != nil {
			return
		}
		if in.Target != name {
			t.Fatalf("for %q, given to %q", in.Target, name)
		}
		again, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseTargetRequest(name, again); err != nil && strings.ToValidUTF8(name, "") == name {
			t.Fatalf("%s is not taken again: %v", again, err)
		}
	})
}
