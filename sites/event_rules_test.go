package sites

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever is woken at night must be woken by what needs them, and by nothing
// else.
func TestEventsSeverity(t *testing.T) {
	want := map[Severity][]Kind{
		Critical: {SiteDown, ControllerIsolated, PoolOutageStarted, MoveHeld, MassFailure, StoreFailed, KeyReplaced},
		Warning: {
			FailoverOutage, FailoverSwitch, NodeOffline, ProbeNeverUp, ProbeFailed, ProbeStale, Unjudged, ResolverDown,
			ClockSuspect, WindowSkipped, QuarantineStarted, RestartLoop, CertificateExpiring, ConfigRejected,
			Drift, PublishFailed, PublishNotVisible, InstanceConflict,
			AlertFailed, AlertDropped, ActionFailed,
		},
	}
	got := map[Severity][]Kind{}
	for _, k := range Kinds() {
		if s := k.Severity(); s != Info {
			got[s] = append(got[s], k)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds by severity (-want +got):\n%s", diff)
	}
}

// An alert that is never resolved stays on somebody's screen for ever.
func TestEventsResolve(t *testing.T) {
	tests := []struct {
		name, in       string
		cfg            func(*Config)
		began, resolve Kind
	}{
		{"node", `60s down berlin/a
			100s up berlin/a
			10m tick`, nil, NodeOffline, NodeOnline},
		{"outage", `60s down berlin/a
			100s up berlin/a
			10m tick`, nil, FailoverOutage, FailoverFailback},
		{"outage by failback", `60s down berlin/a
			100s failback berlin force`, nil, FailoverOutage, FailoverFailback},
		{"outage by maintenance", `60s down berlin/a
			100s maintenance berlin/a
			100s up berlin/a
			2m maintenance_end berlin/a`, nil, FailoverOutage, FailoverFailback},
		{"maintenance", `60s maintenance berlin/a
			2m maintenance_end berlin/a`, nil, FailoverMaintenance, FailoverMaintenance},
		{"window", `60s tick
			5m tick`, window("1 12 * * *", 120e9, 0), FailoverMaintenance, FailoverMaintenance},
		{"disabled", `60s disable berlin/a
			2m enable berlin/a`, nil, NodeDisabled, NodeEnabled},
		{"paused", `60s pause berlin for=1m
			3m tick`, nil, Paused, Resumed},
		{"site", `60s down berlin
			2m up berlin
			3m tick`, nil, SiteDown, SiteUp},
		{"resolver", `60s down berlin resolver 10.1.0.1
			2m up berlin resolver 10.1.0.1
			3m tick`, nil, ResolverDown, ResolverUp},
		{"resolver that became a site", `60s down berlin resolver 10.1.0.1
			2m down berlin
			3m up berlin
			3m up berlin resolver 10.1.0.1
			4m tick`, nil, ResolverDown, ResolverUp},
		{"isolated", `60s down berlin
			60s down hamburg
			2m up berlin
			3m tick`, nil, ControllerIsolated, ControllerReconnected},
		{"pool", `60s down berlin/a
			60s down berlin/b
			2m up berlin/a
			3m tick`, nil, PoolOutageStarted, PoolOutageResolved},
		{"never up", `0s down berlin/a
			2m up berlin/a
			3m tick`, nil, ProbeNeverUp, ProbeRecovered},
		{"unjudged", `60s unknown berlin resolver 10.1.0.1
			2m up berlin resolver 10.1.0.1
			3m tick`, nil, Unjudged, Judged},
		{"stale", `60s mute berlin/a
			2m up berlin/a
			3m tick`, nil, ProbeStale, ProbeFresh},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(t, usual(tt.cfg))
			d.play(tt.in)
			var began uint64
			for _, e := range d.all {
				switch {
				case e.Kind == tt.began && began == 0:
					began = e.ID
				case e.Kind == tt.resolve && began != 0 && e.Resolves == began:
					return
				}
			}
			t.Errorf("no %s resolves %s (%d): %v", tt.resolve, tt.began, began, d.all)
		})
	}
}

// An order that is given anew would look as if it had ended, to everyone who
// follows what an event resolves; and what it is the end of would stay open.
func TestEventsOfOrdersAnew(t *testing.T) {
	for name, tt := range map[string]struct {
		in  string
		cfg func(*Config)
	}{
		"maintenance": {in: `60s maintenance berlin/a
			70s maintenance berlin/a for=1h
			80s maintenance_end berlin/a`},
		"disabled": {in: `60s disable berlin/a
			70s disable berlin/a for=1h
			80s enable berlin/a`},
		"paused": {in: `60s pause hamburg
			70s switch hamburg b for=1h
			80s resume hamburg`},
		"paused twice": {in: `60s pause hamburg
			70s pause hamburg for=1h
			80s resume hamburg`},
		"maintenance within a window": {`90s maintenance berlin/a
			100s maintenance berlin/a for=1h
			110s maintenance_end berlin/a`, window("1 12 * * *", 120e9, 0)},
	} {
		d := newDriver(t, usual(tt.cfg))
		d.play(tt.in)
		open := make(map[uint64]bool)
		for _, e := range d.all {
			if e.Kind == FailoverSwitch {
				continue // it happens, and that is all
			}
			began := e.Resolves == 0 || e.Anew
			if e.Anew != strings.Contains(e.Text, "until") && name != "maintenance within a window" || e.Resolves != 0 && !open[e.Resolves] {
				t.Errorf("%s: %+v", name, e)
			}
			delete(open, e.Resolves)
			if began {
				open[e.ID] = true
			}
		}
		if len(open) != 0 || len(d.all) < 3 {
			t.Errorf("%s: %v stay open of %v", name, open, d.all)
		}
	}
}

// Events of one moment must come in an order that people can follow: the node,
// then what it means for the pool, in the configuration's order.
func TestEventsOrder(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "nodes first, then pools, in the configuration's order",
			cfg: several(third, emergencies("berlin>hamburg hamburg>berlin munich>berlin"), func(c *Config) {
				c.Sites[0].Pools = append(c.Sites[0].Pools, Pool{Name: "media", Mode: ActivePassive, Nodes: []int{1, 0}})
			}),
			in: `60s down berlin/a
				60s down berlin/b
				60s down hamburg/a
				60s down munich/a
				2m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				node_offline hamburg/a
				failover_outage hamburg/a
				node_offline munich/a
				failover_outage munich/a
				failover_switch berlin
				failover_switch berlin/media
				failover_switch hamburg
				failover_switch munich`,
		}, {
			name: "a grace that is waived by what happens at another site",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin/a
				60s down berlin/b
				100s up berlin/a
				110s down hamburg/a
				110s down hamburg/b
				130s events
				145s events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				failover_switch berlin
				node_online berlin/a
				failover_failback berlin/a
				node_offline hamburg/a
				failover_outage hamburg/a
				node_offline hamburg/b
				failover_outage hamburg/b
				failover_switch berlin
				pool_outage_started hamburg`,
		},
	})
}

// An answer that only shrinks is no switch, and a last resort says its one
// event alone.
func TestEventsSwitch(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "an active-active answer that shrinks and grows",
			in: `60s down berlin/a
				100s up berlin/a
				10m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a`,
		}, {
			name: "the last resort",
			in: `60s down hamburg/a
				60s down hamburg/b
				100s events`,
			want: `node_offline hamburg/a
				failover_outage hamburg/a
				node_offline hamburg/b
				failover_outage hamburg/b
				pool_outage_started hamburg`,
		},
	})
}
