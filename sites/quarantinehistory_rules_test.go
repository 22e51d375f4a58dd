package sites

import "testing"

// What counts as an outage, and when, decides who is kept out: it must survive
// restarts and go by the clock that people read.
func TestN11History(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "a restart keeps it and its history; its grace starts anew (O5)",
			cfg:  quarantined,
			in: `60s down berlin/a
				2m up berlin/a
				9m restart 10s
				10m down berlin/a
				12m up berlin/a
				40m restart 10s
				99m see berlin/a
				101m see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=up`,
		}, {
			name: "the history goes by the wall clock",
			cfg:  quarantined,
			in: `60s down berlin/a
				2m up berlin/a
				9m clock 2026-03-03T12:00:00Z
				10m down berlin/a
				12m up berlin/a
				18m see berlin/a
				18m clock 2026-03-01T12:00:00Z
				19m down berlin/a
				21m up berlin/a
				27m see berlin/a`,
			want: `berlin/a=up
				berlin/a=up`,
		}, {
			name: "and keeps still while that cannot be right (O6)",
			cfg:  quarantined,
			in: `60s down berlin/a
				2m up berlin/a
				9m suspect
				9m clock 1970-01-01T00:00:00Z
				10m down berlin/a
				12m up berlin/a
				18m see berlin/a
				18m clock 2026-03-01T12:18:00Z
				18m trust
				19m down berlin/a
				21m up berlin/a
				27m see berlin/a`,
			want: `berlin/a=up
				berlin/a=recovering`,
		}, {
			name: "a node of two families that goes out in both is out once",
			cfg: several(quarantined, func(c *Config) {
				c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
				c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
			}),
			in: `60s down berlin/a
				2m up berlin/a
				8m see berlin/a
				10m down fd00:1::11
				12m down berlin/a
				13m up fd00:1::11
				13m up berlin/a
				14m events`,
			want: `berlin/a=up
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				node_online berlin/a
				failover_failback berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				node_online berlin/a`,
		}, {
			name: "its return is that of all its families",
			cfg: several(quarantined, func(c *Config) {
				c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
				c.Sites[0].Nodes[0].Quarantine.Outages = 1
				c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
			}),
			in: `60s down berlin/a
				60s down fd00:1::11
				2m up berlin/a
				10m events
				62m10s events
				63m up fd00:1::11
				70m events
				2h4m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_online berlin/a
				failover_failback berlin/a
				quarantine_ended berlin/a`,
		}, {
			name: "a drill counts for none (C6)",
			cfg:  quarantined,
			in: `60s down berlin/a
				2m up berlin/a
				9m events
				10m drill berlin/a for=5m
				14m see berlin/a
				16m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				berlin/a=out
				drill_started berlin/a (drill)
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)
				drill_ended berlin/a (drill)
				failover_failback berlin/a (drill)
				node_online berlin/a (drill)`,
		}, {
			name: "a whole site that is given up counts as one of each of its nodes (N5)",
			cfg:  several(quarantined, after),
			in: `60s down berlin/a
				2m up berlin/a
				10m down berlin
				21m see berlin/a, berlin/b
				21m up berlin
				30m see berlin/a, berlin/b`,
			want: `berlin/a=out
				berlin/b=out
				berlin/a=recovering
				berlin/b=up`,
		}, {
			name: "a reload that switches it off ends it (A7)",
			cfg:  quarantined,
			reload: []func(*Config){func(c *Config) {
				c.Sites[0].Nodes[0].Quarantine = Quarantine{}
			}},
			in: twice + `13m events
				13m reload 0
				13m events
				18m see berlin/a`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				node_online berlin/a
				quarantine_ended berlin/a
				berlin/a=up`,
		}, {
			name: "the return after a quarantine names what it has waited for",
			cfg:  quarantined,
			in: twice + `71m events
				73m texts`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				node_online berlin/a
				berlin/a is back in DNS: it has answered for 1h (quarantine 1h).
				The quarantine of berlin/a has ended with its return.`,
		},
	})
}
