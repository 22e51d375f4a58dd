package sites

import "testing"

// What cannot be found out must take no node out, and be told with what really keeps
// the controller from asking.
func TestO1Apart(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "what cannot be found out after a failure is told with its own cause",
			in: `60s down berlin/a
				70s up berlin/a
				70s unknown berlin/a
				2m texts`,
			want: `berlin/a cannot be judged since 12:01:11 UTC: this machine cannot ask, for a reason of its own (no free descriptor). Nothing of it moves by an outage until that is otherwise.`,
		}, {
			name: "a node in a drill that cannot be asked is told (N14)",
			in: `60s drill berlin/a for=1h
				2m unknown berlin/a
				2m events
				3m events
				4m up berlin/a
				5m events`,
			want: `drill_started berlin/a (drill)
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)
				unjudged berlin/a
				judged berlin/a`,
		}, {
			name: "a stale node of a site without witnesses stays (S5)",
			cfg:  func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].NoWitness = nil, true },
			in: `60s down berlin/a
				67s mute berlin/a
				3m see berlin/a, berlin
				3m events`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				probe_stale berlin/a`,
		}, {
			name: "nor where it cannot be found out",
			cfg:  func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].NoWitness = nil, true },
			in: `60s down berlin/a
				67s unknown berlin/a
				67s up berlin/a
				67s unknown berlin/a
				3m see berlin/a, berlin
				3m events`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				unjudged berlin/a`,
		}, {
			name: "what cannot be judged for want of a witness is judged where a reload takes the witnesses away (N14)",
			cfg: func(c *Config) {
				s := &c.Sites[0]
				s.Witnesses = append(s.Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
				s.Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
			},
			reload: []func(*Config){func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].NoWitness = nil, true }},
			in: `60s down fd00:1::1
				2m maintenance berlin/a
				2m events
				2m reload 0
				2m1s events
				3m explain site berlin`,
			want: `unjudged berlin
				failover_maintenance berlin/a
				judged berlin
				berlin has no witness: threshold and two failures decide, and a fault of our own line looks like an outage of its nodes.`,
		}, {
			name: "that no other node is left to vouch is said",
			cfg: func(c *Config) {
				c.Sites[0].WitnessNodes, c.Sites[0].WitnessAll = true, true
			},
			in: `60s disable berlin/a
				60s down berlin resolver 10.1.0.1
				2m events
				2m up berlin resolver 10.1.0.1
				3m explain site berlin`,
			want: `node_disabled berlin/a
				unjudged berlin
				berlin cannot be judged since 12:01:03 UTC: what must prove it has not answered since, and every witness must answer. Nothing of it moves by an outage until that is otherwise.`,
		},
	})
}
