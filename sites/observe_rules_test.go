package sites

import (
	"testing"
	"time"
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
				berlin=own 10.1.0.11, 10.1.0.12`,
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
				resolver_down berlin`,
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

func probes(list ...Probe) func(*Config) {
	return func(c *Config) {
		for i := range c.Sites {
			for j := range c.Sites[i].Nodes {
				c.Sites[i].Nodes[j].Probes = list
			}
		}
	}
}

func tcpAndHTTP(require int) func(*Config) {
	return func(c *Config) {
		probes(Probe{"tcp", "tcp 443", true}, Probe{"http", "http /", true})(c)
		for i := range c.Sites {
			for j := range c.Sites[i].Nodes {
				c.Sites[i].Nodes[j].Require = require
			}
		}
	}
}

// A node with several probes must be judged by as many of them as was asked
// for: fewer and a half-dead node stays, more and a healthy one goes.
func TestO2Require(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "all: one that fails takes the node out",
			cfg:  tcpAndHTTP(0),
			in: `60s down berlin/a http
				100s see berlin/a`,
			want: `berlin/a=out`,
		}, {
			name: "any: one that fails does not",
			cfg:  tcpAndHTTP(1),
			in: `60s down berlin/a http
				100s see berlin/a
				101s down berlin/a tcp
				140s see berlin/a`,
			want: `berlin/a=up
				berlin/a=out`,
		}, {
			name: "any: an unknown one beside a failure is no failure",
			cfg:  tcpAndHTTP(1),
			in: `60s down berlin/a http
				60s unknown berlin/a tcp
				5m see berlin/a`,
			want: `berlin/a=up`,
		}, {
			name: "all: a failure beside an unknown one is one",
			cfg:  tcpAndHTTP(0),
			in: `60s down berlin/a http
				60s unknown berlin/a tcp
				100s see berlin/a`,
			want: `berlin/a=out`,
		}, {
			name: "two of three",
			cfg: func(c *Config) {
				tcpAndHTTP(2)(c)
				probes(Probe{"tcp", "tcp 443", true}, Probe{"http", "http /", true}, Probe{"icmp", "icmp", true})(c)
			},
			in: `60s down berlin/a http
				100s see berlin/a
				100s down berlin/a icmp
				140s see berlin/a`,
			want: `berlin/a=up
				berlin/a=out`,
		}, {
			name: "two of three, one of which has never answered: both others must",
			cfg: func(c *Config) {
				tcpAndHTTP(2)(c)
				probes(Probe{"tcp", "tcp 443", true}, Probe{"http", "http /", true}, Probe{"icmp", "icmp", true})(c)
			},
			in: `0s down berlin/a icmp
				60s see berlin/a
				60s down berlin/a http
				100s see berlin/a`,
			want: `berlin/a=up
				berlin/a=out`,
		},
	})
}

// A probe that was set to watch only must alert and never move traffic.
func TestO2SteerFalse(t *testing.T) {
	cfg := probes(Probe{"tcp", "tcp 443", true}, Probe{"http", "http /", false})
	runRule(t, []ruleTest{
		{
			name: "it is alerted after a threshold, and moves nothing",
			cfg:  cfg,
			in: `60s down berlin/a http
				89s events
				95s events
				5m see berlin/a, berlin
				5m up berlin/a http
				5m10s events`,
			want: `probe_failed berlin/a
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				probe_recovered berlin/a`,
		}, {
			name: "not while the line is not proven",
			cfg:  cfg,
			in: `60s down berlin
				5m events`,
			want: `site_down berlin`,
		},
	})
}

// A wrong probe path that is rolled out to all nodes must not look like an
// outage of them all.
func TestO2NeverUp(t *testing.T) {
	wrong := func(c *Config) { probes(Probe{"http", "http /wrong", true})(c) }
	added := func(c *Config) { tcpAndHTTP(0)(c) }
	runRule(t, []ruleTest{
		{
			name:   "a changed probe that never answers is said once and takes nobody out",
			reload: []func(*Config){wrong},
			in: `60s down berlin/a http
				60s down berlin/b http
				60s reload 0
				90s events
				97s events
				1h see berlin/a, berlin/b, berlin
				1h events`,
			want: `probe_never_up berlin/a
				probe_never_up berlin/b
				berlin/a=up
				berlin/b=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name:   "it counts from its first success on",
			reload: []func(*Config){wrong},
			in: `60s down berlin/a http
				60s reload 0
				5m up berlin/a http
				5m10s down berlin/a http
				5m10s events
				6m see berlin/a`,
			want: `probe_never_up berlin/a
				probe_recovered berlin/a
				berlin/a=out`,
		}, {
			name:   "till then the others judge",
			reload: []func(*Config){added},
			in: `60s down berlin/a http
				60s reload 0
				2m see berlin/a
				2m down berlin/a tcp
				3m see berlin/a`,
			want: `berlin/a=up
				berlin/a=out`,
		}, {
			name:   "a failing node whose probe is changed keeps its state",
			reload: []func(*Config){wrong},
			in: `60s down berlin/a
				70s reload 0
				10m see berlin/a`,
			want: `berlin/a=failing`,
		}, {
			name:   "an out node whose probe is changed keeps its state, and comes back by the new one",
			reload: []func(*Config){wrong},
			in: `60s down berlin/a
				100s reload 0
				10m see berlin/a
				10m up berlin/a
				10m10s see berlin/a
				15m10s see berlin/a`,
			want: `berlin/a=out
				berlin/a=recovering
				berlin/a=up`,
		}, {
			name:   "an answer of the old probe that comes after the reload says nothing of the new one",
			reload: []func(*Config){wrong},
			in: `60s hold
				61s reload 0
				62s feed berlin/a up 60s 62s
				62s free
				62s down berlin/a
				5m see berlin/a`,
			want: `berlin/a=up`,
		}, {
			name: "which probes have answered is known after a restart",
			in: `60s down berlin/a
				60s restart 30s
				93s see berlin/a
				130s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		}, {
			name: "a new node's first failure alone is not said before a threshold",
			in: `0s down berlin/a
				30s events
				37s events`,
			want: `probe_never_up berlin/a`,
		},
	})
}

