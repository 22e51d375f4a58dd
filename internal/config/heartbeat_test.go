package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

const heartbeats = `
defaults: {guard: {bytes_per_second: 32k}, policy: least_load}
sites:
  - name: berlin
    resolver: 10.1.0.1
    mode: active_passive
    nodes:
      - {name: a, addresses: [10.1.0.11], probes: [{type: heartbeat, token_file: a.token}]}
      - {name: b, addresses: [10.1.0.12], probes: [{type: tcp, port: 443}, {type: heartbeat, token: "${TOKEN_B}", every: 5s, stale_after: 1m, steer: false}]}
      - {name: c, addresses: [10.1.0.13], probes: [{type: haproxy, url: "http://{address}:8404/stats", username: u, password_file: page.password, backends: [app]}]}
    pools:
      - {name: tv, nodes: [b, a], guard: {bytes_per_second: 1.5M, quiet: 0s, at_most: 10m}}
      - {name: free, nodes: [b, a], mode: active_active, guard: off}
`

// If this fails, a node's reports are refused although it has the right token,
// or moves wait for other figures than those that were written.
func TestHeartbeats(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a.token": "token-of-berlin-a\n", "page.password": "hush hush\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Parse(filepath.Join(folder, "dnsteer.yaml"), []byte(heartbeats), config.Options{
		Instance: "test", LookupEnv: func(string) (string, bool) { return "token-of-berlin-b", true },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []probes.Beating{{Site: "berlin", Node: "a", Token: "token-of-berlin-a"}, {Site: "berlin", Node: "b", Token: "token-of-berlin-b"}}
	if diff := cmp.Diff(want, cfg.Heartbeats()); diff != "" {
		t.Errorf("heartbeats (-want +got):\n%s", diff)
	}
	a := cfg.Probers(sites.Subject{Site: "berlin", Node: "a"})
	if diff := cmp.Diff([]probes.Prober{probes.Heartbeat{StaleAfter: 90 * time.Second}}, a); diff != "" {
		t.Errorf("a (-want +got):\n%s", diff)
	}
	if b := cfg.Probers(sites.Subject{Site: "berlin", Node: "b"}); b[1] != (probes.Heartbeat{StaleAfter: time.Minute}) {
		t.Errorf("b: %+v", b)
	}
	c, ok := cfg.Probers(sites.Subject{Site: "berlin", Node: "c"})[0].(*probes.HAProxy)
	if !ok || c.Username != "u" || c.Password != "hush hush" || len(c.Backends) != 1 {
		t.Errorf("c: %+v", c)
	}
	var guards []sites.Guard
	var policies []sites.Policy
	for _, p := range cfg.Sites.Sites[0].Pools {
		guards, policies = append(guards, p.Guard), append(policies, p.Policy)
	}
	if diff := cmp.Diff([]sites.Guard{
		{BytesPerSecond: 32_000, Quiet: 30 * time.Second, AtMost: time.Hour},
		{BytesPerSecond: 1_500_000, AtMost: 10 * time.Minute},
		{},
	}, guards); diff != "" {
		t.Errorf("guards (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]sites.Policy{sites.PolicyAll, sites.PolicyAll, sites.PolicyLeastLoad}, policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	text := fmt.Sprintf("%+v %#v", cfg.Heartbeats(), c)
	for _, n := range cfg.Sites.Sites[0].Nodes {
		for _, p := range n.Probes {
			text += p.Key + p.Name
		}
	}
	if strings.Contains(text, "token-of") || strings.Contains(text, "hush") {
		t.Errorf("a secret is shown: %s", text)
	}
}

// A rate that is read otherwise than it was written puts moves off for ever, or
// not at all.
func TestParseBytes(t *testing.T) {
	for in, want := range map[string]float64{"0": 0, "500": 500, "32k": 32_000, "1.5M": 1_500_000, "2G": 2e9} {
		if got, err := config.ParseBytes(in); err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "k", "-1", "1kk", "1kB", "1e3", "0x10", "1 k", "nan", "inf", "1.2.3", "99999999999999999"} {
		if got, err := config.ParseBytes(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}
