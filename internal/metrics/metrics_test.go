package metrics

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/sites"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a controller in trouble of every kind that has a metric.
type world struct {
	err    error
	panics func() int // nil for none beside the first
}

func (w world) Status(context.Context) (api.Status, error) {
	at := time.Unix(1_700_000_000, 0).UTC()
	check := func(outcome string) []sites.Checked {
		took := 3 * time.Millisecond
		if outcome == "up" {
			took = 1200 * time.Millisecond
		}
		return []sites.Checked{{Probe: "tcp", Outcome: outcome, Duration: took}, {Probe: "new", Outcome: "none"}}
	}
	node := func(name string, word sites.Word, outcome string) sites.NodeView {
		return sites.NodeView{Name: name, Word: word, Answers: outcome == "up", Lines: []sites.LineView{{Family: "ipv4", Checks: check(outcome)}}}
	}
	return api.Status{
		Version: "1.2.3", Instance: "hq", Started: at, Problems: []string{"a", "b"}, Isolated: true, Brake: "holds",
		Config: api.ConfigStatus{Loaded: at, Error: "bad"}, Store: api.StoreStatus{Error: "full"},
		DNS:  &api.DNSStatus{Serials: map[string]uint32{"example.lan": 7}},
		HTTP: &api.HTTPStatus{CertificateEnds: at},
		Sites: []sites.SiteView{
			{
				Name: "berlin", Condition: sites.SiteIsUp, Witnesses: []sites.WitnessView{{Name: "resolver 10.1.0.1", Outcome: "down"}},
				Nodes: []sites.NodeView{node("a", sites.WordOut, "down"), node("b", sites.WordUp, "up")},
				Pools: []sites.PoolView{{Name: "default", Serves: "emergency:hamburg", Active: "b", Paused: &sites.Hold{}}},
			},
			{Name: "hamburg", Condition: sites.SiteIsDown, Pools: []sites.PoolView{{Name: "default", Serves: "own"}}},
		},
	}, w.err
}

func (w world) DNS() (dnsserver.Stats, bool) {
	panics := uint64(1)
	if w.panics != nil {
		panics += uint64(w.panics())
	}
	return dnsserver.Stats{
		UDP: dnsserver.Transport{
			Queries: 12, Responses: map[string]uint64{"NOERROR": 9}, Dropped: map[string]uint64{"denied": 3}, Limited: 2, Deferred: 4, Panics: panics,
			Took: dnsserver.Took{Count: 3, Sum: 40 * time.Microsecond, Within: map[time.Duration]uint64{10 * time.Microsecond: 2, 25 * time.Microsecond: 3}},
		},
		TCP:         dnsserver.Transport{Queries: 2, Responses: map[string]uint64{"REFUSED": 2}, Panics: 2},
		Connections: 1, Transfers: dnsserver.TransferStats{Whole: 1},
	}, true
}

// fed is a set that something has happened to.
func fed(t *testing.T, source Source) *Set {
	t.Helper()
	s, _ := fedBeside(t, source, func() int { return 0 })
	return s
}

// fedBeside is one with the metrics beside it, in which what is counted of targets
// and alerts has grown by more.
func fedBeside(t *testing.T, source Source, more func() int) (*Set, *Beside) {
	t.Helper()
	s, err := New(source, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	subject := sites.Subject{Site: "berlin", Node: "a"}
	s.Probed(&sites.Result{Subject: subject, Checks: []sites.Check{{Outcome: sites.Down, Cause: "timeout", Text: "10.1.0.11 is silent"}, {Outcome: sites.Up}}})
	s.Probed(&sites.Result{Subject: sites.Subject{Site: "gone", Node: "x"}, Checks: []sites.Check{{Outcome: sites.Down, Cause: "refused"}}})
	s.Happened([]sites.Event{{Kind: sites.FailoverOutage, Site: "berlin", Node: "a"}, {Kind: sites.SiteDown, Site: "hamburg"}})
	s.Decided(2 * time.Millisecond)
	b := NewBeside(func() []publish.View {
		return []publish.View{{Name: "router", Server: "10.1.0.1:8729", Pending: 2, Drifts: 3 + more()}}
	}, func() *alert.Status {
		return &alert.Status{Channels: []alert.ChannelStatus{{Name: "mail", Queued: 4, Taken: 5, Refused: 6 + more(), Dropped: 7}}}
	})
	b.Synced("router", "10.1.0.1:8729", publish.Failed, 20*time.Millisecond)
	b.Visible("router", "10.1.0.1:8729", 700*time.Millisecond)
	if err := s.Register(b); err != nil {
		t.Fatal(err)
	}
	return s, b
}

// A target that is gone would alarm for ever, or its last figures be taken for news.
func TestTargetsThatLeave(t *testing.T) {
	views := []publish.View{{Name: "router", Server: "a"}, {Name: "router", Server: "b"}}
	b := NewBeside(func() []publish.View { return views }, func() *alert.Status { return nil })
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(b)
	series := func(server string) (n int) {
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if l.GetName() == "server" && l.GetValue() == server {
						n++
					}
				}
			}
		}
		return n
	}
	for _, server := range []string{"a", "b"} {
		b.Synced("router", server, publish.Failed, time.Second)
		b.Visible("router", server, time.Second)
	}
	if a, b := series("a"), series("b"); a != b || a < 8 {
		t.Fatalf("%d and %d series", a, b)
	}
	views = views[:1]
	if a, b := series("a"), series("b"); a < 8 || b != 0 {
		t.Errorf("%d and %d series after one has left", a, b)
	}
	b.Synced("router", "b", publish.Failed, time.Second) // its last round ends late
	if n := series("b"); n != 0 {
		t.Errorf("%d series of one that has left come back", n)
	}
}

