package sites

import (
	"testing"
	"time"
)

// Every node that serves must get its share, in both families.
func TestA1ActiveActive(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "every serving node, in order",
			cfg:  func(c *Config) { c.Sites[0].Pools[0].Nodes = []int{1, 0} },
			in: `60s see berlin
				60s down berlin/a
				100s see berlin
				100s events`,
			want: `berlin=own 10.1.0.12, 10.1.0.11
				berlin=own 10.1.0.12
				node_offline berlin/a
				failover_outage berlin/a`,
		}, {
			name: "an address that two nodes share is answered once",
			cfg:  func(c *Config) { c.Sites[0].Nodes[1].Secondary = addrs("10.1.0.11") },
			in:   `60s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12`,
		},
	})
}

// The active node must not change without need, must change when it is dead,
// and must never change to one that is dead as well.
func TestA2ActivePassive(t *testing.T) {
	manual := func(c *Config) {
		for i := range c.Sites[1].Nodes {
			c.Sites[1].Nodes[i].Failback = FailbackManual
		}
	}
	runRule(t, []ruleTest{
		{
			name: "the first takes over again by itself, its grace over",
			in: `60s down hamburg/a
				92s see hamburg
				100s up hamburg/a
				400s see hamburg
				402s see hamburg
				402s events`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11
				node_offline hamburg/a
				failover_outage hamburg/a
				failover_switch hamburg
				node_online hamburg/a
				failover_failback hamburg/a
				failover_switch hamburg`,
		}, {
			name: "a failing active node stays",
			in: `60s down hamburg/a
				80s see hamburg`,
			want: `hamburg=own 10.2.0.11`,
		}, {
			name: "the outage of one that is not active moves nothing",
			in: `60s down hamburg/b
				2m see hamburg/b, hamburg
				2m events`,
			want: `hamburg/b=out
				hamburg=own 10.2.0.11
				node_offline hamburg/b
				failover_outage hamburg/b`,
		}, {
			name: "a failing node is never switched to; where only such are left the answer stays",
			cfg:  func(c *Config) { c.Sites[1].Nodes[1].Threshold = time.Hour },
			in: `50s down hamburg/b
				60s down hamburg/a
				2m see hamburg/a, hamburg/b, hamburg
				3m up hamburg/b
				3m20s see hamburg`,
			want: `hamburg/a=out
				hamburg/b=failing
				hamburg=own 10.2.0.11
				hamburg=own 10.2.0.12`,
		}, {
			name: "nor is one that has answered once and fails still",
			cfg:  func(c *Config) { c.Sites[1].Nodes[1].Threshold, c.Sites[1].Nodes[1].Rise = time.Hour, 100 },
			in: `50s down hamburg/b
				60s down hamburg/a
				70s up hamburg/b
				2m see hamburg/b, hamburg`,
			want: `hamburg/b=failing
				hamburg=own 10.2.0.11`,
		}, {
			name: "failback manual: only by the operator",
			cfg:  manual,
			in: `60s down hamburg/a
				100s up hamburg/a
				20m see hamburg/a, hamburg
				20m failback hamburg
				20m see hamburg`,
			want: `hamburg/a=recovering
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "failback manual: the end of maintenance aside",
			cfg:  manual,
			in: `60s maintenance hamburg/a
				60s see hamburg
				2m maintenance_end hamburg/a
				2m see hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "failback manual: the end of disabling aside",
			cfg:  manual,
			in: `60s disable hamburg/a
				60s see hamburg
				2m enable hamburg/a
				2m see hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "min_hold keeps the active node that long",
			cfg:  minHold(10 * time.Minute),
			in: `60s down hamburg/a
				100s up hamburg/a
				8m see hamburg/a, hamburg
				11m30s see hamburg
				11m32s see hamburg`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`, // taken over at 91 s
		}, {
			name: "min_hold starts from zero after a restart",
			cfg:  minHold(10 * time.Minute),
			in: `60s down hamburg/a
				100s up hamburg/a
				8m restart 30s
				11m40s see hamburg
				18m29s see hamburg
				18m32s see hamburg`,
			want: `hamburg=own 10.2.0.12
				hamburg=own 10.2.0.12
				hamburg=own 10.2.0.11`,
		}, {
			name: "min_hold does not keep a dead one",
			cfg:  minHold(10 * time.Minute),
			in: `60s down hamburg/a
				100s up hamburg/a
				7m see hamburg/a
				7m down hamburg/b
				7m40s see hamburg`,
			want: `hamburg/a=up
				hamburg=own 10.2.0.11`,
		},
	})
}

// When the last node goes, one that has been answering for a minute is better
// than none.
func TestA3Waived(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "the last serving node is lost",
			in: `60s down berlin/a
				100s up berlin/a
				110s down berlin/b
				140s see berlin/a, berlin
				142s see berlin/a, berlin
				142s texts`,
			want: `berlin/a=recovering
				berlin=own 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.11
				berlin/a has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				berlin/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.
				berlin/a answers again (2 in a row); it comes back into DNS at 12:06:41 UTC if it then answers (grace 5m).
				berlin/b has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				berlin/b was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.
				berlin/a is back in DNS: its pool has no other node that serves, so the rest of its grace is waived.`,
		}, {
			name: "by an operator's maintenance",
			in: `60s down berlin/a
				100s up berlin/a
				110s maintenance berlin/b
				110s see berlin`,
			want: `berlin=own 10.1.0.11`,
		}, {
			name: "all beyond their deadlines and held by a silent witness",
			in: `60s down berlin/a
				100s up berlin/a
				109s hold
				111s feed berlin/b down 111s 111s
				116s feed berlin/b down 116s 116s
				116s feed berlin/a up 116s 116s
				130s feed berlin/a up 130s 130s
				140.9s feed berlin up 140s 140.9s
				141.5s feed berlin down 141.2s 141.5s
				141.5s see berlin/a, berlin/b, berlin`,
			want: `berlin/a=up
				berlin/b=failing
				berlin=own 10.1.0.11, 10.1.0.12`,
		}, {
			name: "held before their deadlines they have not run out",
			in: `60s down berlin/a
				100s up berlin/a
				110s down berlin/b
				120s down berlin resolver 10.1.0.1
				200s see berlin/a, berlin/b`,
			want: `berlin/a=recovering
				berlin/b=failing`,
		}, {
			name: "not where a pause holds them",
			in: `60s down berlin/a
				100s up berlin/a
				110s pause berlin
				111s down berlin/b
				200s see berlin/a, berlin/b, berlin`,
			want: `berlin/a=recovering
				berlin/b=failing
				berlin=own 10.1.0.12`,
		}, {
			name: "one that does not answer does not come back",
			in: `60s down berlin/a
				100s up berlin/a
				110s down berlin/b
				138s unknown berlin/a
				142s see berlin/a, berlin`,
			want: `berlin/a=recovering
				berlin=last_resort 10.1.0.11, 10.1.0.12`,
		},
	})
}

// A node that is back in one family alone must not take over from one that serves both:
// the other family would lose its addresses by a move that no outage asks for.
func TestA2ReturnOfOneFamily(t *testing.T) {
	dual := func(c *Config) {
		s := &c.Sites[1]
		s.Nodes[0].Addresses, s.Nodes[1].Addresses = addrs("10.2.0.11", "fd00:2::11"), addrs("10.2.0.12", "fd00:2::12")
		s.Witnesses = append(s.Witnesses, Witness{Name: "resolver fd00:2::1", Addr: addrs("fd00:2::1")[0]})
	}
	runRule(t, []ruleTest{
		{
			name: "it waits for the other family", cfg: dual,
			in: `60s down hamburg/a
				2m see hamburg
				2m down fd00:2::11
				2m up hamburg/a
				10m see hamburg, hamburg/a
				10m up fd00:2::11
				14m see hamburg
				16m see hamburg`,
			want: `hamburg=own 10.2.0.12, fd00:2::12
				hamburg=own 10.2.0.12, fd00:2::12
				hamburg/a=out
				hamburg=own 10.2.0.12, fd00:2::12
				hamburg=own 10.2.0.11, fd00:2::11`,
		}, {
			name: "not for one in which the active node does not serve either", cfg: dual,
			in: `60s down hamburg/a
				60s down fd00:2::12
				2m down fd00:2::11
				2m up hamburg/a
				10m see hamburg`,
			want: `hamburg=own 10.2.0.11`,
		}, {
			name: "nor after maintenance", cfg: dual,
			in: `60s maintenance hamburg/a
				60s down fd00:2::11
				2m maintenance_end hamburg/a
				3m see hamburg, hamburg/a
				3m up fd00:2::11
				190s see hamburg`,
			want: `hamburg=own 10.2.0.12, fd00:2::12
				hamburg/a=returning
				hamburg=own 10.2.0.11, fd00:2::11`,
		}, {
			name: "an operator's failback does not wait", cfg: dual,
			in: `60s down hamburg/a
				2m down fd00:2::11
				2m up hamburg/a
				3m failback hamburg
				3m see hamburg`,
			want: `hamburg=own 10.2.0.11`,
		},
	})
}
