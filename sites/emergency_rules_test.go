package sites

import (
	"testing"
)

// When a whole site is dead its clients must be sent to another one that
// lives, never in a circle and never to one that is dead as well.
func TestA4Emergency(t *testing.T) {
	both := emergencies("berlin>hamburg hamburg>berlin")
	chain := several(third, emergencies("berlin>hamburg hamburg>munich"))
	const berlinDies = `60s down berlin/a
		60s down berlin/b
		`
	runRule(t, []ruleTest{
		{
			name: "it steps in, once",
			cfg:  both,
			in: berlinDies + `95s see berlin
				95s events`,
			want: `berlin=emergency:hamburg 10.2.0.11
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				failover_switch berlin`,
		}, {
			name: "its own node may change without a word about the site it serves",
			cfg:  both,
			in: berlinDies + `95s events
				2m down hamburg/a
				2m40s see berlin
				2m40s events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				failover_switch berlin
				berlin=emergency:hamburg 10.2.0.12
				node_offline hamburg/a
				failover_outage hamburg/a
				failover_switch hamburg`,
		}, {
			name: "both die as each other's emergency site: each its last resort",
			cfg:  both,
			in: berlinDies + `95s down hamburg/a
				95s down hamburg/b
				3m see berlin, hamburg
				3m events
				4m up hamburg/b
				4m10s see berlin, hamburg
				4m10s events`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12
				hamburg=last_resort 10.2.0.11
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				failover_switch berlin
				node_offline hamburg/a
				failover_outage hamburg/a
				node_offline hamburg/b
				failover_outage hamburg/b
				pool_outage_started berlin
				pool_outage_started hamburg
				berlin=emergency:hamburg 10.2.0.12
				hamburg=own 10.2.0.12
				node_online hamburg/b
				failover_failback hamburg/b
				pool_outage_resolved berlin
				failover_switch berlin
				pool_outage_resolved hamburg
				failover_switch hamburg`,
		}, {
			name: "a chain is followed, and a site without a node of its own is passed over",
			cfg:  chain,
			in: berlinDies + `60s down hamburg/a
				60s down hamburg/b
				100s see berlin, hamburg
				100s up hamburg/a
				7m see berlin, hamburg`,
			want: `berlin=emergency:munich 10.3.0.11
				hamburg=emergency:munich 10.3.0.11
				berlin=emergency:hamburg 10.2.0.11
				hamburg=own 10.2.0.11`,
		}, {
			name: "sites in sight come first",
			cfg:  chain,
			in: `50s down hamburg
				` + berlinDies + `2m see berlin`,
			want: `berlin=emergency:munich 10.3.0.11`,
		}, {
			name: "then those that cannot be seen, with what they last had",
			cfg:  both,
			in: `50s down hamburg
				` + berlinDies + `94s see berlin
				94s texts`,
			want: `berlin=emergency:hamburg 10.2.0.11
				hamburg cannot be seen since 12:01:03 UTC: neither its resolver nor any of its nodes answers (connection refused). Its DNS is left alone: our own line is the likeliest cause.
				berlin/a has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				berlin/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.
				berlin/b has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				berlin/b was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.
				berlin is now served by the emergency site hamburg instead of its own nodes, and answers 10.2.0.11. hamburg cannot be seen at the moment (unverified): it is what it last had.`,
		}, {
			name: "one that already serves goes on while it cannot be seen",
			cfg:  chain,
			in: berlinDies + `95s see berlin
				95s down hamburg
				5m see site hamburg, berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				site hamburg=down
				berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "the pool of the same name, or the default pool",
			cfg: several(both, func(c *Config) {
				c.Sites[0].Pools = append(c.Sites[0].Pools, Pool{Name: "media", Nodes: []int{0, 1}}, Pool{Name: "tv", Nodes: []int{0}})
				c.Sites[1].Pools = append(c.Sites[1].Pools, Pool{Name: "media", Nodes: []int{1, 0}})
			}),
			in: berlinDies + `95s see berlin, berlin/media, berlin/tv`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin/media=emergency:hamburg 10.2.0.12, 10.2.0.11
				berlin/tv=emergency:hamburg 10.2.0.11`,
		}, {
			name: "a paused pool that an emergency site serves never answers nothing",
			cfg:  both,
			in: berlinDies + `95s pause berlin
				95s down hamburg/a
				95s down hamburg/b
				5m see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "also where that site is served by another itself",
			cfg:  chain,
			in: berlinDies + `95s pause berlin
				95s down hamburg/a
				95s down hamburg/b
				5m see hamburg
				5m answers berlin`,
			want: `hamburg=emergency:munich 10.3.0.11
				berlin answers 10.3.0.11`,
		}, {
			name:   "an emergency site that a reload removes",
			cfg:    both,
			reload: []func(*Config){func(c *Config) { c.Sites = c.Sites[:1]; c.Sites[0].EmergencySite = "" }},
			in: berlinDies + `95s reload 0
				95s see berlin`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12`,
		}, {
			name: "one that is no emergency site any more, while paused",
			cfg:  both,
			reload: []func(*Config){
				func(c *Config) { c.Sites[0].EmergencySite = "" },
			},
			in: berlinDies + `95s pause berlin
				95s reload 0
				95s see berlin`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12`,
		},
	})
}