// Prometheus would refuse the metrics, or people would not find them by the names
// that they know from everything else.
func TestMetricsAreAsTheyShouldBe(t *testing.T) {
	s := fed(t, world{})
	problems, err := testutil.GatherAndLint(s.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	text := scrape(t, s)
	var ours strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "dnsteer_") {
			ours.WriteString(line)
		}
	}
	golden(t, filepath.Join("testdata", "metrics.txt"), ours.String())
	for _, d := range Descriptions() {
		if !strings.Contains(text, "# HELP "+d.Name+" ") {
			t.Errorf("%s is described and not told", d.Name)
		}
	}
	cmd := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// A metric that has labels without bound, or an address in them, fills the disk
// of Prometheus and tells strangers who asks.
func TestLabelsAreBounded(t *testing.T) {
	bounded := []string{
		"version", "instance", "site", "witness", "node", "state", "family", "probe", "subject", "reason", "pool", "kind",
		"severity", "cause", "transport", "rcode", "zone", "result",
		"target", "server", "channel",
	}
	for _, d := range Descriptions() {
		for _, l := range d.Labels {
			if !slices.Contains(bounded, l) {
				t.Errorf("%s: the label %s is not known to be bounded", d.Name, l)
			}
		}
	}
	if text := scrape(t, fed(t, world{})); strings.Contains(text, "is silent") || strings.Contains(text, `"gone"`) {
		t.Error("a text, or a site that is configured no more, is among the labels")
	}
}

// Readers of the documents would look for metrics that are not there.
func TestReference(t *testing.T) {
	golden(t, filepath.Join("..", "..", "docs", "metrics.md"), string(Reference()))
}

// A controller that hangs must be seen to, not look as if all were well.
func TestFailureIsSeen(t *testing.T) {
	s := fed(t, world{err: errors.New("the loop does not turn")})
	if _, err := s.Gatherer().Gather(); err == nil {
		t.Error("metrics that cannot be read are no error")
	}
}

// Another part's metrics must come along with these.
func TestRegister(t *testing.T) {
	s := fed(t, world{})
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "dnsteer_others_total", Help: "Others."})
	if err := s.Register(c); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(scrape(t, s), "dnsteer_others_total 0") {
		t.Error("it is not told")
	}
}

func scrape(t *testing.T, s *Set) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatal(w.Code, err, string(text))
	}
	return string(text)
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(bytes.TrimSpace(want)), strings.TrimSpace(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// If this fails, nobody is woken where one of the witnesses that must all answer is
// silent, and no node is taken out.
func TestSiteReachable(t *testing.T) {
	witnesses := []sites.WitnessView{{Name: "x", Outcome: "up"}, {Name: "y", Outcome: "down"}}
	for unjudged, want := range map[bool]string{false: "1", true: "0"} {
		set, err := New(fixed{api.Status{Sites: []sites.SiteView{{Name: "berlin", Condition: sites.SiteIsUp, Witnesses: witnesses, Unjudged: unjudged}}}}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := set.Text(&text); err != nil {
			t.Fatal(err)
		}
		if line := "dnsteer_site_reachable{site=\"berlin\"} " + want + "\n"; !strings.Contains(text.String(), line) {
			t.Errorf("unjudged %v: no %q in\n%s", unjudged, line, text.String())
		}
	}
}

// fixed is a source that has one status alone.
type fixed struct{ st api.Status }

func (f fixed) Status(context.Context) (api.Status, error) { return f.st, nil }
func (fixed) DNS() (stats dnsserver.Stats, ok bool)        { return stats, false }
