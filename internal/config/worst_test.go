package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, check promises a failover that is quicker than the real one,
// or frightens with one that is slower.
func TestWorstCase(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name, site, service string
		moved, ttl          time.Duration
	}{
		{"defaults", "", "", 38005 * ms, 5 * time.Second},
		{"nothing to wait for", "threshold: 0s, probe_interval: 200ms, probe_timeout: 100ms", "", 1400*ms + 5*ms, 30*time.Second - 905*ms},
		{"a long TTL is left over", "ttl: 10m", "", 38005 * ms, 10*time.Minute - 26005*ms},
		{"a service's TTL", "", "ttl: 2m", 38005 * ms, 2*time.Minute - 26005*ms},
		{"a service's shorter TTL", "ttl: 10m", "ttl: 15s", 38005 * ms, 5 * time.Second},
		{"a short TTL", "ttl: 3s", "", 38005 * ms, 3 * time.Second},
		{"no witness", "witnesses: none", "", 35005 * ms, 30*time.Second - 23005*ms},
		{"no witness, no threshold", "witnesses: none, threshold: 0s", "", 12005 * ms, 30*time.Second - 5*ms},
		{"timeout over interval", "threshold: 0s, probe_interval: 1s, probe_timeout: 4s", "", 10005 * ms, 30*time.Second - 1005*ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sum, ok := worst(t, tt.site, tt.service, "{name: a, addresses: [10.1.0.11]}").WorstCase("berlin")
			if !ok || sum.Moved() != tt.moved || sum.TTL != tt.ttl || sum.Total() != tt.moved+tt.ttl {
				t.Errorf("%v, moved %s, TTL %s; want %s, %s", ok, sum.Moved(), sum.TTL, tt.moved, tt.ttl)
			}
		})
	}
}

// If this fails, check shows another node than the slowest, or a sum where
// nothing ever moves.
func TestWorstNode(t *testing.T) {
	tests := []struct{ name, nodes, want string }{
		{"slowest", "{name: a, addresses: [10.1.0.11]}, {name: b, addresses: [10.1.0.12], threshold: 1m}, {name: c, addresses: [10.1.0.13]}", "b"},
		{"one that reports by itself", "{name: a, addresses: [10.1.0.11], threshold: 40s}, {name: b, addresses: [10.1.0.12], probes: [{type: heartbeat, token: 0123456789abcdef}]}", "b"},
		{"reports that move nothing", "{name: a, addresses: [10.1.0.11], threshold: 40s}, {name: b, addresses: [10.1.0.12], probes: [{type: tcp, port: 80}, {type: heartbeat, token: 0123456789abcdef, steer: false}]}", "a"},
		{"pairs aside", "{name: a, addresses: [10.1.0.11], threshold: 1m, failover: false}, {name: b, addresses: [10.1.0.12]}", "b"},
		{"pairs only", "{name: a, addresses: [10.1.0.11], failover: false}", ""},
		{"no judged family", "{name: a, addresses: [\"fd00::1\"]}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sum, ok := worst(t, "", "", tt.nodes).WorstCase("berlin")
			if sum.Node != tt.want || ok != (tt.want != "") {
				t.Errorf("got %q, %v; want %q", sum.Node, ok, tt.want)
			}
		})
	}
	if _, ok := worst(t, "", "", "{name: a, addresses: [10.1.0.11]}").WorstCase("nowhere"); ok {
		t.Error("a sum for a site that does not exist")
	}
}

// If this fails, check promises a failover of a node that reports by itself long
// before anybody can know that it is silent.
func TestWorstHeartbeat(t *testing.T) {
	sum, _ := worst(t, "", "", "{name: a, addresses: [10.1.0.11], probes: [{type: heartbeat, stale_after: 1m, token: 0123456789abcdef}]}").WorstCase("berlin")
	plain, _ := worst(t, "", "", "{name: a, addresses: [10.1.0.11]}").WorstCase("berlin")
	if got := sum.Moved() - plain.Moved(); got != time.Minute {
		t.Errorf("it takes %s longer, want 1m", got)
	}
	if text := sum.String(); !strings.Contains(text, "     1m  until its last report is too old (stale_after)\n  +") {
		t.Errorf("said as\n%s", text)
	}
}

func worst(t *testing.T, site, service, nodes string) *config.Config {
	t.Helper()
	if site != "" {
		site += ", "
	}
	if service != "" {
		service += ", "
	}
	cfg, err := config.Parse("x.yaml", []byte(`
dns: {listen: ["127.0.0.1:0"], zones: [{name: example.lan, ns: [ns.example.net], hostmaster: a@example.lan}]}
sites: [{name: berlin, `+site+`resolver: 10.1.0.1, nodes: [`+nodes+`]}]
services: [{`+service+`hosts: [app.example.lan]}]
`), fixed())
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// If this fails, check says nothing of what a site's loss costs, or promises a
// move that never comes.
func TestLossOfASite(t *testing.T) {
	const nodes = "{name: a, addresses: [10.1.0.11]}"
	tests := []struct{ name, site, other, want string }{
		{"held", "emergency_site: hamburg", "", ""},
		{
			"moved", "emergency_site: hamburg, on_site_down: {failover_after: 10m}", "",
			"  If nothing of berlin can be reached: hamburg steps in 10m17s at most after that (17s until the site is known to be down, and failover_after 10m), if another site answers throughout.\n",
		},
		{"no proof", "emergency_site: hamburg, on_site_down: {failover_after: 10m}", "local: true", ""},
		{"no witness", "emergency_site: hamburg, witnesses: none, on_site_down: {failover_after: 10m}", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := tt.other
			if other != "" {
				other += ", "
			}
			cfg, err := config.Parse("x.yaml", []byte("sites: [{"+tt.site+", name: berlin, resolver: 10.1.0.1, nodes: ["+nodes+"]}, {"+other+"name: hamburg, resolver: 10.2.0.1, nodes: ["+nodes+"]}]"), fixed())
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for line := range strings.Lines(cfg.WorstCases()) {
				if strings.Contains(line, "nothing of") {
					got += line
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// If this fails, the sum that check prints cannot be followed.
func TestWorstCasesText(t *testing.T) {
	cfg := load(t, "testdata/good/full.yaml")
	golden(t, "testdata/good/full.txt", cfg.Summary()+"\n\n"+cfg.WorstCases())
	cfg = load(t, "testdata/warn/nothing.yaml")
	if got := cfg.Summary() + cfg.WorstCases(); got != "0 sites, 0 nodes, 0 pools, 0 hosts of services, no built-in DNS server" {
		t.Errorf("got %q", got)
	}
}

// If this fails, check promises the failover of a site that no name ever leads
// to, or leaves that of an emergency site out.
func TestWorstCasesOfUnusedSites(t *testing.T) {
	cfg := load(t, "testdata/warn/pool-unused.yaml")
	text := cfg.WorstCases()
	for _, site := range []string{"linz", "graz"} {
		if want := "\n" + site + "\n  no service has this site: its nodes are never answered\n"; !strings.Contains(text, want) {
			t.Errorf("nothing of %s in\n%s", site, text)
		}
	}
	if n := strings.Count(text, "(worst case"); n != 2 {
		t.Errorf("%d sums, want those of berlin and hamburg:\n%s", n, text)
	}
	cfg = load(t, "testdata/warn/emergency-without-services.yaml")
	if n := strings.Count(cfg.WorstCases(), "(worst case"); n != len(cfg.Sites.Sites) {
		t.Errorf("%d sums for %d sites that serve:\n%s", n, len(cfg.Sites.Sites), cfg.WorstCases())
	}
}