// With nothing left an answer that may be wrong is better than none.
func TestA5Keep(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "active-active: all that no operator has taken",
			in: `50s maintenance berlin/b
				60s down berlin/a
				95s see berlin
				95s events`,
			want: `berlin=last_resort 10.1.0.11
				failover_maintenance berlin/b
				node_offline berlin/a
				failover_outage berlin/a
				pool_outage_started berlin`,
		}, {
			name: "active-passive: the one active last",
			in: `60s down hamburg/a
				95s down hamburg/b
				3m see hamburg
				3m events`,
			want: `hamburg=last_resort 10.2.0.12
				node_offline hamburg/a
				failover_outage hamburg/a
				failover_switch hamburg
				node_offline hamburg/b
				failover_outage hamburg/b
				pool_outage_started hamburg`,
		}, {
			name: "active-passive: else the first of those that no operator has taken",
			in: `60s down hamburg/a
				95s down hamburg/b
				3m maintenance hamburg/b
				3m see hamburg`,
			want: `hamburg=last_resort 10.2.0.11`,
		}, {
			name: "if the operator has taken all, the last answer stays",
			in: `60s maintenance berlin/a
				61s maintenance berlin/b force
				61s see berlin
				62s maintenance hamburg force
				62s see hamburg
				90s see berlin, hamburg`,
			want: `berlin=last_resort 10.1.0.12
				hamburg=last_resort 10.2.0.11
				berlin=last_resort 10.1.0.12
				hamburg=last_resort 10.2.0.11`,
		}, {
			name: "be it that of an emergency site",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s maintenance berlin
				60s see berlin
				61s maintenance hamburg force
				61s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=last_resort 10.2.0.11`,
		}, {
			name:   "never nothing, though a reload removes what was answered last",
			reload: []func(*Config){func(c *Config) { c.Sites[0].Nodes = c.Sites[0].Nodes[1:]; c.Sites[0].Pools[0].Nodes = []int{0} }},
			in: `60s disable berlin/b
				61s down berlin/a
				100s see berlin
				100s reload 0
				100s see berlin`,
			want: `berlin=last_resort 10.1.0.11
				berlin=last_resort 10.1.0.12`,
		}, {
			name: "a recovering node replaces it at once",
			in: `60s down berlin/a
				60s down berlin/b
				100s events
				100s up berlin/b
				107s see berlin/b, berlin
				107s events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				pool_outage_started berlin
				berlin/b=up
				berlin=own 10.1.0.12
				node_online berlin/b
				failover_failback berlin/b
				pool_outage_resolved berlin`,
		}, {
			name: "paused it does not",
			in: `60s down berlin/a
				60s down berlin/b
				100s pause berlin
				100s up berlin/b
				10m see berlin/b, berlin`,
			want: `berlin/b=recovering
				berlin=last_resort 10.1.0.11, 10.1.0.12`,
		},
	})
}

// A site that has just come back must not get all its clients before it has
// proven itself.
func TestA6Return(t *testing.T) {
	cfg := emergencies("berlin>hamburg")
	runRule(t, []ruleTest{
		{
			name: "after grace, not at once",
			cfg:  cfg,
			in: `60s down berlin/a
				60s down berlin/b
				100s up berlin/a
				100s up berlin/b
				400s see berlin/a, berlin
				402s see berlin/a, berlin
				402s events`,
			want: `berlin/a=recovering
				berlin=emergency:hamburg 10.2.0.11
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				failover_switch berlin
				node_online berlin/a
				node_online berlin/b
				failover_failback berlin/a
				failover_failback berlin/b
				failover_switch berlin`,
		}, {
			name: "or by failback",
			cfg:  cfg,
			in: `60s down berlin/a
				60s down berlin/b
				100s up berlin/a
				110s failback berlin say
				110s see berlin`,
			want: `Put back: a. Left out, because they do not answer: b (--force puts them back all the same). berlin answers 10.1.0.11 now.
				berlin=own 10.1.0.11`,
		}, {
			name: "when the emergency site dies too, at once",
			cfg:  cfg,
			in: `60s down berlin/a
				60s down berlin/b
				100s up berlin/a
				110s down hamburg/a
				110s down hamburg/b
				150s see berlin, hamburg`,
			want: `berlin=own 10.1.0.11
				hamburg=last_resort 10.2.0.11`,
		},
	})
}
