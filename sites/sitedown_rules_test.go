package sites

import (
	"testing"
	"time"
)

// after has berlin's emergency site step in when berlin alone is down for ten
// minutes.
func after(c *Config) {
	c.Sites[0].FailoverAfter = 10 * time.Minute
	c.Sites[0].EmergencySite = "hamburg"
}

// A dead site must be left to its emergency site where the operator has asked
// for that, and never because the controller's own line is at fault.
func TestN5SiteDown(t *testing.T) {
	three := several(third, after)
	runRule(t, []ruleTest{
		{
			name: "hold never moves a site that cannot be seen",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin
				12h see site berlin, berlin`,
			want: `site berlin=down
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "failover_after: its emergency site steps in when it has been down that long, not before",
			cfg:  after,
			in: `60s down berlin
				11m12s see berlin, berlin/a
				11m12s see held berlin
				11m14s see berlin, berlin/a, site berlin, held berlin
				11m14s events
				1h events`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=failing
				held berlin=true
				berlin=emergency:hamburg 10.2.0.11
				berlin/a=out
				site berlin=down
				held berlin=false
				site_down berlin
				failover_outage berlin/a
				failover_outage berlin/b
				failover_switch berlin`,
		}, {
			name: "it returns by A6: each node after its grace",
			cfg:  after,
			in: `60s down berlin
				20m up berlin
				20m0s down berlin/b
				20m20s see berlin, berlin/a
				25m5s see berlin, berlin/b
				30m events`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin/a=recovering
				berlin=own 10.1.0.11
				berlin/b=out
				site_down berlin
				failover_outage berlin/a
				failover_outage berlin/b
				failover_switch berlin
				site_up berlin
				node_offline berlin/b
				failover_failback berlin/a
				failover_switch berlin`,
		}, {
			name: "or by failback",
			cfg:  after,
			in: `60s down berlin
				20m up berlin
				20m20s failback berlin
				20m20s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "exactly one site: not while another is down as well",
			cfg:  three,
			in: `60s down berlin
				5m down munich
				60m see berlin
				60m up munich
				69m see berlin
				71m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "two lost within one site_threshold are the line's fault, also after one has returned",
			cfg:  three,
			in: `60s down berlin
				69s down munich
				5m up munich
				5h see site munich, berlin
				5h up berlin
				5h10m down berlin
				5h21m see berlin`,
			want: `site munich=up
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "also where the one has returned before the other was found to be down",
			cfg: several(three, func(c *Config) {
				c.Sites[2].Threshold, c.Sites[0].Threshold = 5*time.Second, 20*time.Second
			}),
			in: `60s down munich
				65s down berlin
				71s up munich
				74s see site munich, site berlin
				90s see site berlin
				5h see berlin`,
			want: `site munich=up
				site berlin=up
				site berlin=down
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "lost further apart they are two faults",
			cfg:  three,
			in: `60s down munich
				75s down berlin
				5m up munich
				20m see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "another site's witness must answer throughout: one that flaps proves nothing",
			cfg:  after,
			in: `60s down berlin
				5m down hamburg resolver 10.2.0.1
				5m5s up hamburg resolver 10.2.0.1
				12m see berlin
				12m down hamburg resolver 10.2.0.1
				12m5s up hamburg resolver 10.2.0.1
				20m see berlin
				22m see berlin
				23m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "nor does one that is silent while its nodes answer",
			cfg:  after,
			in: `60s down berlin
				60s down hamburg resolver 10.2.0.1
				2h see site hamburg, berlin`,
			want: `site hamburg=resolver_down
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "what could not be found out is no answer, and resets nothing",
			cfg:  after,
			in: `60s down berlin
				5m unknown hamburg resolver 10.2.0.1
				20m see berlin
				20m up hamburg resolver 10.2.0.1
				20m5s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "a site without witnesses proves nothing",
			cfg:  several(after, func(c *Config) { c.Sites[1].Witnesses, c.Sites[1].NoWitness = nil, true }),
			in: `60s down berlin
				2h see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "the local site never serves as that proof",
			cfg:  several(after, func(c *Config) { c.Sites[1].Local = true }),
			in: `60s down berlin
				2h see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "but it may be the one that steps in, on another's proof",
			cfg:  several(three, func(c *Config) { c.Sites[1].Local = true }),
			in: `60s down berlin
				12m see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "no emergency site that is able: nothing moves",
			cfg:  three,
			in: `50s down hamburg/a
				50s down hamburg/b
				2m down berlin
				60m see berlin
				60m events`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				node_offline hamburg/a
				failover_outage hamburg/a
				node_offline hamburg/b
				failover_outage hamburg/b
				pool_outage_started hamburg
				site_down berlin`,
		}, {
			name: "until it is",
			cfg:  three,
			in: `50s down hamburg/a
				50s down hamburg/b
				2m down berlin
				60m up hamburg/a
				60m10s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "a paused pool stays, and that is told once, also after a restart (C2)",
			cfg:  after,
			in: `60s pause berlin
				60s down berlin
				11m events
				30m restart 10s
				60m see berlin, berlin/a
				60m events
				61m up berlin
				61m20s events`,
			want: `paused berlin
				site_down berlin
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=failing
				move_held berlin
				site_up berlin
				move_held_ended berlin`,
		}, {
			name: "until it is resumed",
			cfg:  after,
			in: `60s pause berlin
				60s down berlin
				60m resume berlin
				60m2s see berlin
				60m2s texts`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin is paused: nothing of it moves by itself. ` + "`dnsteer resume berlin`" + ` ends it.
				berlin cannot be seen since 12:01:13 UTC: neither its resolver nor any of its nodes answers (connection refused). Its DNS is left alone: our own line is the likeliest cause. If it alone stays so for 10m, its emergency site steps in.
				berlin would move, because all of berlin has been down for 10m10s, but it is paused and still answers 10.1.0.11, 10.1.0.12. ` + "`dnsteer resume berlin`" + ` lets it move.
				berlin/a was taken out of DNS: all of berlin has been down for 58m57s, while hamburg answers throughout (on_site_down: failover_after 10m).
				berlin/b was taken out of DNS: all of berlin has been down for 58m57s, while hamburg answers throughout (on_site_down: failover_after 10m).
				berlin/default moves by itself again.
				No move of berlin is held back any more: it is not paused any more.
				berlin is now served by the emergency site hamburg instead of its own nodes, and answers 10.2.0.11.`,
		}, {
			name: "a node without failover keeps its pool",
			cfg:  several(after, func(c *Config) { c.Sites[0].Nodes[0].Failover = false }),
			in: `60s down berlin
				60m see berlin, berlin/b`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin/b=failing`,
		}, {
			name: "in maintenance meanwhile: it comes back with its first answer",
			cfg:  after,
			in: `60s down berlin
				5m maintenance berlin/a
				12m see berlin, berlin/a
				13m maintenance_end berlin/a
				14m see berlin/a
				14m up berlin
				14m5s see berlin, berlin/a, berlin/b`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin/a=maintenance
				berlin/a=returning
				berlin=own 10.1.0.11
				berlin/a=up
				berlin/b=out`,
		}, {
			name: "restarted while it is stood in for, it still is, and returns by A6",
			cfg:  after,
			in: `60s down berlin
				12m restart 10s
				12m30s see berlin, berlin/a
				20m up berlin
				20m20s see berlin, berlin/a
				25m10s see berlin
				25m10s texts`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin/a=out
				berlin=emergency:hamburg 10.2.0.11
				berlin/a=recovering
				berlin=own 10.1.0.11, 10.1.0.12
				berlin cannot be seen since 12:01:13 UTC: neither its resolver nor any of its nodes answers (connection refused). Its DNS is left alone: our own line is the likeliest cause. If it alone stays so for 10m, its emergency site steps in.
				berlin/a was taken out of DNS: all of berlin has been down for 10m10s, while hamburg answers throughout (on_site_down: failover_after 10m).
				berlin/b was taken out of DNS: all of berlin has been down for 10m10s, while hamburg answers throughout (on_site_down: failover_after 10m).
				berlin is now served by the emergency site hamburg instead of its own nodes, and answers 10.2.0.11.
				berlin is seen again after 18m48s. Its nodes come back when they have answered for their grace.
				berlin/a is back in DNS: it has answered for 5m (grace 5m).
				berlin/b is back in DNS: it has answered for 5m (grace 5m).
				berlin is now served by its own nodes instead of the emergency site hamburg, and answers 10.1.0.11, 10.1.0.12.`,
		}, {
			name: "restarted before that, nothing of it moves until it has been seen (S2)",
			cfg:  after,
			in: `60s down berlin
				5m restart 10s
				2h see berlin, berlin/a`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=failing`,
		}, {
			name: "after a sleep its time starts from zero (O5)",
			cfg:  after,
			in: `60s down berlin
				5m suspend 1h
				1h14m see berlin
				1h16m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "a new node of a site that cannot be seen keeps nothing up",
			cfg:  after,
			reload: []func(*Config){func(c *Config) {
				c.Sites[0].Nodes = append(c.Sites[0].Nodes, usualNode("c", "10.1.0.13"))
				c.Sites[0].Pools[0].Nodes = []int{0, 1, 2}
			}},
			in: `60s down berlin
				5m reload 0
				12m see berlin
				13m up berlin
				13m5s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.13`,
		},
	})
}
