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
			want: `The drill has ended. hamburg answers 10.2.0.11 now.
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
			name: "while all are in one, what they hide is the silence of the site (N3)",
			cfg: several(emergencies("berlin>hamburg"), func(c *Config) {
				c.Sites[0].WitnessNodes = true
				for i := range c.Sites[0].Nodes {
					c.Sites[0].Nodes[i].Threshold = 10 * time.Minute
				}
			}),
			in: `30s drill berlin/a for=30m
				30s drill berlin/b for=30m force
				60s down berlin resolver 10.1.0.1
				95s down berlin/a
				95s down berlin/b
				107s see site berlin
				107s events`,
			want: `site berlin=down
				drill_started berlin/a (drill)
				drill_started berlin/b (drill)
				site_down berlin`,
		},
	})
}
