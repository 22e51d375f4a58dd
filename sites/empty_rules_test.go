package sites

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// berlin's and hamburg's pools are so when nothing is left.
func onEmpty(o OnEmpty, sorry ...string) func(*Config) {
	return func(c *Config) {
		for i := range c.Sites {
			c.Sites[i].Pools[0].OnEmpty, c.Sites[i].Pools[0].Sorry = o, addrs(sorry...)
		}
	}
}

// berlinDies takes both nodes of berlin out.
const berlinDies = `60s down berlin/a
	60s down berlin/b
	`

// Where nothing is left, what the operator has asked for is answered: a page
// that says sorry, or nothing, and the nodes again as soon as one answers.
func TestA5OnEmpty(t *testing.T) {
	sorry := onEmpty(OnEmptyAnswer, "192.0.2.10", "2001:db8::10")
	runRule(t, []ruleTest{
		{
			name: "addresses: entering and leaving",
			cfg:  sorry,
			in: berlinDies + `95s see berlin, hamburg
				2m up berlin/b
				2m10s see berlin/b, berlin
				2m10s events`,
			want: `berlin=last_resort 192.0.2.10, 2001:db8::10
				hamburg=own 10.2.0.11
				berlin/b=up
				berlin=own 10.1.0.12
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				pool_outage_started berlin
				node_online berlin/b
				failover_failback berlin/b
				pool_outage_resolved berlin`,
		}, {
			name: "of one family alone: the other has nothing",
			cfg:  onEmpty(OnEmptyAnswer, "2001:db8::10"),
			in:   berlinDies + `95s see berlin`,
			want: `berlin=last_resort 2001:db8::10`,
		}, {
			name: "remove: entering and leaving",
			cfg:  onEmpty(OnEmptyRemove),
			in: berlinDies + `95s see berlin
				2m up berlin/b
				2m10s see berlin
				2m10s texts`,
			want: `berlin=empty nothing
				berlin=own 10.1.0.12
				berlin/a has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				berlin/a was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.
				berlin/b has not answered for 30s (connection refused); the resolver 10.1.0.1 answers.
				berlin/b was taken out of DNS: it has not answered for 30s (threshold 30s) (connection refused), while the resolver 10.1.0.1 answers.
				Nothing can serve berlin: no node of it does, and no emergency site can step in. Its records are taken away (on_empty: remove).
				berlin/b answers again (2 in a row); it comes back into DNS at 12:07:01 UTC if it then answers (grace 5m).
				berlin/b is back in DNS: its pool has no other node that serves, so the rest of its grace is waived.
				berlin is served again, by its own nodes, and answers 10.1.0.12.`,
		}, {
			name: "active-passive the same",
			cfg:  onEmpty(OnEmptyRemove),
			in: `60s down hamburg/a
				60s down hamburg/b
				95s see hamburg
				2m up hamburg/b
				2m10s see hamburg`,
			want: `hamburg=empty nothing
				hamburg=own 10.2.0.12`,
		}, {
			name: "an emergency site comes first",
			cfg:  several(sorry, emergencies("berlin>hamburg")),
			in:   berlinDies + `95s see berlin`,
			want: `berlin=emergency:hamburg 10.2.0.11`,
		}, {
			name: "and ends it when it can step in again",
			cfg:  several(onEmpty(OnEmptyRemove), emergencies("berlin>hamburg")),
			in: `50s down hamburg/a
				50s down hamburg/b
				` + berlinDies + `2m see berlin, hamburg
				3m up hamburg/a
				3m10s see berlin, hamburg`,
			want: `berlin=empty nothing
				hamburg=empty nothing
				berlin=emergency:hamburg 10.2.0.11
				hamburg=own 10.2.0.11`,
		}, {
			name: "one that is itself answered by what says sorry steps in for nobody",
			cfg:  several(sorry, emergencies("berlin>hamburg"), func(c *Config) { c.Sites[0].Pools[0].OnEmpty = OnEmptyKeep }),
			in: `50s down hamburg/a
				50s down hamburg/b
				` + berlinDies + `2m see berlin, hamburg`,
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12
				hamburg=last_resort 192.0.2.10, 2001:db8::10`,
		}, {
			name: "a restart keeps it, and tells nothing again",
			cfg:  onEmpty(OnEmptyRemove),
			in: berlinDies + `2m restart 10s
				2m10s see berlin
				3m see berlin
				3m events`,
			want: `berlin=empty nothing
				berlin=empty nothing
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				pool_outage_started berlin`,
		}, {
			name: "so it does the addresses",
			cfg:  sorry,
			in: berlinDies + `2m restart 10s
				2m10s see berlin
				3m see berlin`,
			want: `berlin=last_resort 192.0.2.10, 2001:db8::10
				berlin=last_resort 192.0.2.10, 2001:db8::10`,
		}, {
			name: "operators have taken all",
			cfg:  sorry,
			in: `60s maintenance berlin force
				60s see berlin
				70s maintenance_end berlin/a
				70s see berlin`,
			want: `berlin=last_resort 192.0.2.10, 2001:db8::10
				berlin=own 10.1.0.11`,
		}, {
			name: "a paused pool keeps what it has",
			cfg:  onEmpty(OnEmptyRemove),
			in: `50s pause berlin
				` + berlinDies + `3m see berlin
				3m resume berlin
				3m5s see berlin`,
			want: `berlin=own 10.1.0.11, 10.1.0.12
				berlin=empty nothing`,
		}, {
			name:   "a reload changes what is answered, and tells nothing",
			cfg:    sorry,
			reload: []func(*Config){onEmpty(OnEmptyRemove), onEmpty(OnEmptyKeep)},
			in: berlinDies + `95s events
				2m reload 0
				2m see berlin
				3m reload 1
				3m see berlin
				3m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				pool_outage_started berlin
				berlin=empty nothing
				berlin=last_resort 10.1.0.11, 10.1.0.12`,
		},
	})
}

// A policy chooses among nodes, so an answer must tell them apart, and a change
// of weights must reach the DNS server.
func TestA8Policies(t *testing.T) {
	weighted := func(c *Config) {
		c.Sites[0].Pools[0].Policy = PolicyWeighted
		c.Sites[0].Nodes[0].Weight, c.Sites[0].Nodes[1].Weight = 3, 1
		c.Sites[0].Nodes[1].Secondary = addrs("10.1.0.22", "fd00:1::22")
	}
	node := func(name string, weight int, v4, v6 []string) AnswerNode {
		return AnswerNode{Name: name, Weight: weight, IPv4: addrs(v4...), IPv6: addrs(v6...)}
	}
	a, b := node("a", 3, []string{"10.1.0.11"}, nil), node("b", 1, []string{"10.1.0.12", "10.1.0.22"}, []string{"fd00:1::22"})
	tests := []struct {
		name   string
		cfg    func(*Config)
		in     string
		site   int
		policy Policy
		nodes  []AnswerNode
	}{
		{"all: the addresses alone", nil, `10s tick`, 0, PolicyAll, nil},
		{"weighted: node by node", weighted, `10s tick`, 0, PolicyWeighted, []AnswerNode{a, b}},
		{"ip_hash", several(weighted, func(c *Config) { c.Sites[0].Pools[0].Policy = PolicyIPHash }), `10s tick`, 0, PolicyIPHash, []AnswerNode{a, b}},
		{"without one that is out", weighted, `60s down berlin/a
			2m tick`, 0, PolicyWeighted, []AnswerNode{b}},
		{"an emergency site by its own policy", several(weighted, emergencies("hamburg>berlin")), `60s down hamburg/a
			60s down hamburg/b
			2m tick`, 1, PolicyWeighted, []AnswerNode{a, b}},
		{"an active-passive pool has none", several(weighted, func(c *Config) { c.Sites[0].Pools[0].Mode = ActivePassive }), `10s tick`, 0, PolicyAll, nil},
		{"a last resort answers all", weighted, berlinDies + `2m tick`, 0, PolicyAll, nil},
		{"what says sorry has none", several(weighted, onEmpty(OnEmptyAnswer, "192.0.2.10")), berlinDies + `2m tick`, 0, PolicyAll, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(t, usual(tt.cfg))
			d.play(tt.in)
			got := d.m.Answer(PoolID{Site: tt.site})
			if got.Policy != tt.policy {
				t.Errorf("policy %s, want %s", got.Policy, tt.policy)
			}
			same := cmp.Comparer(func(a, b AnswerNode) bool { return a.equal(b) })
			if diff := cmp.Diff(tt.nodes, got.Nodes, same); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			other := got
			if !got.Equal(other) {
				t.Error("an answer differs from itself")
			}
			if len(got.Nodes) > 0 {
				other.Nodes = append([]AnswerNode{}, got.Nodes...)
				other.Nodes[0].Weight++
				if got.Equal(other) || !got.SameRecords(other) {
					t.Error("another weight must make another answer with the same records")
				}
			}
			other = got
			other.Policy++
			if got.Equal(other) {
				t.Error("another policy must make another answer")
			}
		})
	}
}

// A pool that keeps the last answer of its emergency site (A5) must not be left with
// nothing in the moment in which that site is served by this one (P2).
func TestA5LastAnswerOfOthers(t *testing.T) {
	runRule(t, []ruleTest{{
		name: "and what both have changes at once",
		cfg: several(emergencies("berlin>hamburg hamburg>berlin"), func(c *Config) {
			c.Sites[1].Pools = append(c.Sites[1].Pools, Pool{Name: "more", Nodes: []int{0}})
		}),
		in: `60s down hamburg/a
			60s down hamburg/b
			100s maintenance hamburg/a force
			2m down berlin/a
			2m down berlin/b
			4m see berlin, hamburg/more
			10m up hamburg/b
			10m3s up berlin/a
			10m7s see berlin, hamburg, hamburg/more`,
		want: `berlin=last_resort 10.1.0.11, 10.1.0.12
			hamburg/more=last_resort 10.1.0.11, 10.1.0.12
			berlin=emergency:hamburg 10.2.0.12
			hamburg=own 10.2.0.12
			hamburg/more=last_resort 10.2.0.11`,
	}})
}
