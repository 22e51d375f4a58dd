package sites

import (
	"net/netip"
	"testing"
)

// What a change of the configuration has put back must be told to be back.
func TestA7Back(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name:   "a node that outages move no more is in DNS, and said to be",
			reload: []func(*Config){func(c *Config) { c.Sites[0].Nodes[0].Failover = false }},
			in: `60s down berlin/a
				100s events
				100s reload 0
				100s see berlin, berlin/a
				100s explain berlin/a
				100s events
				5m up berlin/a
				20m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=failing
				berlin/a has not answered for 39s (connection refused). It is not taken out for that: ` + "`failover: false`" + `.
				failover_failback berlin/a
				node_online berlin/a`,
		}, {
			name: "a quarantine ends with the family that was out",
			cfg: several(quarantined, func(c *Config) {
				s := &c.Sites[0]
				s.Witnesses = append(s.Witnesses, Witness{Name: "resolver fd00:1::1", Addr: netip.MustParseAddr("fd00:1::1")})
				s.Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
			}),
			reload: []func(*Config){func(c *Config) { c.Sites[0].Witnesses = c.Sites[0].Witnesses[1:] }},
			in: `60s down berlin/a IPv4
				2m up berlin/a IPv4
				10m down berlin/a IPv4
				12m events
				12m reload 0
				13m see berlin/a, berlin
				13m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12, fd00:1::11
				node_online berlin/a
				failover_failback berlin/a
				quarantine_ended berlin/a`,
		}, {
			name: "what ends with a reload in a drill is marked as one",
			reload: []func(*Config){func(c *Config) {
				c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = c.Sites[0].Nodes[1:], []int{0}
			}},
			in: `60s drill berlin/a for=1h
				2m events
				2m reload 0
				2m events`,
			want: `drill_started berlin/a (drill)
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)
				node_online berlin/a (drill)
				failover_failback berlin/a (drill)
				drill_ended berlin/a (drill)`,
		},
	})
}
