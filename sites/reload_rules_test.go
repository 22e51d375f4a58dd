package sites

import (
	"net/netip"
	"testing"
	"time"
)

func address(node int, list ...string) func(*Config) {
	return func(c *Config) { c.Sites[0].Nodes[node].Addresses = addrs(list...) }
}

// A change of the configuration must not move what it does not name, and a new
// address must not be answered before it works.
func TestA7Reload(t *testing.T) {
	same := func(*Config) {}
	runRule(t, []ruleTest{
		{
			name: "the same node states, by name", reload: []func(*Config){func(c *Config) {
				n := c.Sites[0].Nodes
				n[0], n[1] = n[1], n[0]
			}},
			in: `60s down berlin/a
				100s down hamburg/a
				110s maintenance hamburg/b force
				115s reload 0
				115s see berlin/a, berlin/b, berlin, hamburg/a, hamburg/b`,
			want: `berlin/a=out
				berlin/b=up
				berlin=own 10.1.0.12
				hamburg/a=failing
				hamburg/b=maintenance`,
		}, {
			name: "a changed address: the old one until the new one is up", reload: []func(*Config){address(0, "10.1.0.99")},
			in: `60s down 10.1.0.99
				60s reload 0
				60s see berlin/a, berlin
				80s see berlin
				80s up 10.1.0.99
				82s see berlin/a, berlin`,
			want: `berlin/a=pending
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.99, 10.1.0.12`,
		}, {
			name: "the old address is judged until then", reload: []func(*Config){address(0, "10.1.0.99")},
			in: `60s down 10.1.0.99
				60s reload 0
				60s down 10.1.0.11
				100s see berlin/a, berlin
				100s events`,
			want: `berlin/a=pending
				berlin=own 10.1.0.12
				probe_never_up berlin/a
				node_offline berlin/a
				failover_outage berlin/a`,
		}, {
			name: "an address that is out keeps its state; the new one joins when it answers", reload: []func(*Config){address(0, "10.1.0.99")},
			in: `60s down 10.1.0.11
				100s reload 0
				100s see berlin
				102s see berlin/a, berlin`,
			want: `berlin=own 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.99, 10.1.0.12`,
		}, {
			name: "a second reload does not lose the old address", reload: []func(*Config){address(0, "10.1.0.99"), same},
			in: `60s down 10.1.0.99
				60s reload 0
				70s reload 1
				70s see berlin
				80s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "nor does a restart", reload: []func(*Config){address(0, "10.1.0.99")},
			in: `60s down 10.1.0.99
				60s reload 0
				70s restart 10s
				80s see berlin
				100s see berlin
				100s up 10.1.0.99
				110s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.99, 10.1.0.12`,
		}, {
			name: "nor does a third address", reload: []func(*Config){address(0, "10.1.0.99"), address(0, "10.1.0.98")},
			in: `60s down 10.1.0.99
				60s down 10.1.0.98
				60s reload 0
				70s reload 1
				80s see berlin
				80s up 10.1.0.98
				90s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.98, 10.1.0.12`,
		}, {
			name: "back to the old address: nothing has happened", reload: []func(*Config){address(0, "10.1.0.99"), address(0, "10.1.0.11")},
			in: `60s down 10.1.0.99
				60s reload 0
				70s reload 1
				70s see berlin/a, berlin
				5m see berlin/a, berlin`,
			want: `berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "a second address beside the first", reload: []func(*Config){address(0, "10.1.0.11", "10.1.0.13")},
			in: `60s reload 0
				67s see berlin/a, berlin`,
			want: `berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.13, 10.1.0.12`,
		}, {
			name: "another family beside the first", reload: []func(*Config){address(0, "10.1.0.11", "fd00:1::11")},
			in: `60s reload 0
				67s see berlin/a, berlin
				67s down berlin/a
				110s see berlin/a`,
			want: `berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12, fd00:1::11
				berlin/a=out`,
		}, {
			name: "the active node's address in an active-passive pool", reload: []func(*Config){func(c *Config) {
				c.Sites[1].Nodes[0].Addresses = addrs("10.2.0.99")
			}},
			in: `60s down 10.2.0.99
				60s reload 0
				80s see hamburg
				80s up 10.2.0.99
				82s see hamburg
				82s events`,
			want: `hamburg=own 10.2.0.11
				hamburg=own 10.2.0.99`,
		}, {
			name: "a pair without failover too", reload: []func(*Config){address(0, "10.1.0.99")},
			cfg: func(c *Config) { c.Sites[0].Nodes[0].Failover = false },
			in: `60s down 10.1.0.99
				60s reload 0
				60s see berlin
				80s see berlin
				80s up 10.1.0.99
				82s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.99, 10.1.0.12`,
		}, {
			name: "maintenance goes on through a change of address", reload: []func(*Config){address(0, "10.1.0.99")},
			in: `60s maintenance berlin/a
				70s reload 0
				80s see berlin/a, berlin
				90s maintenance_end berlin/a
				90s see berlin`,
			want: `berlin/a=maintenance
				berlin=own 10.1.0.12
				berlin=own 10.1.0.99, 10.1.0.12`,
		}, {
			name: "a removed node leaves at once", reload: []func(*Config){func(c *Config) {
				c.Sites[1].Nodes, c.Sites[1].Pools[0].Nodes = c.Sites[1].Nodes[1:], []int{0}
			}},
			in: `60s reload 0
				60s see hamburg
				60s events`,
			want: `hamburg=own 10.2.0.12
				failover_switch hamburg`,
		}, {
			name: "another mode", reload: []func(*Config){func(c *Config) {
				c.Sites[0].Pools[0].Mode, c.Sites[1].Pools[0].Mode = ActivePassive, ActiveActive
			}},
			in: `60s reload 0
				60s see berlin, hamburg
				61s events`,
			want: `berlin=own 10.1.0.11
				hamburg=own 10.2.0.11, 10.2.0.12`,
		}, {
			name: "another order in active-passive", reload: []func(*Config){func(c *Config) { c.Sites[1].Pools[0].Nodes = []int{1, 0} }},
			in: `60s reload 0
				60s see hamburg`,
			want: `hamburg=own 10.2.0.12`,
		}, {
			name: "a new pool over nodes that are there", reload: []func(*Config){func(c *Config) {
				c.Sites[0].Pools = append(c.Sites[0].Pools, Pool{Name: "media", Mode: ActivePassive, Nodes: []int{0, 1}})
			}},
			in: `60s down berlin/a
				100s reload 0
				100s see berlin/media`,
			want: `berlin/media=own 10.1.0.12`,
		}, {
			name: "a witness in a family that had none: what was answered goes on", reload: []func(*Config){func(c *Config) {
				c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver fd00:1::1", Addr: netip.MustParseAddr("fd00:1::1")})
			}},
			cfg: address(0, "10.1.0.11", "fd00:1::11"),
			in: `60s reload 0
				60s see berlin/a, berlin
				70s down fd00:1::11
				120s see berlin`,
			want: `berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12, fd00:1::11
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "a shorter threshold counts from when the failing began", reload: []func(*Config){func(c *Config) { c.Sites[0].Nodes[0].Threshold = 10 * time.Second }},
			cfg: func(c *Config) { c.Sites[0].Nodes[0].Threshold = time.Hour },
			in: `60s down berlin/a
				100s see berlin/a
				100s reload 0
				101s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		}, {
			name: "failover false puts an out node back", reload: []func(*Config){func(c *Config) { c.Sites[0].Nodes[0].Failover = false }},
			in: `60s down berlin/a
				100s reload 0
				100s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12`,
		},
	})
}
