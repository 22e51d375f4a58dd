package sites

import (
	"testing"
	"time"
)

// A drill must take the real path, cost nobody anything that is not meant, and
// never be taken for an outage, nor an outage for it.
func TestC6Drill(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "threshold, round, switch; it ends exactly at --for, without grace, and all is marked",
			in: `60s drill hamburg/a for=5m
				90s see hamburg/a, hamburg
				92s see hamburg/a, hamburg
				5m59s see hamburg/a
				6m tick
				6m see hamburg/a, hamburg
				6m events
				20m events`,
			want: `hamburg/a=failing
				hamburg=own 10.2.0.11
				hamburg/a=out
				hamburg=own 10.2.0.12
				hamburg/a=out
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
			name: "of a node that stands by it moves nothing, and of an active-active one that one alone",
			in: `60s drill hamburg/b for=5m
				60s drill berlin/a for=5m
				2m see hamburg, hamburg/b, berlin
				7m see hamburg/b, berlin`,
			want: `hamburg=own 10.2.0.11
				hamburg/b=out
				berlin=own 10.1.0.12
				hamburg/b=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "shorter than the threshold it moves nothing",
			in: `60s drill hamburg/a for=20s
				3m see hamburg, hamburg/a
				3m events`,
			want: `hamburg=own 10.2.0.11
				hamburg/a=up
				drill_started hamburg/a (drill)
				drill_ended hamburg/a (drill)`,
		}, {
			name: "the operator ends it",
			in: `60s drill hamburg/a for=1h
				2m drill_end hamburg/a say
				2m see hamburg/a, hamburg
				2m drill_end hamburg`,
			want: `The drill has ended.
				hamburg/a=up
				hamburg=own 10.2.0.11
				refused: Refused: there is no drill at hamburg.`,
		}, {
			name: "a real failure of another node meanwhile is no drill",
			cfg:  more(1, "c"),
			in: `60s drill hamburg/a for=1h
				2m events
				2m down hamburg/b
				3m see hamburg
				3m events
				61m tick
				61m see hamburg
				61m events`,
			want: `drill_started hamburg/a (drill)
				node_offline hamburg/a (drill)
				failover_outage hamburg/a (drill)
				failover_switch hamburg (drill)
				hamburg=own 10.2.0.13
				node_offline hamburg/b
				failover_outage hamburg/b
				failover_switch hamburg
				hamburg=own 10.2.0.11
				drill_ended hamburg/a (drill)
				failover_failback hamburg/a (drill)
				node_online hamburg/a (drill)
				failover_switch hamburg (drill)`,
		}, {
			name: "a real failure of the node itself meanwhile: told when the drill is over, back with the first answer",
			in: `60s drill hamburg/a for=5m
				2m down hamburg/a
				2m events
				6m tick
				6m see hamburg/a, hamburg
				6m events
				7m events
				20m up hamburg/a
				20m2s see hamburg/a, hamburg
				20m10s events`,
			want: `drill_started hamburg/a (drill)
				node_offline hamburg/a (drill)
				failover_outage hamburg/a (drill)
				failover_switch hamburg (drill)
				hamburg/a=returning
				hamburg=own 10.2.0.12
				drill_ended hamburg/a (drill)
				node_offline hamburg/a
				hamburg/a=up
				hamburg=own 10.2.0.11
				failover_failback hamburg/a
				failover_switch hamburg
				node_online hamburg/a`,
		}, {
			name: "one that fails when a short drill ends has its whole threshold from its own first failure",
			in: `60s drill hamburg/a for=25s
				80s down hamburg/a
				110s see hamburg/a
				112s see hamburg/a
				112s events`,
			want: `hamburg/a=failing
				hamburg/a=out
				drill_started hamburg/a (drill)
				drill_ended hamburg/a (drill)
				node_offline hamburg/a
				failover_outage hamburg/a
				failover_switch hamburg`,
		}, {
			name: "it ends at once when its pool would lose its last node by a real outage",
			in: `60s drill hamburg/a for=1h
				2m down hamburg/b
				2m35s see hamburg/a, hamburg
				2m35s events`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.11
				drill_started hamburg/a (drill)
				node_offline hamburg/a (drill)
				failover_outage hamburg/a (drill)
				failover_switch hamburg (drill)
				node_offline hamburg/b
				failover_outage hamburg/b
				drill_ended hamburg/a (drill)
				failover_failback hamburg/a (drill)
				failover_switch hamburg (drill)
				node_online hamburg/a (drill)`,
		}, {
			name: "also where an emergency site could step in",
			cfg:  emergencies("hamburg>berlin"),
			in: `60s drill hamburg/a for=1h
				2m down hamburg/b
				2m35s see hamburg/a, hamburg`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.11`,
		}, {
			name: "also where the other fails first",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin/b
				62s drill berlin/a for=1h
				2m see berlin/a, berlin
				2m events`,
			want: `berlin/a=up
				berlin=own 10.1.0.11
				drill_started berlin/a (drill)
				node_offline berlin/b
				failover_outage berlin/b
				node_offline berlin/a (drill)
				drill_ended berlin/a (drill)
				node_online berlin/a (drill)`,
		}, {
			name: "and where an operator takes the other by force",
			in: `60s drill berlin/a for=1h
				2m maintenance berlin/b
				2m see berlin/b
				2m maintenance berlin/b force
				2m see berlin/a, berlin`,
			want: `refused: Refused: site berlin would have no node left that serves, no recovering node answers, and no emergency site can step in. Give the site an emergency_site, wait until another node answers, or use --force.
				berlin/b=up
				berlin/a=up
				berlin=own 10.1.0.11`,
		}, {
			name: "or a window takes it, though an emergency site could step in",
			cfg:  several(window("3 12 * * *", time.Hour, 1), emergencies("berlin>hamburg")),
			in: `60s drill berlin/a for=1h
				3m1s see berlin/a, berlin/b, berlin`,
			want: `berlin/a=up
				berlin/b=maintenance
				berlin=own 10.1.0.11`,
		}, {
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
				refused: Refused: berlin/a is maintenance, so there is nothing to drill.
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
