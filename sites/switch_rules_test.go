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
			want: `hamburg is now served by b. The pool is paused: nothing of it moves by itself. ` + "`dnsteer resume hamburg`" + ` ends that.
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
			name: "failback ends the pause",
			in: `60s switch hamburg b
				2m failback hamburg
				2m see hamburg, site hamburg
				2m events`,
			want: `hamburg=own 10.2.0.11
				site hamburg=up
				paused hamburg
				failover_switch hamburg
				resumed hamburg
				failover_switch hamburg`,
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
			want: `hamburg is now served by b. The pool is paused for 10m once the clock is right: nothing of it moves by itself. ` + "`dnsteer resume hamburg`" + ` ends that.
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
				refused: Refused: hamburg/b is maintenance. End that first.
				refused: Refused: hamburg/b is maintenance. End that first.
				refused: Refused: hamburg/b does not answer. Use --force to switch to it all the same.
				refused: Refused: hamburg/b does not answer (connection refused). Use --force to switch to it all the same.
				refused: Refused: hamburg/b does not answer (connection refused). Use --force to switch to it all the same.
				hamburg=own 10.2.0.11
				site hamburg=up`,
		}, {
			name: "to a failing one by force: it stays, and the move that it holds back is told",
			in: `60s down hamburg/b
				80s switch hamburg b force
				2h see hamburg, hamburg/b
				2h events`,
			want: `hamburg=own 10.2.0.12
				hamburg/b=failing
				paused hamburg
				failover_switch hamburg
				node_offline hamburg/b
				move_held hamburg`,
		}, {
			name: "to one that is out by force: with its whole threshold from now",
			in: `60s down hamburg/b
				2m switch hamburg b force
				2m see hamburg, hamburg/b
				2m events
				2m25s resume hamburg
				2m25s see hamburg
				2m29s see hamburg/b
				2m35s see hamburg/b`,
			want: `hamburg=own 10.2.0.12
				hamburg/b=failing
				node_offline hamburg/b
				failover_outage hamburg/b
				failover_failback hamburg/b
				paused hamburg
				failover_switch hamburg
				hamburg=own 10.2.0.11
				hamburg/b=failing
				hamburg/b=out`,
		}, {
			name: "to one that recovers: without its grace",
			in: `60s down hamburg/b
				2m up hamburg/b
				3m switch hamburg b
				3m see hamburg, hamburg/b`,
			want: `hamburg=own 10.2.0.12
				hamburg/b=up`,
		}, {
			name: "to a pending one by force",
			in: `0s down hamburg/b
				60s switch hamburg b force
				60s see hamburg`,
			want: `hamburg=own 10.2.0.12`,
		}, {
			name: "while an emergency site serves",
			cfg:  emergencies("hamburg>berlin"),
			in: `60s down hamburg/a
				60s down hamburg/b
				2m up hamburg/b
				3m see hamburg
				3m switch hamburg b
				3m see hamburg
				3m events`,
			want: `hamburg=emergency:berlin 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.12
				node_offline hamburg/a
				failover_outage hamburg/a
				node_offline hamburg/b
				failover_outage hamburg/b
				failover_switch hamburg
				node_online hamburg/b
				failover_failback hamburg/b
				paused hamburg
				failover_switch hamburg`,
		}, {
			name: "with a family that is out, that one stays out",
			cfg: func(c *Config) {
				c.Sites[1].Nodes[1].Addresses = addrs("10.2.0.12", "fd00:2::12")
				c.Sites[1].Witnesses = append(c.Sites[1].Witnesses, Witness{Name: "resolver fd00:2::1", Addr: addrs("fd00:2::1")[0]})
			},
			in: `60s down fd00:2::12
				2m switch hamburg b
				2m see hamburg, hamburg/b`,
			want: `hamburg=own 10.2.0.12
				hamburg/b=out`,
		}, {
			name: "to a node that is not judged: it cannot be said not to answer",
			cfg:  func(c *Config) { c.Sites[1].Nodes[1].Addresses = addrs("fd00:2::12") },
			in: `60s switch hamburg b
				60s see hamburg`,
			want: `hamburg=own fd00:2::12`,
		}, {
			name: "the node that it was switched to goes into maintenance",
			in: `60s switch hamburg b
				2m maintenance hamburg/b
				2m see hamburg
				3m maintenance_end hamburg/b
				3m see hamburg, site hamburg`,
			want: `hamburg=own 10.2.0.11
				hamburg=own 10.2.0.11
				site hamburg=paused`,
		}, {
			name:   "a reload removes it",
			reload: []func(*Config){func(c *Config) { c.Sites[1].Nodes, c.Sites[1].Pools[0].Nodes = c.Sites[1].Nodes[:1], []int{0} }},
			in: `60s switch hamburg b
				2m reload 0
				2m see hamburg, site hamburg`,
			want: `hamburg=own 10.2.0.11
				site hamburg=paused`,
		}, {
			name: "a held move ends when the node answers again",
			in: `60s switch hamburg b
				2m down hamburg/b
				3m up hamburg/b
				4m see hamburg
				4m events`,
			want: `hamburg=own 10.2.0.12
				paused hamburg
				failover_switch hamburg
				node_offline hamburg/b
				move_held hamburg
				node_online hamburg/b
				move_held_ended hamburg`,
		}, {
			name: "a node that stands by holds no move back",
			in: `60s switch hamburg b
				2m down hamburg/a
				3m see hamburg/a, hamburg
				3m events`,
			want: `hamburg/a=failing
				hamburg=own 10.2.0.12
				paused hamburg
				failover_switch hamburg
				node_offline hamburg/a`,
		}, {
			name: "a node that is in another pool goes out there; here its move is held",
			cfg: func(c *Config) {
				c.Sites[1].Pools = append(c.Sites[1].Pools, Pool{Name: "tv", Mode: ActivePassive, Nodes: []int{1, 0}})
			},
			in: `60s switch hamburg b
				2m down hamburg/b
				3m see hamburg, hamburg/tv, hamburg/b
				3m events
				3m resume hamburg
				3m see hamburg
				3m events`,
			want: `hamburg=own 10.2.0.12
				hamburg/tv=own 10.2.0.11
				hamburg/b=out
				paused hamburg
				failover_switch hamburg
				node_offline hamburg/b
				failover_outage hamburg/b
				move_held hamburg
				failover_switch hamburg/tv
				hamburg=own 10.2.0.11
				resumed hamburg
				move_held_ended hamburg
				failover_switch hamburg`,
		}, {
			name: "a move that was told before a restart is not told again, and ends",
			in: `60s switch hamburg b
				2m down hamburg/b
				3m restart 10s
				10m events
				10m resume hamburg
				10m1s events`,
			want: `paused hamburg
				failover_switch hamburg
				node_offline hamburg/b
				move_held hamburg
				resumed hamburg
				move_held_ended hamburg
				failover_switch hamburg
				failover_outage hamburg/b`,
		},
	})
}