// People are told why a probe fails, in the event and in the explanation.
func TestO2Causes(t *testing.T) {
	runRule(t, []ruleTest{{
		name: "cause in the explanation and in the events",
		in: `60s down berlin/a
			73s tick
			73s explain berlin/a
			92s texts`,
		want: `berlin/a has not answered for 12s (connection refused). It will be taken out at 12:01:31 UTC if it still does not answer then and the resolver 10.1.0.1 does.
			berlin/a has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
			berlin/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.`,
	}})
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
		}, {
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

// Time in which the controller could not see must not be held against a node.
func TestO5BlindTime(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "the failing clock stands still from the first failed witness probe to the next that answers",
			in: `60s down berlin/a
				70s down berlin resolver 10.1.0.1
				85s up berlin resolver 10.1.0.1
				105s see berlin/a
				107s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`, // 61 s + 30 s + (88 s − 73 s)
		}, {
			name: "grace runs on",
			in: `60s down berlin/a
				100s up berlin/a
				110s down berlin resolver 10.1.0.1
				400s see berlin/a
				402s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=up`, // recovering since 101 s
		}, {
			name: "a witness's failure that is known before the node's counts too",
			in: `60s hold
				72s feed berlin down 70s 72s
				74s feed berlin up 73s 74s
				75s feed berlin/a down 71s 75s
				76s free
				76s down berlin/a
				102s see berlin/a
				104s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`, // 71 s + 30 s + (73 s − 71 s)
		},
	})
}

// A machine that slept, or that came too late to everything, must not wake up
// and take nodes out for what it did not see.
func TestO5Suspend(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "failing clocks start from zero",
			in: `60s down berlin/a
				80s suspend 1h
				1h1m45s see berlin/a
				1h1m49s see berlin/a
				1h1m52s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=failing
				berlin/a=out`,
		}, {
			name: "grace too",
			in: `60s down berlin/a
				100s up berlin/a
				2m suspend 1h
				1h6m55s see berlin/a
				1h7m5s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=up`,
		}, {
			name: "silence too",
			in: `60s down berlin
				70s suspend 1h
				1h1m19s see site berlin
				1h1m22s see site berlin`,
			want: `site berlin=up
				site berlin=down`,
		}, {
			name: "a probe that was under way ends as unknown",
			in: `60s hold
				61s suspend 1h
				1h1m2s feed berlin/a down 61s 1h1m2s
				1h1m2s see berlin/a`,
			want: `berlin/a=up`,
		}, {
			name: "five intervals are not more than five",
			in: `60s down berlin/a
				81s tick
				81s suspend 25s
				110s see berlin/a`,
			want: `berlin/a=out`,
		}, {
			name: "more than five are",
			in: `60s down berlin/a
				81s tick
				81s suspend 26s
				130s see berlin/a
				140s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		}, {
			name: "min_hold too",
			cfg:  minHold(10 * time.Minute),
			in: `60s down hamburg/a
				100s up hamburg/a
				5m suspend 10m
				24m55s see hamburg
				25m5s see hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "a jump of the wall clock changes no duration",
			in: `60s down berlin/a
				70s clock 2031-01-01T00:00:00Z
				90s see berlin/a
				92s see berlin/a`,
			want: `berlin/a=failing
				berlin/a=out`,
		},
	})
}

func minHold(d time.Duration) func(*Config) {
	return func(c *Config) { c.Sites[1].Pools[0].MinHold = d }
}

// A clock that was never set must not end a maintenance or open a window.
func TestO6Suspect(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "said once, and no more when it is right again",
			in: `60s suspect
				90s events
				2m trust
				3m events`,
			want: `clock_suspect`,
		}, {
			name: "--for keeps its state until the clock is right",
			in: `60s maintenance berlin/a for=1h
				61s suspect
				61s clock 2040-01-01T00:00:00Z
				2h see berlin/a
				2h trust
				2h5s see berlin/a`,
			want: `berlin/a=maintenance
				berlin/a=up`,
		}, {
			name: "so do windows",
			cfg:  window("0 13 * * *", time.Hour, 0),
			in: `59m suspect
				61m see berlin/a
				61m trust
				61m5s see berlin/a
				62m suspect
				3h see berlin/a
				3h trust
				3h0m5s see berlin/a`,
			want: `berlin/a=up
				berlin/a=maintenance
				berlin/a=maintenance
				berlin/a=up`,
		}, {
			name: "what is ordered for a time while it is wrong lasts that long",
			in: `0s suspect
				0s clock 1970-01-01T00:00:00Z
				60s maintenance berlin/a for=1h
				2m clock 2026-03-01T12:02:00Z
				2m trust
				3m see berlin/a
				1h1m50s see berlin/a
				1h2m10s see berlin/a`,
			want: `berlin/a=maintenance
				berlin/a=maintenance
				berlin/a=up`,
		},
	})
}
