package sites

import (
	"fmt"
	"testing"
	"time"
)

// braked has the brake at its defaults.
func braked(c *Config) { c.Brake = Brake{Percent: 50, Within: time.Minute} }

// more gives a site more nodes, named by letters from c on.
func more(site int, names string) func(*Config) {
	return func(c *Config) {
		s := &c.Sites[site]
		for _, name := range names {
			s.Pools[0].Nodes = append(s.Pools[0].Nodes, len(s.Nodes))
			s.Nodes = append(s.Nodes, usualNode(string(name), fmt.Sprintf("10.%d.0.%d", site+1, 13+name-'c')))
		}
	}
}

// allFail has every node fail at once.
const allFail = `60s down berlin/a
	60s down berlin/b
	60s down hamburg/a
	60s down hamburg/b
	`

// A rule of the controller's own firewall, or a wrong path rolled out to all
// probes, must not take down what works everywhere.
func TestA10Brake(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "more than the share, more than two, in two sites: held from the first, told once",
			cfg:  braked,
			in: allFail + `2h see berlin, hamburg, berlin/a, hamburg/b
				2h events`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11
				berlin/a=failing
				hamburg/b=failing
				mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b`,
		}, {
			name: "one lost question to a resolver just before keeps it from nothing",
			cfg:  braked,
			in: allFail + `87s down 10.2.0.1
				89s up 10.2.0.1
				5m see berlin, hamburg, berlin/a, hamburg/b
				5m events`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11
				berlin/a=failing
				hamburg/b=failing
				mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b`,
		}, {
			name: "nodes that fail together with their resolver are no part of it",
			cfg:  braked,
			in: `60s down 10.2.0.1
				` + allFail + `91500ms see berlin, berlin/a`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12
				berlin/a=out`,
		}, {
			name: "people are told what they have in common",
			cfg:  braked,
			in: `60s down berlin/a
				60s down hamburg/a
				60s down hamburg/b
				2m texts`,
			want: `3 of 4 nodes in 2 sites began to fail within 1m of each other while their sites' resolvers answer: the likeliest cause is the prober itself (a firewall rule, a wrong path, a certificate, a clock). Pools in which no node passes its probes are left alone. ` + "`dnsteer release`" + ` ends that.
				berlin/a has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				berlin/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.
				hamburg/a has not answered for 30s (connection refused); the resolver 10.2.0.1 answers.
				hamburg/b has not answered for 30s (connection refused); the resolver 10.2.0.1 answers.`,
		}, {
			name: "of all that have failed, not of the first that were enough",
			cfg:  braked,
			in:   allFail + `2m texts`,
			want: `4 of 4 nodes in 2 sites began to fail within 1m of each other while their sites' resolvers answer: the likeliest cause is the prober itself (a firewall rule, a wrong path, a certificate, a clock). Pools in which no node passes its probes are left alone. ` + "`dnsteer release`" + ` ends that.
				berlin/a has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				berlin/b has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				hamburg/a has not answered for 30s (connection refused); the resolver 10.2.0.1 answers.
				hamburg/b has not answered for 30s (connection refused); the resolver 10.2.0.1 answers.`,
		}, {
			name: "off: nothing is held",
			in: allFail + `2m see berlin, hamburg
				2m events`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12
				hamburg=last_resort 10.2.0.11
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				node_offline hamburg/a
				failover_outage hamburg/a
				node_offline hamburg/b
				failover_outage hamburg/b
				pool_outage_started berlin
				pool_outage_started hamburg`,
		}, {
			name: "exactly the share is not more than it",
			cfg:  several(braked, more(0, "cd")),
			in: `60s down berlin/a
				60s down berlin/b
				60s down hamburg/a
				2m see berlin/a, hamburg/a
				2m events`,
			want: `berlin/a=out
				hamburg/a=out
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				node_offline hamburg/a
				failover_outage hamburg/a
				failover_switch hamburg`,
		}, {
			name: "one more is",
			cfg:  several(braked, more(0, "cd")),
			in: `60s down berlin
				60s up berlin resolver 10.1.0.1
				60s down hamburg/a
				60s down hamburg/b
				60s down berlin/a
				60s down berlin/b
				60s up berlin
				2m see berlin/a, hamburg/a, hamburg`,
			want: `berlin/a=out
				hamburg/a=failing
				hamburg=own 10.2.0.11`,
		}, {
			name: "two are not more than two",
			cfg:  several(braked, func(c *Config) { c.Sites[0].Nodes, c.Sites[0].Pools[0].Nodes = c.Sites[0].Nodes[:1], []int{0} }),
			in: `60s down berlin/a
				60s down hamburg/a
				2m see berlin/a, hamburg/a`,
			want: `berlin/a=out
				hamburg/a=out`,
		}, {
			name: "one site alone is that site's fault",
			cfg:  several(braked, more(0, "cd")),
			in: `60s down berlin/a
				60s down berlin/b
				60s down berlin/c
				60s down berlin/d
				2m see berlin/a`,
			want: `berlin/a=out`,
		}, {
			name: "further apart than its time they are faults of their own",
			cfg:  braked,
			in: `60s down berlin/a
				60s down berlin/b
				2m2s down hamburg/a
				2m2s down hamburg/b
				4m see berlin/a, hamburg/a`,
			want: `berlin/a=out
				hamburg/a=out`,
		}, {
			name: "just its time apart they are not",
			cfg:  braked,
			in: `60s down berlin/a
				60s down berlin/b
				120s down hamburg/a
				120s down hamburg/b
				4m see berlin/a, hamburg/a`,
			want: `berlin/a=out
				hamburg/a=failing`,
		}, {
			name: "those that are out already count if they began within the time",
			cfg:  braked,
			in: `60s down berlin/a
				60s down berlin/b
				115s down hamburg/a
				115s down hamburg/b
				4m see berlin/a, hamburg/a, hamburg/b, hamburg`,
			want: `berlin/a=out
				hamburg/a=failing
				hamburg/b=failing
				hamburg=own 10.2.0.11`,
		}, {
			name: "nodes of a site that cannot be seen do not count",
			cfg:  several(braked, third),
			in: `60s down berlin
				60s down hamburg/a
				60s down munich/a
				2m see berlin/a, hamburg/a, munich/a`,
			want: `berlin/a=failing
				hamburg/a=out
				munich/a=out`,
		}, {
			name: "nor do nodes without failover, though a pool of theirs is not moved either",
			cfg:  several(braked, func(c *Config) { c.Sites[0].Nodes[0].Failover = false }),
			in: allFail + `2m see berlin/a, berlin/b, hamburg/a
				2m events`,
			want: `berlin/a=failing
				berlin/b=failing
				hamburg/a=failing
				mass_failure
				node_offline berlin/a
				node_offline berlin/b
				node_offline hamburg/a
				node_offline hamburg/b`,
		}, {
			name: "they are none of those that fail",
			cfg:  several(braked, func(c *Config) { c.Sites[0].Nodes[0].Failover = false }),
			in: `60s down berlin/a
				60s down berlin/b
				60s down hamburg/a
				2m see berlin/b, hamburg/a`,
			want: `berlin/b=out
				hamburg/a=out`,
		}, {
			name:   "nor is what a node had before it got another address",
			cfg:    braked,
			reload: []func(*Config){func(c *Config) { c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.21") }},
			in: `50s down berlin/a
				52s reload 0
				60s down berlin/b
				60s down hamburg/a
				2m see berlin/b, hamburg/a`,
			want: `berlin/b=out
				hamburg/a=out`,
		}, {
			name: "a node in maintenance is one of all, and does not fail",
			cfg:  several(braked, more(0, "cd")),
			in: `50s maintenance berlin/c
				50s maintenance berlin/d
				60s down berlin/a
				60s down hamburg/a
				60s down hamburg/b
				2m see berlin/a, hamburg/a`,
			want: `berlin/a=out
				hamburg/a=out`,
		}, {
			name: "a pool with a node that passes is not held",
			cfg:  braked,
			in: `60s down berlin/a
				60s down hamburg/a
				60s down hamburg/b
				2m see berlin/a, hamburg/a, hamburg/b, berlin
				2m events`,
			want: `berlin/a=out
				hamburg/a=failing
				hamburg/b=failing
				berlin=own 10.1.0.12
				mass_failure
				node_offline berlin/a
				failover_outage berlin/a
				node_offline hamburg/a
				node_offline hamburg/b`,
		}, {
			name: "be it one in maintenance: its probes pass",
			cfg:  several(braked, more(0, "c")),
			in: `50s maintenance berlin/c
				` + allFail + `2m see berlin/a, hamburg/a`,
			want: `berlin/a=out
				hamburg/a=failing`,
		}, {
			name: "a recovering node comes back under the brake, its grace waived where it is the only one (A3)",
			cfg:  braked,
			in: `60s down berlin/a
				2m up berlin/a
				3m down berlin/b
				3m down hamburg/a
				3m down hamburg/b
				4m see berlin/a, berlin/b, hamburg/a, berlin
				4m events`,
			want: `berlin/a=up
				berlin/b=out
				hamburg/a=failing
				berlin=own 10.1.0.11
				node_offline berlin/a
				failover_outage berlin/a
				node_online berlin/a
				mass_failure
				node_offline berlin/b
				failover_outage berlin/b
				failover_failback berlin/a
				node_offline hamburg/a
				node_offline hamburg/b`,
		}, {
			name: "one that an emergency site serves comes back after its grace (A6)",
			cfg:  several(braked, third, emergencies("berlin>munich")),
			in: `60s down berlin/a
				60s down berlin/b
				3m up berlin/a
				4m down hamburg/a
				4m down hamburg/b
				4m down munich/a
				4m25s down berlin/b
				7m see berlin/a
				9m see berlin/a, berlin`,
			want: `berlin/a=recovering
				berlin/a=up
				berlin=own 10.1.0.11`,
		}, {
			name: "a drill counts for none",
			cfg:  braked,
			in: `60s drill berlin/a for=5m
				60s down hamburg/a
				60s down hamburg/b
				2m see berlin/a, hamburg/a`,
			want: `berlin/a=out
				hamburg/a=out`,
		}, {
			name: "as many of one site alone a little earlier hide nothing",
			cfg: several(braked, more(0, "cd"), func(c *Config) {
				c.Sites[1].Nodes, c.Sites[1].Pools[0].Nodes = c.Sites[1].Nodes[:1], []int{0}
			}),
			in: `60s down berlin/a
				75s down berlin/b
				75s down berlin/c
				75s down berlin/d
				124s down hamburg/a
				3m see hamburg/a, berlin/d`,
			want: `hamburg/a=failing
				berlin/d=out`,
		},
	})
}
