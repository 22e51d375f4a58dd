package sites

import "testing"

// Whoever is switched to must be answered as the command says, and no more.
func TestC2To(t *testing.T) {
	runRule(t, []ruleTest{
		{
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
