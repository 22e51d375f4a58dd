package sites

import (
	"testing"
	"time"
)

// An operator who switches must get what was said and nothing else, until it is
// ended.
func TestC2Switch(t *testing.T) {
	manual := func(c *Config) {
		for i := range c.Sites[1].Nodes {
			c.Sites[1].Nodes[i].Failback = FailbackManual
		}
	}
	runRule(t, []ruleTest{
		{
			name: "the node takes over now, and the pool is paused until resume",
			in: `60s switch hamburg b say
				60s see hamburg, site hamburg
				60s events
				3h see hamburg
				3h events
				3h resume hamburg
				3h see hamburg, site hamburg
				3h events`,
			want: `hamburg is now served by b. The pool is paused: nothing of it moves by itself. ` + "`dnsteer resume hamburg`" + ` ends that. hamburg answers 10.2.0.12 now.
				hamburg=own 10.2.0.12
				site hamburg=paused
				paused hamburg
				failover_switch hamburg
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11
				site hamburg=up
				resumed hamburg
				failover_switch hamburg`,
		}, {
			name: "with failback: manual it stays there after resume",
			cfg:  manual,
			in: `60s switch hamburg b
				2m resume hamburg
				10m see hamburg
				10m failback hamburg
				10m see hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "also where the first node had come back from maintenance before",
			cfg:  manual,
			in: `60s maintenance hamburg/a
				2m maintenance_end hamburg/a
				2m see hamburg
				3m switch hamburg b
				3m see hamburg
				20m see hamburg
				20m resume hamburg
				30m see hamburg`,
			want: `hamburg=own 10.2.0.11
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.12`,
		}, {
			name: "a window of another node does not undo it",
			cfg: func(c *Config) {
				window("5 12 * * *", time.Hour, 0)(c)
				c.Sites[1].Windows, c.Sites[0].Windows = c.Sites[0].Windows, nil
			},
			in: `60s switch hamburg b
				10m see hamburg/a, hamburg
				66m see hamburg/a, hamburg`,
			want: `hamburg/a=maintenance
				hamburg=own 10.2.0.12
				hamburg/a=up
				hamburg=own 10.2.0.12`,
		}, {
			name: "failback ends the pause, and says so",
			in: `60s switch hamburg b
				2m failback hamburg say
				2m see hamburg, site hamburg
				2m events`,
			want: `The pause since the switch is ended: hamburg moves by itself again. hamburg answers 10.2.0.11 now.
				hamburg=own 10.2.0.11
				site hamburg=up
				paused hamburg
				failover_switch hamburg
				resumed hamburg
				failover_switch hamburg`,
		}, {
			name: "and one that took the place of that, which leaves the node where it is",
			cfg:  manual,
			in: `60s switch hamburg b for=5m
				2m pause hamburg for=20m
				3m maintenance hamburg/a
				4m maintenance_end hamburg/a
				10m see hamburg, site hamburg
				11m failback hamburg
				11m see hamburg, site hamburg`,
			want: `hamburg=own 10.2.0.12
				site hamburg=paused
				hamburg=own 10.2.0.11
				site hamburg=up`,
		}, {
			name: "but not one that the operator had asked for as such",
			in: `60s pause hamburg
				2m failback hamburg
				2m see site hamburg`,
			want: `site hamburg=paused`,
		}, {
			name: "--for: it ends by itself, also across a restart",
			in: `60s switch hamburg b for=10m
				5m restart 10s
				10m59s see hamburg, site hamburg
				11m5s see hamburg, site hamburg`,
			want: `hamburg=own 10.2.0.12
				site hamburg=paused
				hamburg=own 10.2.0.11
				site hamburg=up`,
		}, {
			name: "while the clock cannot be right its time does not run (O6)",
			in: `60s suspect
				60s switch hamburg b for=10m say
				20m see site hamburg
				20m trust
				29m55s see site hamburg
				30m5s see site hamburg`,
			want: `hamburg is now served by b. The pool is paused for 10m once the clock is right: nothing of it moves by itself. ` + "`dnsteer resume hamburg`" + ` ends that. hamburg answers 10.2.0.12 now.
				site hamburg=paused
				site hamburg=paused
				site hamburg=up`,
		}, {
			name: "a second switch while paused takes the place of the first",
			in: `60s switch hamburg b for=10m
				2m switch hamburg a
				2m see hamburg
				20m see site hamburg
				20m resume hamburg
				20m events`,
			want: `hamburg=own 10.2.0.11
				site hamburg=paused
				paused hamburg
				failover_switch hamburg
				paused hamburg
				failover_switch hamburg
				resumed hamburg`,
		}, {
			name: "refused",
			cfg: func(c *Config) {
				c.Sites[1].Pools = append(c.Sites[1].Pools, Pool{Name: "tv", Mode: ActivePassive, Nodes: []int{0}})
			},
			in: `60s switch berlin a
				60s switch hamburg c
				60s switch hamburg/x b
				60s switch hamburg/tv b
				60s switch hamburg
				60s maintenance hamburg/b
				60s switch hamburg b
				60s switch hamburg b force
				60s maintenance_end hamburg/b
				60s unknown hamburg/b
				70s switch hamburg b
				70s up hamburg/b
				70s down hamburg/b
				80s switch hamburg b
				5m switch hamburg b
				5m see hamburg, site hamburg`,
			want: `refused: Refused: berlin is active_active, so all of its nodes that serve are answered. Use maintenance to take one out.
				refused: Site hamburg has no node "c". Its nodes are a, b.
				refused: Site hamburg has no pool "x".
				refused: Refused: pool hamburg/tv does not hold b.
				refused: Name the node to switch to: a, b.
				refused: Refused: hamburg/b is in maintenance. End that first.
				refused: Refused: hamburg/b is in maintenance. End that first.
				refused: Refused: hamburg/b does not answer. Use --force to switch to it all the same.
				refused: Refused: hamburg/b does not answer (connection refused). Use --force to switch to it all the same.
				refused: Refused: hamburg/b does not answer (connection refused). Use --force to switch to it all the same.
				hamburg=own 10.2.0.11
				site hamburg=up`,
		},
	})
}
