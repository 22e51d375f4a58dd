package sites

import (
	"testing"
)

// Planned work must be quick at both ends, and a node that does not come back
// from it must be told of and not be put into DNS.
func TestN7Maintenance(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "out at once, probed on, back in the same step without grace",
			in: `60s maintenance berlin/a
				60s see berlin/a, berlin
				60s events
				70s maintenance_end berlin/a
				70s see berlin/a, berlin
				70s events`,
			want: `berlin/a=maintenance
				berlin=own 10.1.0.12
				failover_maintenance berlin/a
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				failover_maintenance berlin/a`,
		}, {
			name: "one that does not answer is returning until it first does",
			in: `60s maintenance berlin/a
				60s down berlin/a
				5m maintenance_end berlin/a
				5m see berlin/a, berlin
				6m up berlin/a
				6m2s see berlin/a, berlin`,
			want: `berlin/a=returning
				berlin=own 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "nodes in maintenance are not offline; one that does not come back for a threshold is",
			in: `60s maintenance berlin/a
				60s down berlin/a
				5m events
				5m maintenance_end berlin/a
				5m29s events
				5m31s events
				6m up berlin/a
				6m2s events
				6m8s events`,
			want: `failover_maintenance berlin/a
				failover_maintenance berlin/a
				node_offline berlin/a
				node_online berlin/a`,
		}, {
			name: "not while the site is not seen",
			in: `60s maintenance berlin/a
				60s down berlin
				5m maintenance_end berlin/a
				10m events`,
			want: `failover_maintenance berlin/a
				site_down berlin
				failover_maintenance berlin/a`,
		}, {
			name: "a node that was out comes back without grace",
			in: `60s down berlin/a
				100s maintenance berlin/a
				110s up berlin/a
				120s maintenance_end berlin/a
				120s see berlin/a
				122s events`,
			want: `berlin/a=up
				node_offline berlin/a
				failover_outage berlin/a
				failover_maintenance berlin/a
				node_online berlin/a
				failover_maintenance berlin/a
				failover_failback berlin/a`,
		}, {
			name: "that it answers again is said in maintenance too",
			in: `60s down berlin/a
				100s maintenance berlin/a
				100s events
				110s up berlin/a
				120s events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				failover_maintenance berlin/a
				node_online berlin/a`,
		}, {
			name: "also while an emergency site serves",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin/a
				60s down berlin/b
				95s see berlin
				100s maintenance berlin/a
				110s up berlin/a
				120s maintenance_end berlin/a
				120s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11`,
		}, {
			name: "the whole site",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s maintenance berlin
				60s see berlin/a, berlin/b, berlin
				2m maintenance_end berlin
				2m see berlin`,
			want: `berlin/a=maintenance
				berlin/b=maintenance
				berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "ending what is not in maintenance is refused",
			in:   `60s maintenance_end berlin/a`,
			want: `refused: Refused: nothing of berlin/a is in maintenance.`,
		},
	})
}

// A disabled node must be left in peace, and must come back by what is found
// out after its end alone.
func TestN8Disabled(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "out at once, not probed, no outage",
			in: `60s disable berlin/a
				60s see berlin/a, berlin
				60s down berlin/a
				10m events`,
			want: `berlin/a=disabled
				berlin=own 10.1.0.12
				node_disabled berlin/a`,
		}, {
			name: "its end asks a probe at once",
			in: `60s disable berlin/a
				5m enable berlin/a
				5m see berlin/a, berlin
				5m events`,
			want: `berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				node_disabled berlin/a
				node_enabled berlin/a`,
		}, {
			name: "results from before or during it count no more",
			in: `60s hold
				60s disable berlin/a
				5m enable berlin/a
				5m1s feed berlin/a up 59s 5m1s
				5m1s see berlin/a
				5m2s feed berlin/a up 4m59s 5m2s
				5m2s see berlin/a
				5m3s feed berlin/a up 5m 5m3s
				5m3s see berlin/a`,
			want: `berlin/a=returning
				berlin/a=returning
				berlin/a=up`,
		}, {
			name: "enabled but silent: returning, offline after a threshold",
			in: `60s disable berlin/a
				70s down berlin/a
				5m enable berlin/a
				5m see berlin/a
				5m29s events
				5m31s events`,
			want: `berlin/a=returning
				node_disabled berlin/a
				node_enabled berlin/a
				node_offline berlin/a`,
		}, {
			name: "disabled in maintenance: each ends by itself",
			in: `60s maintenance berlin/a
				61s disable berlin/a
				61s see berlin/a
				62s maintenance_end berlin/a
				62s see berlin/a
				63s enable berlin/a
				63s see berlin/a`,
			want: `berlin/a=disabled
				berlin/a=disabled
				berlin/a=up`,
		}, {
			name: "refusals",
			in: `60s enable berlin/a
				60s disable berlin
				60s disable berlin/x
				60s disable bonn/a`,
			want: `refused: Refused: nothing of berlin/a is disabled.
				refused: Name the node to disable: a, b.
				refused: Site berlin has no node "x". Its nodes are a, b.
				refused: There is no site "bonn". The sites are berlin, hamburg.`,
		},
	})
}

// A pair that looks after itself must never be taken out by an outage, and must
// obey its operator all the same.
func TestN9NoFailover(t *testing.T) {
	pair := func(c *Config) {
		c.Sites[0].Nodes[0].Failover = false
		c.Sites[0].Nodes[0].Secondary = addrs("10.1.0.21")
	}
	runRule(t, []ruleTest{
		{
			name: "an outage is told and moves nothing",
			cfg:  pair,
			in: `60s down berlin/a
				10m see berlin/a, berlin, ttl berlin
				10m up berlin/a
				11m events`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.21, 10.1.0.12
				ttl berlin=30s
				node_offline berlin/a
				node_online berlin/a`,
		}, {
			name: "maintenance takes it; its end does not wait for an answer",
			cfg:  pair,
			in: `60s maintenance berlin/a
				60s see berlin
				60s down berlin/a
				2m maintenance_end berlin/a
				2m see berlin, berlin/a`,
			want: `berlin=own 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.21, 10.1.0.12
				berlin/a=failing`,
		}, {
			name: "so does disabling",
			cfg:  pair,
			in: `60s disable berlin/a
				60s see berlin
				60s down berlin/a
				2m enable berlin/a
				2m see berlin`,
			want: `berlin=own 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.21, 10.1.0.12`,
		}, {
			name: "it serves from the first start on, though it does not answer",
			cfg:  pair,
			in: `0s down berlin/a
				5m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.21, 10.1.0.12`,
		},
	})
}
