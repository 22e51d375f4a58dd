package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/sites"
)

// canary is what no page may carry as it is.
const canary = `<script>alert(1)</script>"'`

// fake is a controller whose every text is hostile.
type fake struct {
	api.Reader
	status   api.Status
	commands []sites.Command
	words    []api.TargetRequest
	nobody   bool // can log in
}

func now() time.Time { return time.Date(2026, 3, 1, 0, 0, 10, 0, time.UTC) }

func (f *fake) Status(context.Context) (api.Status, error) { return f.status, nil }

func (f *fake) Explain(context.Context, string) (api.Explanation, error) {
	return api.Explanation{Sentences: []string{canary}, Answers: []api.ServiceAnswerView{{Site: "berlin", Addresses: []string{canary}, Serves: canary}}}, nil
}

func (f *fake) Events(context.Context, api.EventQuery) ([]sites.Event, error) {
	return []sites.Event{{ID: 1, Text: "=" + canary, By: "+" + canary, Reason: "@" + canary, Site: "berlin", Severity: sites.Critical, Kind: sites.SiteDown}}, nil
}

func (f *fake) Command(_ context.Context, c sites.Command) (sites.Reply, error) {
	f.commands = append(f.commands, c)
	return sites.Reply{Refused: !c.Force, Forceable: c.Node == "a", Text: canary}, nil
}

func (f *fake) Probe(context.Context, string, string) (api.ProbeReport, error) {
	return api.ProbeReport{Lines: []api.ProbedLine{{Address: canary, Checks: []api.ProbedCheck{{Checked: sites.Checked{Probe: canary, Outcome: "down", Text: canary}}}}}}, nil
}

func (f *fake) Reload(context.Context) (api.ReloadReport, error) { return api.ReloadReport{}, nil }

func (f *fake) History(context.Context, string, string, time.Time, time.Time) ([]history.Line, error) {
	return []history.Line{{
		Address: netip.MustParseAddr("10.1.0.11"), Failures: []history.Failure{{Probe: canary, Text: canary, Count: 3}},
		Probes: []history.Probe{{Points: hour()}},
	}}, nil
}

// hour is one with a minute of failures.
func hour() (list []history.Point) {
	for i := range 60 {
		p := history.Point{Time: now().Add(time.Duration(i-60) * time.Minute), Up: 12, Mean: time.Duration(i) * time.Millisecond, Most: time.Second}
		if i == 30 {
			p.Down, p.Cause = 1, canary
		}
		list = append(list, p)
	}
	return list
}

func (f *fake) Enter(http.ResponseWriter, *http.Request, string, string) (auth.Caller, error) {
	return auth.Caller{Name: "alice"}, nil
}
func (f *fake) Leave(http.ResponseWriter, *http.Request, bool) {}
func (f *fake) HasUsers() bool                                 { return !f.nobody }

func (f *fake) Written(context.Context) ([]config.Shown, error) {
	return []config.Shown{{Path: canary, Text: canary}}, nil
}

func (f *fake) Alerts(context.Context) (*alert.Status, error) {
	if f.status.Sites == nil {
		return nil, nil //nolint:nilnil // nobody is to be told of anything
	}
	past := []alert.Delivered{{ID: "1", Subject: canary, Time: now(), Left: now()}, {ID: "2", Subject: canary, Time: now(), Left: now(), Error: canary}}
	return &alert.Status{
		Channels: []alert.ChannelStatus{
			{Name: "mail", Type: "smtp", LastSent: now(), Past: past},
			{Name: "phone", Type: "webhook", Failing: now(), Error: canary, Queued: 1, Oldest: now(), Next: now(), Queue: []alert.Queued{{ID: "1", Subject: canary, Time: now(), Phase: alert.Reminder}}},
		},
		Open: []alert.Incident{{Subject: canary, To: []string{canary}, Since: now()}}, DeadMan: &alert.DeadManState{Error: canary},
	}, nil
}

func (f *fake) TestAlerts(_ context.Context, channel string) ([]alert.TestReport, error) {
	return []alert.TestReport{{Channel: channel, Error: canary, Dialogue: []string{canary}}}, nil
}

