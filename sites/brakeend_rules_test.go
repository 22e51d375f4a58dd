package sites

import (
	"strings"
	"testing"
)

// What the brake holds must go on as soon as the failure is over or the operator
// says so, and not because the controller was started anew.
func TestA10End(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "it ends by itself when the share drops; what fails still is taken out",
			cfg:  braked,
			in: allFail + `5m up berlin/a
				5m up berlin/b
				5m4s see berlin, hamburg
				5m20s see hamburg
				6m events`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11
				hamburg=last_resort 10.2.0.11
				mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b
				mass_failure_ended
				node_online berlin/a
				node_online berlin/b
				failover_outage hamburg/a
				failover_outage hamburg/b
				pool_outage_started hamburg`,
		}, {
			name: "one answer in between ends nothing",
			cfg:  braked,
			in: allFail + `5m up berlin/a
				5m up berlin/b
				5m5s down berlin/a
				5m5s down berlin/b
				6m see berlin/a
				6m events`,
			want: `berlin/a=failing
				mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b`,
		}, {
			name: "release: rounds begin at once",
			cfg:  braked,
			in: allFail + `5m release
				5m2s see berlin/a, hamburg/b, berlin, hamburg
				5m2s events`,
			want: `berlin/a=out
				hamburg/b=out
				berlin=last_resort 10.1.0.11, 10.1.0.12
				hamburg=last_resort 10.2.0.11
				mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b
				mass_failure_ended
				failover_outage berlin/a
				failover_outage berlin/b
				failover_outage hamburg/a
				failover_outage hamburg/b
				pool_outage_started berlin
				pool_outage_started hamburg`,
		}, {
			name: "released, it holds nothing of the same failure, and all of the next",
			cfg:  braked,
			in: allFail + `5m release
				5m10s events
				10m up berlin/a
				10m up berlin/b
				10m up hamburg/a
				10m up hamburg/b
				20m see berlin/a, hamburg/a
				20m events
				30m down berlin/a
				30m down berlin/b
				30m down hamburg/a
				30m down hamburg/b
				32m see berlin/a, hamburg/a`,
			want: `mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b
				mass_failure_ended
				failover_outage berlin/a
				failover_outage berlin/b
				failover_outage hamburg/a
				failover_outage hamburg/b
				pool_outage_started berlin
				pool_outage_started hamburg
				berlin/a=up
				hamburg/a=up
				node_online berlin/a
				node_online berlin/b
				failover_failback berlin/a
				failover_failback berlin/b
				node_online hamburg/a
				node_online hamburg/b
				failover_failback hamburg/a
				failover_failback hamburg/b
				pool_outage_resolved berlin
				pool_outage_resolved hamburg
				berlin/a=failing
				hamburg/a=failing`,
		}, {
			name: "release without a mass failure is refused",
			cfg:  braked,
			in:   `60s release`,
			want: `refused: Refused: there is no mass failure, and no brake to release.`,
		}, {
			name: "a restart under the brake lets nothing go",
			cfg:  braked,
			in: allFail + `5m restart 10s
				20m see berlin/a, hamburg/b, berlin, hamburg
				20m events
				20m release
				20m2s see berlin/a`,
			want: `berlin/a=failing
				hamburg/b=failing
				berlin=own 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11
				mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b
				berlin/a=out`,
		}, {
			name: "also where a part of it is out",
			cfg:  braked,
			in: `60s down berlin/a
				60s down hamburg/a
				60s down hamburg/b
				5m restart 10s
				20m see berlin/a, hamburg/a
				20m suspend 1h
				1h30m see hamburg/a, hamburg`,
			want: `berlin/a=out
				hamburg/a=failing
				hamburg/a=failing
				hamburg=own 10.2.0.11`,
		}, {
			name: "a reload that switches it off ends it",
			cfg:  braked,
			reload: []func(*Config){func(c *Config) {
				c.Brake = Brake{}
			}},
			in: allFail + `5m events
				5m reload 0
				5m2s see berlin/a
				5m2s events`,
			want: `mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b
				berlin/a=out
				mass_failure_ended
				failover_outage berlin/a
				failover_outage berlin/b
				failover_outage hamburg/a
				failover_outage hamburg/b
				pool_outage_started berlin
				pool_outage_started hamburg`,
		}, {
			name: "a resolver that misses one question ends no brake",
			cfg:  braked,
			in: allFail + `2m see berlin, hamburg
				2m events
				2m down hamburg resolver 10.2.0.1
				2m4s up hamburg resolver 10.2.0.1
				3m see berlin, hamburg
				3m events`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11
				mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b
				berlin=own 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "nor what an operator has released: that holds until the share drops",
			cfg:  several(braked, more(1, "c")),
			in: allFail + `100s release
				101s events
				105s down hamburg resolver 10.2.0.1
				109s up hamburg resolver 10.2.0.1
				114s down hamburg/c
				3m events`,
			want: `mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				failover_outage hamburg/a
				node_offline hamburg/b
				failover_outage hamburg/b
				failover_switch hamburg
				mass_failure_ended
				failover_outage berlin/a
				failover_outage berlin/b
				pool_outage_started berlin
				node_offline hamburg/c
				failover_outage hamburg/c
				pool_outage_started hamburg`,
		},
	})
}

// Whoever is told that the brake is off must learn why, and the alert of the mass
// failure must end by it.
func TestA10EndIsTold(t *testing.T) {
	tests := []struct{ name, in, want, reply string }{
		{"by itself", "5m up berlin/a\n5m up berlin/b\n6m tick", "The brake is off: fewer nodes fail now.", ""},
		{
			"released", "5m release berlin say", "The brake is off: released by ann.",
			"The brake is released: nodes that do not answer are taken out once their sites' resolvers prove the line.",
		},
		{"switched off", "5m reload 0", "The brake is off: it is switched off.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(t, usual(braked))
			d.reloads = []func(*Config){func(c *Config) { c.Brake = Brake{} }}
			d.play(allFail + tt.in)
			var began uint64
			var text string
			for _, e := range d.all {
				switch e.Kind {
				case MassFailure:
					began = e.ID
				case MassFailureEnded:
					text = e.Text
					if e.Resolves != began {
						t.Errorf("the end resolves event %d, want %d", e.Resolves, began)
					}
				default:
				}
			}
			if text != tt.want {
				t.Errorf("told %q, want %q", text, tt.want)
			}
			if said := strings.Join(d.seen, "; "); said != tt.reply {
				t.Errorf("replied %q, want %q", said, tt.reply)
			}
		})
	}
}
