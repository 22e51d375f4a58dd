package sites

import "testing"

// A drill must end by itself in time, whatever happens to the controller, to its
// clock and to the other nodes.
func TestC6End(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "of the last node it is refused (C4)",
			cfg:  func(c *Config) { c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = c.Sites[0].Nodes[:1], []int{0} },
			in:   `60s drill berlin/a for=1h`,
			want: `refused: Refused: site berlin would have no node left that serves, no recovering node answers, and no emergency site can step in. Give the site an emergency_site, wait until another node answers, or use --force.`,
		}, {
			name: "by force it goes up to where the pool would be lost",
			cfg:  func(c *Config) { c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = c.Sites[0].Nodes[:1], []int{0} },
			in: `60s drill berlin/a for=1h force
				89s see berlin/a
				2m see berlin/a, berlin
				2m events`,
			want: `berlin/a=failing
				berlin/a=up
				berlin=own 10.1.0.11
				drill_started berlin/a (drill)
				node_offline berlin/a (drill)
				drill_ended berlin/a (drill)
				node_online berlin/a (drill)`,
		}, {
			name: "with an emergency site it is that which is exercised",
			cfg: several(emergencies("berlin>hamburg"), func(c *Config) {
				c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = c.Sites[0].Nodes[:1], []int{0}
			}),
			in: `60s drill berlin/a for=5m
				2m see berlin/a, berlin
				6m tick
				6m see berlin
				6m events`,
			want: `berlin/a=out
				berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11
				drill_started berlin/a (drill)
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)
				failover_switch berlin (drill)
				drill_ended berlin/a (drill)
				failover_failback berlin/a (drill)
				node_online berlin/a (drill)
				failover_switch berlin (drill)`,
		}, {
			name: "until that can no more",
			cfg: several(emergencies("berlin>hamburg"), func(c *Config) {
				c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = c.Sites[0].Nodes[:1], []int{0}
			}),
			in: `60s drill berlin/a for=1h
				2m down hamburg/a
				2m down hamburg/b
				3m see berlin, berlin/a, hamburg`,
			want: `berlin=own 10.1.0.11
				berlin/a=up
				hamburg=last_resort 10.2.0.11`,
		}, {
			name: "two at once: the second ends where the pool would be lost",
			in: `60s drill berlin/a for=1h
				62s drill berlin/b for=1h
				2m see berlin/a, berlin/b, berlin
				2m events`,
			want: `berlin/a=out
				berlin/b=up
				berlin=own 10.1.0.12
				drill_started berlin/a (drill)
				drill_started berlin/b (drill)
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)
				node_offline berlin/b (drill)
				drill_ended berlin/b (drill)
				node_online berlin/b (drill)`,
		}, {
			name: "with an emergency site both go on",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s drill berlin/a for=10m
				62s drill berlin/b for=20m
				2m see berlin
				12m see berlin
				22m see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "maintenance ends it",
			in: `60s drill berlin/a for=1h
				2m maintenance berlin/a
				2m see berlin/a
				3m maintenance_end berlin/a
				3m see berlin/a
				3m events`,
			want: `berlin/a=maintenance
				berlin/a=up
				drill_started berlin/a (drill)
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)
				failover_maintenance berlin/a
				drill_ended berlin/a (drill)
				failover_failback berlin/a (drill)
				node_online berlin/a (drill)
				failover_maintenance berlin/a`,
		}, {
			name: "a restart in it: it goes on, and ends at its time",
			in: `60s drill hamburg/a for=10m
				2m restart 10s
				5m see hamburg/a, hamburg
				11m1s see hamburg/a, hamburg
				11m1s events`,
			want: `hamburg/a=out
				hamburg=own 10.2.0.12
				hamburg/a=up
				hamburg=own 10.2.0.11
				drill_started hamburg/a (drill)
				node_offline hamburg/a (drill)
				failover_outage hamburg/a (drill)
				failover_switch hamburg (drill)
				drill_ended hamburg/a (drill)
				failover_failback hamburg/a (drill)
				node_online hamburg/a (drill)
				failover_switch hamburg (drill)`,
		}, {
			name: "one that ends while the controller is off: back with the first answer, without grace",
			in: `60s drill hamburg/a for=10m
				2m restart 20m
				22m10s see hamburg/a, hamburg`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.11`,
		}, {
			name: "given while the clock cannot be right, its time counts from when it is (O6)",
			in: `60s suspect
				60s drill hamburg/a for=5m
				10m see hamburg/a
				20m trust
				24m59s see hamburg/a
				25m5s see hamburg/a`,
			want: `hamburg/a=out
				hamburg/a=out
				hamburg/a=up`,
		}, {
			name: "refusals",
			cfg:  func(c *Config) { c.Sites[1].Nodes[1].Failover = false },
			in: `60s drill berlin for=5m
				60s drill berlin/a
				60s drill hamburg/b for=5m
				60s maintenance berlin/a
				60s drill berlin/a for=5m
				60s maintenance_end berlin/a
				60s drill berlin/a for=5m
				60s drill berlin/a for=5m
				60s unknown berlin/b
				70s drill berlin/b for=5m
				70s down hamburg/a
				72s drill hamburg/a for=5m`,
			want: `refused: Name the node to drill: a, b.
				refused: Refused: say for how long, for example --for 5m.
				refused: Refused: hamburg/b has ` + "`failover: false`" + `, so no outage moves it.
				refused: Refused: berlin/a is in maintenance, so there is nothing to drill.
				refused: Refused: there is a drill of berlin/a already until 12:06:00 UTC.
				refused: Refused: berlin/b does not answer, so there is nothing to drill.
				refused: Refused: hamburg/a is failing, so there is nothing to drill.`,
		}, {
			name: "one that is out by an outage is not put back by a drill",
			in: `60s down berlin/a
				2m drill berlin/a for=5m
				2m up berlin/a
				3m drill berlin/a for=5m
				4m see berlin/a`,
			want: `refused: Refused: berlin/a is out, so there is nothing to drill.
				refused: Refused: berlin/a is recovering, so there is nothing to drill.
				berlin/a=recovering`,
		}, {
			name: "a paused pool holds a drill too, and says so",
			in: `60s pause hamburg
				60s drill hamburg/a for=5m
				2m see hamburg/a, hamburg
				7m events`,
			want: `hamburg/a=failing
				hamburg=own 10.2.0.11
				paused hamburg
				drill_started hamburg/a (drill)
				node_offline hamburg/a (drill)
				move_held hamburg (drill)
				drill_ended hamburg/a (drill)
				node_online hamburg/a (drill)
				move_held_ended hamburg (drill)`,
		}, {
			name: "a node in a drill proves its line all the same",
			cfg:  func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].WitnessNodes = nil, true },
			in: `60s drill berlin/a for=1h
				2m down berlin/b
				3m see berlin/b, site berlin, berlin`,
			want: `berlin/b=out
				site berlin=up
				berlin=own 10.1.0.11`,
		}, {
			name: "and its site",
			in: `60s drill berlin/a for=1h
				61s down berlin resolver 10.1.0.1
				61s down berlin/b
				3m see site berlin`,
			want: `site berlin=resolver_down`,
		},
	})
}
