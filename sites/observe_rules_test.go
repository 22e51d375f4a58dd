package sites

import (
	"testing"
)

// What the controller could not find out for a reason of its own must neither
// take a healthy node out nor save a dead one.
func TestO1Unknown(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "unknown alone starts no clock",
			in: `60s unknown berlin/a
				10m see berlin/a, berlin
				10m events`,
			want: `berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				unjudged berlin/a`,
		}, {
			name: "in the middle of an outage it neither stops nor resets the clock",
			in: `60s down berlin/a
				67s unknown berlin/a
				85s up berlin/a
				85s down berlin/a
				90s see berlin/a
				92s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		}, {
			name: "it breaks no row of failures and confirms none",
			in: `60s down berlin/a
				62s unknown berlin/a
				89s see berlin/a
				100s see berlin/a
				100s up berlin/a
				100s down berlin/a
				102s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=failing
				berlin/a=out`,
		}, {
			name: "it breaks no row of successes",
			in: `60s down berlin/a
				67s up berlin/a
				72s unknown berlin/a
				78s see berlin/a
				78s up berlin/a
				82s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=up`,
		}, {
			name: "an unknown witness proves and disproves nothing",
			in: `60s unknown berlin resolver 10.1.0.1
				60s down berlin/a
				5m see berlin/a, site berlin
				5m up berlin resolver 10.1.0.1
				5m5s see berlin/a`,
			want: `berlin/a=failing
				site berlin=up
				berlin/a=out`,
		}, {
			name: "with the witness silent it does not make a site down",
			in: `60s down berlin resolver 10.1.0.1
				90s see site berlin
				90s unknown berlin/a
				90s unknown berlin/b
				5m see site berlin
				5m events`,
			want: `site berlin=resolver_down
				site berlin=resolver_down
				resolver_down berlin
				unjudged berlin/a
				unjudged berlin/b`,
		}, {
			name: "a line that can never be asked does not hide a site that is down",
			cfg: func(c *Config) {
				c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
				c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
			},
			in: `0s unknown berlin/a IPv6
				60s down berlin
				90s see site berlin`,
			want: `site berlin=down`,
		},
	})
}

// A late answer of a probe that started long ago must not undo what a newer
// one has found.
func TestO1Order(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "a result whose probe started before the last counted one is dropped",
			in: `7s hold
				12s feed berlin/a down 11s 12s
				13s feed berlin/a up 10s 13s
				13s see berlin/a
				14s feed berlin/a up 12s 14s
				15s feed berlin/a up 12s 15s
				15s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=up`,
		}, {
			name: "so is that of a witness",
			in: `9s hold
				12s feed berlin down 11s 12s
				13s feed berlin up 10s 13s
				13s see site berlin
				23s tick
				23s asked
				24s feed berlin/a down 23s 24s
				24s feed berlin/b down 23s 24s
				24s see site berlin`,
			want: `site berlin=up
				asked berlin/a 10.1.0.11, berlin/b 10.1.0.12
				site berlin=down`,
		}, {
			name: "an unknown one counts no probe, so one that started before it does count",
			in: `7s hold
				12s feed berlin/a unknown 11s 12s
				13s feed berlin/a down 10s 13s
				13s see berlin/a`,
			want: `berlin/a=failing`,
		}, {
			name: "nothing is known of a subject that was not asked",
			in: `7s hold
				7s reload 0
				12s see berlin/a`,
			reload: []func(*Config){func(c *Config) { c.Sites[0].Nodes = c.Sites[0].Nodes[:1]; c.Sites[0].Pools[0].Nodes = []int{0} }},
			want:   `berlin/a=up`,
		},
	})
}

// A resolver that answers otherwise than it should is no proof of a line, and
// people are told what it said; of several one is enough.
func TestO3Resolvers(t *testing.T) {
	two := func(c *Config) {
		c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver 10.1.0.2", Addr: addrs("10.1.0.2")[0]})
	}
	runRule(t, []ruleTest{
		{
			name: "one of two is enough",
			cfg:  two,
			in: `60s down berlin resolver 10.1.0.1
				60s down berlin/a
				100s see berlin/a, site berlin`,
			want: `berlin/a=out
				site berlin=up`,
		},
		{
			name: "both silent",
			cfg:  two,
			in: `60s down berlin resolver 10.1.0.1
				70s down berlin resolver 10.1.0.2
				75s down berlin/a
				82s see site berlin
				90s texts
				5m see berlin/a`,
			want: `site berlin=up
				The resolver of berlin has not answered for 10s (connection refused), its nodes do. Failover of this site is suspended until it answers.
				berlin/a=failing`,
		},
		{
			name: "one that answers otherwise: no silence is told of",
			in: `60s wrong berlin resolver 10.1.0.1
				65s down berlin/a
				68s explain site berlin
				80s explain site berlin
				80s explain berlin/a
				90s up berlin resolver 10.1.0.1
				95s texts`,
			want: `berlin, resolver 10.1.0.1: no right answer for 3s; if that lasts 10s its nodes are asked whether the site is there.
				The resolver of berlin gives wrong answers since 12:01:13 UTC (answers 198.51.100.7, which is none of the expected addresses): failover of this site is suspended.
				berlin/a has not answered for 12s (connection refused). The resolver 10.1.0.1 does not answer as it should, so its clock stands still and it stays in DNS until that is otherwise (then 30s are left).
				The resolver of berlin has given wrong answers for 10s (answers 198.51.100.7, which is none of the expected addresses), its nodes answer. Failover of this site is suspended until it gives the right one.
				The resolver of berlin answers as it should again after 20s: failover of this site works again.`,
		},
		{
			name: "nor where the nodes are silent",
			in: `60s wrong berlin resolver 10.1.0.1
				60s down berlin/a
				60s down berlin/b
				75s texts`,
			want: `berlin cannot be seen since 12:01:13 UTC: its resolver gives wrong answers, and none of its nodes answers (answers 198.51.100.7, which is none of the expected addresses). Its DNS is left alone: our own line is the likeliest cause.`,
		},
		{
			name: "a portal that answers for everything: the controller is cut off, and nothing moves",
			in: `60s wrong berlin resolver 10.1.0.1
				60s wrong hamburg resolver 10.2.0.1
				60s down berlin/a
				60s down berlin/b
				60s down hamburg/a
				60s down hamburg/b
				2h see berlin, hamburg, berlin/a, hamburg/a
				2h events`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				hamburg=own 10.2.0.11
				berlin/a=failing
				hamburg/a=failing
				controller_isolated`,
		},
		{
			name: "and where the nodes are back, nobody is told that they are not",
			in: `60s down berlin
				60s down hamburg
				90s up berlin
				90s up hamburg
				90s wrong berlin resolver 10.1.0.1
				120s texts
				120s explain site berlin`,
			want: `The controller sees none of its 2 sites: it is the one that is cut off. No outage moves anything, and nothing is sent to targets by itself, until it sees a site again.
				The controller is no longer cut off: it sees hamburg. No outage moved anything meanwhile.
				berlin cannot be seen since 12:01:13 UTC: its nodes answer again, but its resolver gives wrong answers (answers 198.51.100.7, which is none of the expected addresses). Its DNS is left alone until its resolver answers as it should.
				berlin cannot be seen since 12:01:13 UTC. Its DNS is left alone until its resolver answers as it should.`,
		},
	})
}

// One lost packet must start the clock at once, and one answer must not clear
// an outage.
func TestO4Rise(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "one failure starts the failing clock, two successes end it",
			in: `60s down berlin/a
				62s see berlin/a
				62s up berlin/a
				67s see berlin/a
				72s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=failing
				berlin/a=up`,
		}, {
			name: "one success between failures does not reset the clock",
			in: `60s down berlin/a
				77s up berlin/a
				82s down berlin/a
				90s see berlin/a
				92s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		}, {
			name: "an out node needs two as well",
			in: `60s down berlin/a
				100s up berlin/a
				102s see berlin/a
				107s see berlin/a`,
			want: `berlin/a=out
				berlin/a=recovering`,
		}, {
			name: "rise 1",
			cfg:  func(c *Config) { c.Sites[0].Nodes[0].Rise = 1 },
			in: `60s down berlin/a
				62s up berlin/a
				67s see berlin/a`,
			want: `berlin/a=up`,
		},
	})
}
