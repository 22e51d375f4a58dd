package metrics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/internal/publish"
)

// board is what the test reads of the Grafana dashboard.
type board struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
	Annotations struct{ List []struct{ Name, Expr string } }
}

// The dashboard would show nothing, and the rules never fire, when a metric has
// another name than they ask for. A real Prometheus scrapes the metrics of a
// controller in trouble, takes the rules in and answers each expression.
func TestRealPrometheus(t *testing.T) {
	var more atomic.Int64
	grown := func() int { return int(more.Load()) }
	set, beside := fedBeside(t, world{panics: grown}, grown)
	web := httptest.NewServer(set.Handler())
	defer web.Close()
	// What grows is seen to grow.
	busy := make(chan struct{})
	defer close(busy)
	go func() {
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			select {
			case <-busy:
				tick.Stop()
				return
			case <-tick.C:
				set.Decided(2 * time.Second)
				more.Add(1)
				beside.Synced("router", "10.1.0.1:8729", publish.Failed, time.Second)
				beside.Synced("router", "10.1.0.1:8729", publish.Refused, time.Second)
				beside.Visible("router", "10.1.0.1:8729", 40*time.Second)
			}
		}
	}()
	p := startPrometheus(t, strings.TrimPrefix(web.URL, "http://"))
	p.until("the second scrape", func() bool { return p.ask(`count_over_time(dnsteer_start_time_seconds[1m]) > 1`) > 0 })

	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "grafana", "dnsteer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b board
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, panel := range b.Panels {
		for _, target := range panel.Targets {
			asked++
			expr := strings.ReplaceAll(target.Expr, "$__rate_interval", "1m")
			p.until(fmt.Sprintf("%s gives something for %s", panel.Title, expr), func() bool { return p.ask(expr) > 0 })
		}
	}
	for _, a := range b.Annotations.List {
		p.ask(a.Expr) // which is empty unless something moves; a faulty one is an error
	}
	if asked < 10 {
		t.Errorf("only %d expressions were found in the dashboard", asked)
	}
	p.rules()
}

// quiet are the rules that the controller in trouble does not fulfil: it
// answers, and what they look at is not in this trouble.
var quiet = []string{"DnsteerAbsent", "DnsteerNodeFlaps", "DnsteerSiteDown"}

type prometheusServer struct {
	t   *testing.T
	url string
}

// startPrometheus starts one that scrapes an address each second, until the test
// ends.
func startPrometheus(t *testing.T, target string) *prometheusServer {
	t.Helper()
	dir := t.TempDir()
	at := daemontest.Addr(t).String()
	rules, err := filepath.Abs(filepath.Join("..", "..", "deploy", "prometheus", "dnsteer.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n  - job_name: dnsteer\n    static_configs: [{targets: [%q]}]\n", rules, target)
	path := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "promtool", "check", "config", path).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v\n%s", err, out)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	daemontest.Start(t, "prometheus", "--config.file="+path, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+at, "--log.level=warn")
	p := &prometheusServer{t, "http://" + at}
	p.until("it is ready", func() bool {
		res, err := http.Get(p.url + "/-/ready")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return p
}

// until asks again and again.
func (p *prometheusServer) until(what string, ok func() bool) {
	p.t.Helper()
	limit := time.Now().Add(3 * time.Minute)
	for tick := time.NewTicker(100 * time.Millisecond); !ok(); <-tick.C {
		if time.Now().After(limit) {
			p.t.Fatalf("it does not come to be that %s", what)
		}
	}
}

func (p *prometheusServer) get(path string, into any) {
	p.t.Helper()
	res, err := http.Get(p.url + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		p.t.Fatal(err)
	}
}

// ask gives how many series an expression has.
func (p *prometheusServer) ask(expr string) int {
	p.t.Helper()
	var answer struct {
		Status, Error string
		Data          struct{ Result []any }
	}
	p.get("/api/v1/query?query="+url.QueryEscape(expr), &answer)
	if answer.Status != "success" {
		p.t.Fatalf("%s: %s", expr, answer.Error)
	}
	return len(answer.Data.Result)
}

// rules holds that each rule is met by the controller in trouble, but for those
// that cannot be.
func (p *prometheusServer) rules() {
	p.t.Helper()
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, State, Health, LastError, Query string }
			}
		}
	}
	met := 0
	p.until("every rule has been evaluated and met", func() bool {
		p.get("/api/v1/rules", &answer)
		met = 0
		for _, r := range answer.Data.Groups[0].Rules {
			if r.Health == "err" {
				p.t.Fatalf("%s: %s", r.Name, r.LastError)
			}
			if r.State == "inactive" && !slices.Contains(quiet, r.Name) {
				return false
			}
			met++
		}
		return met > 0
	})
	for _, r := range answer.Data.Groups[0].Rules {
		if r.State != "inactive" && slices.Contains(quiet, r.Name) {
			p.t.Errorf("%s is met: %s", r.Name, r.Query)
		}
	}
}