func (f *fake) Targets(context.Context) ([]api.TargetView, error) {
	no := false
	return []api.TargetView{{
		Name: "router", Server: "10.1.0.1:8729", Kind: "routeros", Site: "berlin", State: api.TargetFailing, Product: canary, Error: canary,
		Records: []api.TargetRecord{
			{Name: "app.example.lan", Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.1.0.12"}, Visible: &no},
			{Name: "tv.example.lan", Type: "A", Desired: []string{"10.1.0.11"}, Actual: []string{"10.1.0.11"}},
		},
		Foreign: []api.TargetForeign{
			{Name: "app.example.lan", Type: "A", Address: "10.1.0.99", Text: canary}, {Name: canary, Type: "A", Address: "10.1.0.200"},
		},
		Strangers: 5, NoFailover: []api.TargetConflict{{Name: canary, Type: "A", Text: canary}},
		Findings: []api.TargetFinding{{Severity: sites.Critical, Text: canary}}, Disabled: &api.TargetOrder{By: canary, Reason: canary},
	}}, nil
}

func (f *fake) Plan(context.Context, string) ([]api.TargetPlan, error) { return nil, nil }

func (f *fake) Operate(_ context.Context, r api.TargetRequest) (api.TargetReply, error) {
	f.words = append(f.words, r)
	return api.TargetReply{
		Text: canary, Refused: r.Target == "stubborn",
		Changes: []api.TargetChange{{Verb: string(r.Verb), Name: canary, Type: "A", From: "10.1.0.99"}},
	}, nil
}

func (f *fake) Certificates(context.Context, string) (api.CertificateList, error) {
	return api.CertificateList{Certificates: []api.TargetCertificate{{Server: canary, Fingerprint: "sha256:0102", Subject: canary, Reason: canary}, {Server: "x", Error: canary}}}, nil
}

// words are the states of nodes.
var words = []sites.Word{sites.WordPending, sites.WordUp, sites.WordFailing, sites.WordOut, sites.WordRecovering, sites.WordReturning, sites.WordMaintenance, sites.WordDisabled}

// hostile makes a controller with so many sites of nodes in every state.
func hostile(count int) *fake {
	f := &fake{}
	for i := range count {
		s := sites.SiteView{Name: "berlin", Condition: sites.SiteIsDown, Explain: canary, Witnesses: []sites.WitnessView{{Name: canary, Outcome: "down"}}}
		if i > 0 {
			s.Name = "s" + strings.Repeat("x", i%60)
		}
		for _, w := range words {
			s.Nodes = append(s.Nodes, sites.NodeView{
				Name: "a", Word: w, Since: now().Add(-time.Minute), Next: now().Add(time.Minute), Explain: canary + " since 23:59:50 UTC",
				Ordered: &sites.Hold{By: canary, Reason: canary}, Addresses: []netip.Addr{netip.MustParseAddr("10.1.0.11")},
			})
		}
		s.Pools = []sites.PoolView{{Name: "default", Serves: "empty", Paused: &sites.Hold{By: canary, Reason: canary}, Explain: canary}}
		f.status.Sites = append(f.status.Sites, s)
		f.status.Problems = append(f.status.Problems, canary)
	}
	f.status.Config = api.ConfigStatus{Path: canary, Error: canary, Warnings: []string{canary}}
	f.status.Services = []api.ServiceView{{Hosts: []string{canary}, Pool: canary, Sites: []api.ServiceAnswerView{{Site: "berlin", Addresses: []string{canary}}}}}
	return f
}

func pagesOf(t testing.TB, f *fake) *Handler {
	t.Helper()
	h, err := New(Deps{
		Reader: f, Operator: f, Historian: f, Entrance: f, Alerter: f, Publisher: f, Configuration: f, Log: slog.New(slog.DiscardHandler), Now: now,
		SiteOf: func(netip.Addr) (string, bool) { return "berlin", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func ask(h http.Handler, role auth.Role, method, path, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form))
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(api.WithCaller(r.Context(), &api.Caller{Name: "bob", Role: role})))
	return w
}
