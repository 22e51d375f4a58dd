package sites

import (
	"testing"
)

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
			name: "what failed while the line was silent does not count, also where it ends after that (O5)",
			cfg:  cfg,
			in: `60s hold
				61s feed berlin down 61s 61s
				62s feed berlin/a down 62s 62s
				67s feed berlin/a down 67s 67s
				100s feed berlin up 100s 100s
				101s feed berlin/a down 99s 101s
				101s events
				106s feed berlin/a down 104s 106s
				132s feed berlin up 132s 132s
				133s feed berlin/a down 131s 133s
				133s events`,
			want: `probe_stale berlin/b
				probe_stale hamburg/a
				probe_stale hamburg/b
				probe_stale berlin/a
				probe_fresh berlin/a
				probe_stale berlin/a
				probe_failed berlin/a
				probe_fresh berlin/a`,
		}, {
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
