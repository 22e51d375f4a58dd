package sites

import (
	"testing"
)

func several(changes ...func(*Config)) func(*Config) {
	return func(c *Config) {
		for _, change := range changes {
			change(c)
		}
	}
}

// A line that is cut must give one alert about the site and move nothing.
func TestN3Silence(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "silent for site_threshold since the first failed witness probe: every node is asked, then down",
			in: `60s down berlin
				72s see site berlin
				74s see site berlin
				10m see berlin/a, berlin
				10m events`,
			want: `site berlin=up
				site berlin=down
				berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				site_down berlin`, // silent since 63 s
		}, {
			name: "only what is asked then decides",
			in: `60s hold
				65s feed berlin down 63s 65s
				72s feed berlin/a down 71s 72s
				72s feed berlin/b down 71s 72s
				73s tick
				73s asked
				74s see site berlin
				74s feed berlin/a down 73s 74s
				74s see site berlin
				74s feed berlin/b down 73s 74s
				74s see site berlin`,
			want: `asked berlin/a 10.1.0.11, berlin/b 10.1.0.12
				site berlin=up
				site berlin=up
				site berlin=down`,
		}, {
			name: "a node that answers: resolver_down, and no move until the resolver is back",
			in: `60s down berlin resolver 10.1.0.1
				74s see site berlin
				80s down berlin/a
				10m see berlin/a
				10m up berlin resolver 10.1.0.1
				10m20s see site berlin
				10m20s events
				10m35s see berlin/a`,
			want: `site berlin=resolver_down
				berlin/a=failing
				site berlin=up
				resolver_down berlin
				resolver_up berlin
				berlin/a=out`,
		}, {
			name: "resolver_down becomes down when no node's last result is up any more",
			in: `60s down berlin resolver 10.1.0.1
				80s down berlin/a
				90s see site berlin
				90s down berlin/b
				92s see site berlin
				93s events`,
			want: `site berlin=resolver_down
				site berlin=down
				resolver_down berlin
				site_down berlin`,
		}, {
			name: "down until a witness answers; a node that answers has them asked at once",
			in: `60s down berlin
				80s up berlin/a
				80s hold
				80s see site berlin
				81s feed berlin/a up 81s 81s
				81s asked
				81s see site berlin
				82s feed berlin up 81s 82s
				82s see site berlin`,
			want: `site berlin=down
				asked berlin resolver 10.1.0.1
				site berlin=down
				site berlin=up`,
		}, {
			name: "resolver_down is reached only from up",
			in: `60s down berlin
				80s up berlin
				80s down berlin resolver 10.1.0.1
				10m see site berlin
				10m events`,
			want: `site berlin=down
				site_down berlin`,
		}, {
			name: "seen again, the failing clocks of its nodes start from zero",
			in: `60s down berlin
				10m up berlin
				10m down berlin/a
				10m4s see site berlin
				10m30s see berlin/a
				10m32s see berlin/a`,
			want: `site berlin=up
				berlin/a=failing
				berlin/a=out`, // seen at 10m1s, deadline 10m31s
		}, {
			name: "down, nothing is sent to its targets by itself",
			in: `60s down berlin
				70s see held berlin, held hamburg
				74s see held berlin, held hamburg
				10m up berlin resolver 10.1.0.1
				10m up berlin
				10m5s see held berlin`,
			want: `held berlin=false
				held hamburg=false
				held berlin=true
				held hamburg=false
				held berlin=false`,
		}, {
			name: "nor after a restart, also where a pool of it is paused",
			in: `60s down berlin
				80s pause berlin
				80s restart 1m
				3m see held berlin`,
			want: `held berlin=true`,
		}, {
			name: "two witnesses: silent when both are",
			cfg:  twoWitnesses(false),
			in: `60s down 10.1.0.1
				5m see site berlin
				5m down 10.1.0.2
				5m12s see site berlin
				5m14s see site berlin`,
			want: `site berlin=up
				site berlin=up
				site berlin=resolver_down`,
		}, {
			name: "site_threshold 0 asks at once",
			cfg:  func(c *Config) { c.Sites[0].Threshold = 0 },
			in: `60s down berlin
				64s see site berlin`,
			want: `site berlin=down`,
		}, {
			name: "witnesses nodes beside the resolver: a node that answers is a witness that does",
			cfg:  func(c *Config) { c.Sites[0].WitnessNodes = true },
			in: `60s down berlin resolver 10.1.0.1
				60s down berlin/a
				100s see site berlin, berlin/a`,
			want: `site berlin=up
				berlin/a=out`,
		}, {
			name: "disabled nodes are not asked",
			in: `50s disable berlin/a
				60s down berlin
				74s see site berlin`,
			want: `site berlin=down`,
		}, {
			name: "a restart in resolver_down waits for the nodes' first results",
			in: `60s down berlin resolver 10.1.0.1
				80s see site berlin
				80s hold
				80s restart 10s
				91s feed berlin down 90s 91s
				91s see site berlin
				92s feed berlin/a up 91s 92s
				92s feed berlin/b down 91s 92s
				92s see site berlin
				92s events`,
			want: `site berlin=resolver_down
				site berlin=resolver_down
				site berlin=resolver_down
				resolver_down berlin`,
		},
	})
}

