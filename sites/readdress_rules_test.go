package sites

import (
	"slices"
	"testing"
	"time"
)

// Where a pool does not move, a node that is given another address must go on with
// its former one as anywhere: nobody may be sent to an address that nothing is known of.
func TestA7Readdressed(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name:   "a paused pool keeps the former address until the new one is up",
			reload: []func(*Config){address(0, "10.1.0.99")},
			in: `60s pause berlin
				60s down 10.1.0.99
				60s reload 0
				60s see berlin
				80s see berlin
				80s up 10.1.0.99
				90s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.99, 10.1.0.12`,
		}, {
			name:   "one that has gone back to its former address in a pause goes on with that",
			reload: []func(*Config){address(0, "10.1.0.99"), address(0, "10.1.0.11")},
			in: `60s down 10.1.0.99
				60s reload 0
				70s pause berlin
				80s reload 1
				80s see berlin
				2m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "a pool that the brake holds",
			cfg:  braked,
			reload: []func(*Config){func(c *Config) {
				c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.98")
				c.Sites[0].Nodes[1].Addresses = addrs("10.1.0.99")
			}},
			in: allFail + `2m reload 0
				2m see berlin
				5m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name:   "one that is given an address in a family that nothing judges has moved at once",
			reload: []func(*Config){address(0, "fd00:1::99")},
			in: `60s reload 0
				60s see berlin
				70s down 10.1.0.11
				2m see berlin, berlin/a
				2m events`,
			want: `berlin=own 10.1.0.12, fd00:1::99
				berlin=own 10.1.0.12, fd00:1::99
				berlin/a=up`,
		}, {
			name:   "a failing node keeps its place",
			reload: []func(*Config){address(0, "10.1.0.99")},
			in: `60s down berlin/a
				70s reload 0
				70s see berlin
				80s see berlin
				2m see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.11, 10.1.0.12
				berlin=own 10.1.0.12`,
		},
	})
}

// A node of both families that is given other addresses must not leave one of them
// without an answer until the second of the new ones has been probed.
func TestA7BothFamilies(t *testing.T) {
	both := func(site int) func(*Config) {
		return func(c *Config) {
			s := &c.Sites[site]
			s.Nodes, s.Pools[0].Nodes = s.Nodes[:1], []int{0}
			s.Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
			s.Witnesses = append(s.Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
		}
	}
	moved := func(site int) func(*Config) {
		return func(c *Config) { c.Sites[site].Nodes[0].Addresses = addrs("10.1.0.99", "fd00:1::99") }
	}
	runRule(t, []ruleTest{
		{
			name: "active_active", cfg: both(0), reload: []func(*Config){moved(0)},
			in: `60s mute berlin/a IPv6
				60s reload 0
				62s see berlin
				62s up berlin/a IPv6
				70s see berlin`,
			want: `berlin=own 10.1.0.11, fd00:1::11
				berlin=own 10.1.0.99, fd00:1::99`,
		}, {
			name: "active_passive", cfg: both(1), reload: []func(*Config){moved(1)},
			in: `60s mute hamburg/a IPv6
				60s reload 0
				62s see hamburg
				62s up hamburg/a IPv6
				70s see hamburg`,
			want: `hamburg=own 10.1.0.11, fd00:1::11
				hamburg=own 10.1.0.99, fd00:1::99`,
		}, {
			name: "one whose second address does not answer", cfg: both(0), reload: []func(*Config){moved(0)},
			in: `60s down fd00:1::99
				60s reload 0
				60s see berlin
				62s see berlin`,
			want: `berlin=own 10.1.0.11, fd00:1::11
				berlin=own 10.1.0.99`,
		}, {
			name: "one whose former addresses are out is answered as soon as one of the new is up",
			cfg:  both(0), reload: []func(*Config){moved(0)},
			in: `60s down 10.1.0.11
				60s down fd00:1::11
				2m mute berlin/a IPv6
				2m reload 0
				122s see berlin`,
			want: `berlin=own 10.1.0.99`,
		},
	})
}

// A start with another configuration must answer at once what was answered last (S2),
// and not an address that has never been probed.
func TestS2Readdressed(t *testing.T) {
	d := newDriver(t, usual(nil))
	d.play(`60s down 10.1.0.99`)
	saved := d.saved()
	cfg := d.cfg.clone()
	address(0, "10.1.0.99")(cfg)
	d.cfg, d.next, d.now = cfg, nil, d.now+time.Second
	d.start(saved)
	d.play(`61s see berlin
		2m see berlin
		2m up 10.1.0.99
		130s see berlin`)
	want := []string{"berlin=own 10.1.0.11, 10.1.0.12", "berlin=own 10.1.0.11, 10.1.0.12", "berlin=own 10.1.0.99, 10.1.0.12"}
	if !slices.Equal(d.seen, want) {
		t.Errorf("seen %q, want %q", d.seen, want)
	}
}
