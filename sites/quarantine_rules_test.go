package sites

import (
	"testing"
	"time"
)

// quarantined has nodes wait an hour after their second outage within a day.
func quarantined(c *Config) {
	for i := range c.Sites {
		for j := range c.Sites[i].Nodes {
			c.Sites[i].Nodes[j].Quarantine = Quarantine{Outages: 2, Within: 24 * time.Hour, Hold: time.Hour}
		}
	}
}

// twice has berlin/a go out twice and answer again at 12 minutes.
const twice = `60s down berlin/a
	2m up berlin/a
	10m down berlin/a
	12m up berlin/a
	`

// A node that goes out again and again must be kept out for a while, by its own
// outages alone, and not for ever.
func TestN11Quarantine(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "the outage that is too many lengthens the grace, and the return ends it",
			cfg:  quarantined,
			in: `60s down berlin/a
				2m up berlin/a
				8m see berlin/a
				10m down berlin/a
				12m up berlin/a
				71m55s see berlin/a
				72m5s see berlin/a
				72m5s events`,
			want: `berlin/a=up
				berlin/a=recovering
				berlin/a=up
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				node_online berlin/a
				failover_failback berlin/a
				quarantine_ended berlin/a`,
		}, {
			name: "off unless set",
			in: twice + `18m see berlin/a
				18m events`,
			want: `berlin/a=up
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a`,
		}, {
			name: "a grace that is longer stays",
			cfg: several(quarantined, func(c *Config) {
				c.Sites[0].Nodes[0].Quarantine = Quarantine{Outages: 1, Within: time.Hour, Hold: time.Minute}
			}),
			in: `60s down berlin/a
				2m up berlin/a
				6m55s see berlin/a
				7m5s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=up`,
		}, {
			name: "outages that are further apart do not count",
			cfg:  quarantined,
			in: `60s down berlin/a
				2m up berlin/a
				24h2m down berlin/a
				24h4m up berlin/a
				24h10m see berlin/a`,
			want: `berlin/a=up`,
		}, {
			name: "a failure within the quarantine starts it anew, and is no outage more",
			cfg:  quarantined,
			in: twice + `40m down berlin/a
				41m up berlin/a
				100m see berlin/a
				102m see berlin/a
				102m down berlin/a
				104m see berlin/a
				104m events`,
			want: `berlin/a=recovering
				berlin/a=up
				berlin/a=out
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				node_online berlin/a
				node_offline berlin/a
				node_online berlin/a
				failover_failback berlin/a
				quarantine_ended berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a`,
		}, {
			name: "a waived return ends it too (A3)",
			cfg:  quarantined,
			in: twice + `20m events
				20m down berlin/b
				21m see berlin/a, berlin
				21m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				node_online berlin/a
				berlin/a=up
				berlin=own 10.1.0.11
				node_offline berlin/b
				failover_outage berlin/b
				failover_failback berlin/a
				quarantine_ended berlin/a`,
		}, {
			name: "failback clears it, and what has led to it (C1)",
			cfg:  quarantined,
			in: twice + `20m failback berlin
				20m see berlin/a
				30m down berlin/a
				32m up berlin/a
				38m see berlin/a`,
			want: `berlin/a=up
				berlin/a=up`,
		}, {
			name: "one that does not answer is not cleared by a failback that leaves it out",
			cfg:  quarantined,
			in: twice + `20m down berlin/a
				20m10s failback berlin
				21m up berlin/a
				30m see berlin/a`,
			want: `berlin/a=recovering`,
		}, {
			name: "its end puts nobody back who does not answer (N12)",
			cfg:  quarantined,
			in: twice + `72m unknown berlin/a
				80m see berlin/a
				80m up berlin/a
				80m5s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=up`,
		}, {
			name: "with failback: manual it waits for the operator as always",
			cfg: several(quarantined, func(c *Config) {
				c.Sites[0].Nodes[0].Failback = FailbackManual
				c.Sites[0].Nodes[0].Quarantine.Outages = 1
			}),
			in: `60s down berlin/a
				2m up berlin/a
				3h see berlin/a
				3h failback berlin
				3h see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=up`,
		}, {
			name: "maintenance ends it with the node's return",
			cfg:  quarantined,
			in: twice + `20m maintenance berlin/a
				21m maintenance_end berlin/a
				21m see berlin/a
				21m events`,
			want: `berlin/a=up
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				failover_failback berlin/a
				node_offline berlin/a
				failover_outage berlin/a
				quarantine_started berlin/a
				node_online berlin/a
				failover_maintenance berlin/a
				failover_maintenance berlin/a
				failover_failback berlin/a
				quarantine_ended berlin/a`,
		},
	})
}