// A family that nothing vouches for must follow the one that is judged, or a
// dead node would stay in DNS with its other address for ever.
func TestN13Families(t *testing.T) {
	dual := func(c *Config) {
		c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
		c.Sites[0].Nodes[1].Addresses = addrs("10.1.0.12", "fd00:1::12")
	}
	v6 := func(c *Config) {
		c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
	}
	runRule(t, []ruleTest{
		{
			name: "without a witness in it, IPv6 follows IPv4 and is not judged",
			cfg:  dual,
			in: `60s down fd00:1::11
				2m see berlin/a
				2m down 10.1.0.11
				3m see berlin/a, berlin`,
			want: `berlin/a=up
				berlin/a=out
				berlin=own 10.1.0.12, fd00:1::12`,
		}, {
			name: "with one, each is judged by itself",
			cfg:  several(dual, v6),
			in: `60s down fd00:1::11
				2m see berlin/a, berlin
				2m down 10.1.0.12
				3m see berlin/b, berlin`,
			want: `berlin/a=out
				berlin=own 10.1.0.11, 10.1.0.12, fd00:1::12
				berlin/b=out
				berlin=own 10.1.0.11, fd00:1::12`,
		}, {
			name: "each by its own witness",
			cfg:  several(dual, v6),
			in: `60s down fd00:1::11
				60s down fd00:1::1
				5m see berlin/a, site berlin
				5m up fd00:1::1
				5m30s see berlin/a
				5m32s see berlin/a`,
			want: `berlin/a=failing
				site berlin=up
				berlin/a=failing
				berlin/a=out`, // 61 s + 30 s + (303 s − 63 s)
		}, {
			name: "witnesses none: every family is judged",
			cfg:  several(dual, func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].NoWitness = nil, true }),
			in: `60s down fd00:1::11
				2m see berlin/a, berlin`,
			want: `berlin/a=out
				berlin=own 10.1.0.11, 10.1.0.12, fd00:1::12`,
		}, {
			name: "a node with unjudged families alone is never taken out",
			cfg:  func(c *Config) { c.Sites[0].Nodes[0].Addresses = addrs("fd00:1::11") },
			in: `60s down berlin/a
				10m see berlin/a, berlin
				10m explain berlin/a`,
			want: `berlin/a=up
				berlin=own 10.1.0.12, fd00:1::11
				berlin/a is answered and not judged: its site has no witness in its address family, so no outage can take it out.`,
		}, {
			name: "witnesses nodes: a family that no other node has is not judged",
			cfg: func(c *Config) {
				c.Sites[0].Witnesses, c.Sites[0].WitnessNodes = nil, true
				c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
			},
			in: `60s down berlin/a
				2m see berlin/a, berlin`,
			want: `berlin/a=out
				berlin=own 10.1.0.12`,
		}, {
			name: "an active node stays while it serves in any judged family",
			cfg: func(c *Config) {
				c.Sites[1].Nodes[0].Addresses = addrs("10.2.0.11", "fd00:2::11")
				c.Sites[1].Nodes[1].Addresses = addrs("10.2.0.12", "fd00:2::12")
				c.Sites[1].Witnesses = append(c.Sites[1].Witnesses, Witness{Name: "resolver fd00:2::1", Addr: addrs("fd00:2::1")[0]})
			},
			in: `60s down fd00:2::11
				2m see hamburg
				2m down 10.2.0.11
				3m see hamburg`,
			want: `hamburg=own 10.2.0.11
				hamburg=own 10.2.0.12, fd00:2::12`,
		},
	})
}
