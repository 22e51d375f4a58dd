package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

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
	return sites.Reply{Refused: !c.Force, Text: canary}, nil
}

func (f *fake) Probe(context.Context, string, string) (api.ProbeReport, error) {
	return api.ProbeReport{Lines: []api.ProbedLine{{Address: canary, Checks: []api.ProbedCheck{{Checked: sites.Checked{Probe: canary, Outcome: "down", Text: canary}}}}}}, nil
}

func (f *fake) Reload(context.Context) (api.ReloadReport, error) { return api.ReloadReport{}, nil }

func (f *fake) History(context.Context, string, string, time.Time, time.Time) ([]history.Line, error) {
	return []history.Line{{
		Address: netip.MustParseAddr("10.1.0.11"), Failures: []history.Failure{{Probe: canary, Text: canary, Count: 3}},
		Probes: []history.Probe{{Points: []history.Point{{Time: now().Add(-time.Minute), Down: 1, Up: 1, Mean: time.Millisecond, Most: time.Second, Cause: canary}}}},
	}}, nil
}

func (f *fake) Enter(http.ResponseWriter, *http.Request, string, string) (auth.Caller, error) {
	return auth.Caller{Name: "alice"}, nil
}
func (f *fake) Leave(http.ResponseWriter, *http.Request, bool) {}

func (f *fake) Written(context.Context) ([]config.Shown, error) {
	return []config.Shown{{Path: canary, Text: canary}}, nil
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
		Reader: f, Operator: f, Historian: f, Entrance: f, Configuration: f, Log: slog.New(slog.DiscardHandler), Now: now,
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

// If this fails, a page cannot be made in some state, or a name, a reason or the
// text of an event runs as a script in the browser of who looks.
func TestPagesOfHostileTexts(t *testing.T) {
	paths := []string{
		"/", "/sites/berlin", "/sites/berlin/a", "/services?client=10.1.0.9&name=x", "/services?client=" + url.QueryEscape(canary) + "&name=x", "/targets",
		"/events", "/configuration", "/login?to=" + url.QueryEscape(canary), "/act?verb=maintenance&site=berlin&node=a&reason=" + url.QueryEscape(canary), "/none" + url.PathEscape(canary),
	}
	for name, f := range map[string]*fake{"rich": hostile(3), "huge": hostile(125)} {
		for _, path := range paths {
			w := ask(pagesOf(t, f), auth.Operator, "GET", path, "")
			if w.Code != http.StatusOK && !strings.HasPrefix(path, "/none") {
				t.Errorf("%s %s: %d %s", name, path, w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), "<script>alert") {
				t.Errorf("%s %s: the text is taken for a script", name, path)
			}
		}
	}
	for _, path := range []string{"/", "/services", "/targets", "/events", "/configuration"} {
		if w := ask(pagesOf(t, &fake{}), auth.Viewer, "GET", path, ""); w.Code != http.StatusOK {
			t.Errorf("without sites: %s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := ask(pagesOf(t, hostile(1)), auth.Operator, "POST", "/probe/berlin/a", ""); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<script>alert") {
		t.Errorf("probe now: %d %s", w.Code, w.Body)
	}
}

// If this fails, somebody acts who may only look, or who has not logged in reads.
func TestRolesOfPages(t *testing.T) {
	f := hostile(1)
	h := pagesOf(t, f)
	form := "verb=maintenance&site=berlin&node=a&force=yes"
	for _, path := range []string{"/act", "/probe/berlin/a"} {
		if w := ask(h, auth.Viewer, "POST", path, form); w.Code != http.StatusForbidden {
			t.Errorf("a viewer at %s: %d", path, w.Code)
		}
	}
	if w := ask(h, auth.Viewer, "GET", "/sites/berlin/a", ""); strings.Contains(w.Body.String(), `class="do"`) {
		t.Error("a viewer sees buttons")
	}
	if w := ask(h, auth.Nobody, "GET", "/events?site=x", ""); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/login?to=%2Fevents%3Fsite%3Dx" {
		t.Errorf("nobody: %d %v", w.Code, w.Header())
	}
	if len(f.commands) != 0 {
		t.Fatalf("commands were given: %+v", f.commands)
	}
	if w := ask(h, auth.Operator, "POST", "/act", "verb=maintenance&site=berlin&node=a"); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), `name="force"`) {
		t.Errorf("refused without its way out: %d", w.Code)
	}
	if w := ask(h, auth.Operator, "POST", "/act", form+"&for=2h"); w.Code != http.StatusOK || f.commands[1].By != "bob" || f.commands[1].For != 2*time.Hour {
		t.Errorf("%d %+v", w.Code, f.commands)
	}
}

// If this fails, a link to our login leads to somebody else's page, or an export
// runs as a formula in a spreadsheet.
func TestNothingLeadsElsewhere(t *testing.T) {
	h := pagesOf(t, hostile(1))
	for _, to := range []string{"//evil.example", "https://evil.example", `/\evil.example`, "evil", ""} {
		if w := ask(h, auth.Nobody, "POST", "/login", url.Values{"to": {to}}.Encode()); w.Header().Get("Location") != "/" {
			t.Errorf("%q leads to %q", to, w.Header().Get("Location"))
		}
	}
	text := ask(h, auth.Viewer, "GET", "/events.csv", "").Body.String()
	for _, sign := range []string{"=", "+", "@"} {
		if !strings.Contains(text, "'"+sign+"<script>") {
			t.Errorf("%q begins a cell: %s", sign, text)
		}
	}
}

// If this fails, a script of others is not the one that its package has, or a page
// is too heavy for a phone at night.
func TestAssetsAndWeight(t *testing.T) {
	total := 0
	for name, want := range map[string]string{
		"htmx.min.js":          "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717", // htmx.org 2.0.11
		"idiomorph-ext.min.js": "5811b9a7eda14878b7dab4378bf60432e1bb6f11fcfb970cc26540642650181e", // idiomorph 0.8.0
		"dnsteer.js":           "", "style.css": "", "icon.svg": "",
	} {
		data, err := fs.ReadFile(files, "assets/"+name)
		if err != nil {
			t.Fatal(err)
		}
		total += len(data)
		if sum := sha256.Sum256(data); want != "" && hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is another than its package's", name)
		}
	}
	page := ask(pagesOf(t, hostile(3)), auth.Operator, "GET", "/", "").Body.Len()
	if total+page > 150_000 {
		t.Errorf("the first page weighs %d bytes without a cache, at most 150,000", total+page)
	}
}

// The times of terminals become the reader's: one without a date is the nearest.
func TestProse(t *testing.T) {
	list := prose("out since 23:59:50 UTC, back at 2026-03-01 00:01:00 UTC", now())
	if len(list) != 5 || !list[1].At.Equal(now().Add(-20*time.Second)) || !list[3].At.Equal(now().Add(50*time.Second)) || list[4].Text != "." {
		t.Errorf("%+v", list)
	}
}

// The overview of 1,000 nodes.
func BenchmarkOverview(b *testing.B) {
	h := pagesOf(b, hostile(125))
	for b.Loop() {
		ask(h, auth.Operator, "GET", "/", "")
	}
}
