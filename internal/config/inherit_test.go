package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// two is a configuration of two sites, of which the first has what is given.
func two(t *testing.T, top, site, node string) *config.Config {
	t.Helper()
	for _, text := range []*string{&site, &node} {
		if *text != "" {
			*text += ", "
		}
	}
	cfg, err := config.Parse("dir/x.yaml", []byte(top+`
sites:
  - {name: berlin, `+site+`resolver: 10.1.0.1, nodes: [{`+node+`name: a, addresses: [10.1.0.11]}, {name: b, addresses: [10.1.0.12]}], pools: [{name: x, nodes: [b]}]}
  - {name: hamburg, resolver: 10.2.0.1, nodes: [{name: a, addresses: [10.2.0.11]}]}
`), fixed())
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// If this fails, a fault of the prober takes all nodes out of DNS because the
// brake is off unnoticed, or holds where it was switched off.
func TestBrake(t *testing.T) {
	tests := []struct {
		name, in string
		want     sites.Brake
	}{
		{"left out", "", sites.Brake{Percent: 50, Within: time.Minute}},
		{"off", "brake: off", sites.Brake{}},
		{"share", "brake: {nodes: 30 %}", sites.Brake{Percent: 30, Within: time.Minute}},
		{"time", "brake: {within: 5m}", sites.Brake{Percent: 50, Within: 5 * time.Minute}},
		{"empty", "brake: {}", sites.Brake{Percent: 50, Within: time.Minute}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := two(t, tt.in, "", "").Sites.Brake; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// If this fails, a node is kept out longer than its configuration says, or a
// node that flaps is not kept out.
func TestQuarantine(t *testing.T) {
	const some, other = "quarantine: {outages: 3, within: 24h, hold: 6h}", "quarantine: {outages: 2, within: 1h, hold: 30m}"
	someSet := sites.Quarantine{Outages: 3, Within: 24 * time.Hour, Hold: 6 * time.Hour}
	otherSet := sites.Quarantine{Outages: 2, Within: time.Hour, Hold: 30 * time.Minute}
	tests := []struct {
		name, top, site, node string
		a, b                  sites.Quarantine
	}{
		{"left out", "", "", "", sites.Quarantine{}, sites.Quarantine{}},
		{"defaults", "defaults: {" + some + "}", "", "", someSet, someSet},
		{"site", "defaults: {" + some + "}", other, "", otherSet, otherSet},
		{"off at the site", "defaults: {" + some + "}", "quarantine: off", "", sites.Quarantine{}, sites.Quarantine{}},
		{"node", "", some, other, otherSet, someSet},
		{"off at the node", "", some, "quarantine: off", sites.Quarantine{}, someSet},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			nodes := two(t, tt.top, tt.site, tt.node).Sites.Sites[0].Nodes
			if diff := cmp.Diff([]sites.Quarantine{tt.a, tt.b}, []sites.Quarantine{nodes[0].Quarantine, nodes[1].Quarantine}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// If this fails, clients of a site that cannot be seen are moved although
// nobody asked for that, or are not although somebody did.
func TestOnSiteDown(t *testing.T) {
	const later = "on_site_down: {failover_after: 10m}"
	tests := []struct {
		name, top, site string
		want            time.Duration
	}{
		{"left out", "", "emergency_site: hamburg", 0},
		{"site", "", "emergency_site: hamburg, " + later, 10 * time.Minute},
		{"defaults", "defaults: {" + later + "}", "emergency_site: hamburg", 10 * time.Minute},
		{"site over defaults", "defaults: {" + later + "}", "emergency_site: hamburg, on_site_down: {failover_after: 1h}", time.Hour},
		{"hold", "defaults: {on_site_down: hold}", "emergency_site: hamburg", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := two(t, tt.top, tt.site, "").Sites.Sites
			if got := list[0].FailoverAfter; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := list[1].FailoverAfter; got != 0 {
				t.Errorf("a site without an emergency site fails over after %s", got)
			}
		})
	}
}

// If this fails, a pool answers other nodes than its policy says, or something
// else than it should when nothing is left.
func TestPools(t *testing.T) {
	type pool struct {
		Mode    sites.Mode
		Policy  sites.Policy
		OnEmpty sites.OnEmpty
		Sorry   string
	}
	tests := []struct {
		name, top, site string
		want            pool
	}{
		{"left out", "", "", pool{}},
		{"policy", "defaults: {policy: weighted}", "policy: ip_hash", pool{Policy: sites.PolicyIPHash}},
		{"policy of all", "defaults: {policy: weighted}", "", pool{Policy: sites.PolicyWeighted}},
		{"not inherited", "defaults: {policy: weighted}", "mode: active_passive", pool{Mode: sites.ActivePassive}},
		{"removed", "defaults: {on_empty: remove}", "", pool{OnEmpty: sites.OnEmptyRemove}},
		{"kept", "defaults: {on_empty: remove}", "on_empty: [keep]", pool{}},
		{"an address", "defaults: {on_empty: remove}", "on_empty: 10.9.0.1", pool{OnEmpty: sites.OnEmptyAnswer, Sorry: "10.9.0.1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, p := range two(t, tt.top, tt.site, "").Sites.Sites[0].Pools {
				var sorry []string
				for _, a := range p.Sorry {
					sorry = append(sorry, a.String())
				}
				if diff := cmp.Diff(tt.want, pool{p.Mode, p.Policy, p.OnEmpty, strings.Join(sorry, " ")}); diff != "" {
					t.Errorf("pool %s (-want +got):\n%s", p.Name, diff)
				}
			}
		})
	}
}
