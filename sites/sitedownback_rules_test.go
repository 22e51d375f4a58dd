package sites

import (
	"slices"
	"testing"
)

// While another site stands in for a dead one, neither a change of the configuration
// nor an order may have the names move to and fro.
func TestN5Changed(t *testing.T) {
	added := func(c *Config) {
		c.Sites[0].Nodes = append(slices.Clone(c.Sites[0].Nodes), usualNode("c", "10.1.0.13"))
		c.Sites[0].Pools[0].Nodes = []int{0, 1, 2}
	}
	runRule(t, []ruleTest{
		{
			name:   "a node that is added while the emergency site stands in for a dead site moves nothing",
			cfg:    after,
			reload: []func(*Config){added},
			in: `60s down berlin
				11m20s see berlin
				11m20s events
				12m reload 0
				12m see berlin
				12m10s see berlin
				12m10s events`,
			want: `berlin=emergency:hamburg 10.2.0.11
				site_down berlin
				failover_outage berlin/a
				failover_outage berlin/b
				failover_switch berlin
				berlin=emergency:hamburg 10.2.0.11
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "what is put back by force in a dead site has its whole time (C1, N5)",
			cfg:  after,
			in: `60s down berlin
				12m see berlin
				12m events
				12m failback berlin force
				12m see berlin
				13m see berlin
				13m events
				22m5s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				site_down berlin
				failover_outage berlin/a
				failover_outage berlin/b
				failover_switch berlin
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				failover_failback berlin/a
				failover_failback berlin/b
				failover_switch berlin
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name:   "a site that is added resets nothing of one that is down (N5)",
			cfg:    after,
			reload: []func(*Config){third},
			in: `60s down berlin
				9m reload 0
				11m30s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "disabling all nodes of a site whose nodes are its witnesses is no outage (N3, N8)",
			cfg:  several(func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].WitnessNodes = nil, true }, emergencies("berlin>hamburg")),
			in: `60s disable berlin/a
				61s disable berlin/b
				3m see site berlin, berlin, held berlin
				3m events
				4m enable berlin/a
				4m enable berlin/b
				5m see site berlin, berlin
				5m events`,
			want: `site berlin=up
				berlin=emergency:hamburg 10.2.0.11
				held berlin=false
				node_disabled berlin/a
				node_disabled berlin/b
				failover_switch berlin
				site berlin=up
				berlin=own 10.1.0.11, 10.1.0.12
				node_enabled berlin/a
				failover_switch berlin
				node_enabled berlin/b`,
		},
	})
}
