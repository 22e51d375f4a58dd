package sites

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A site whose route is missing on our own side would look as if it were seen,
// and nobody learn that its failover is suspended.
func TestN14Unjudged(t *testing.T) {
	dual := func(c *Config) {
		c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
		c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
	}
	runRule(t, []ruleTest{
		{
			name: "nothing but unknown of the resolver for site_threshold: said once, with its end",
			in: `60s unknown berlin
				72s events
				74s see held berlin
				80s explain site berlin
				80s see berlin/a, held berlin, held hamburg
				20m texts
				20m up berlin
				20m4s texts
				20m4s explain site berlin
				20m4s see held berlin`,
			want: `held berlin=true
				berlin cannot be judged since 12:01:03 UTC: this machine cannot ask, for a reason of its own (no free descriptor). Nothing of it moves by an outage until that is otherwise.
				berlin/a=up
				held berlin=true
				held hamburg=false
				berlin cannot be judged since 12:01:03 UTC: this machine cannot ask, for a reason of its own (no free descriptor). Nothing of it moves by an outage until that is otherwise.
				berlin can be judged again.
				berlin is seen.
				held berlin=false`,
		}, {
			name: "a known result in between begins it anew",
			in: `60s unknown berlin resolver 10.1.0.1
				69s up berlin resolver 10.1.0.1
				74s unknown berlin resolver 10.1.0.1
				85s events
				90s events`,
			want: `unjudged berlin`,
		}, {
			name: "one of two witnesses that must both answer is silent: said once, with its end",
			cfg:  twoWitnesses(true),
			in: `60s down 10.1.0.2
				70s events
				74s texts
				74s explain site berlin
				74s see held berlin
				2m down berlin/a
				5m events
				5m see berlin/a
				6m up 10.1.0.2
				6m4s texts
				6m4s explain site berlin`,
			want: `berlin cannot be judged since 12:01:03 UTC: no answer of the icmp 10.1.0.2 (connection refused), and every witness must answer. Nothing of it moves by an outage until that is otherwise.
				berlin cannot be judged since 12:01:03 UTC: no answer of the icmp 10.1.0.2 (connection refused), and every witness must answer. Nothing of it moves by an outage until that is otherwise.
				held berlin=false
				berlin/a=failing
				berlin can be judged again.
				berlin is seen.`,
		}, {
			name: "across a restart: said once, and over when the witness has spoken",
			cfg:  twoWitnesses(true),
			in: `60s down 10.1.0.2
				80s restart 1m
				2m20s explain site berlin
				5m events
				5m up 10.1.0.2
				5m4s events`,
			want: `berlin could not be judged before the start, for want of an answer of its witnesses, and nothing is known of them since.
				unjudged berlin
				judged berlin`,
		}, {
			name: "the one witness of a family is silent",
			cfg:  dual,
			in: `60s down berlin resolver fd00:1::1
				60s down fd00:1::11
				5m texts
				5m see berlin
				5m disable berlin/a
				5m events`,
			want: `berlin (IPv6) cannot be judged since 12:01:03 UTC: no answer of the resolver fd00:1::1 (connection refused). Nothing of it moves by an outage until that is otherwise.
				berlin=own 10.1.0.11, 10.1.0.12, fd00:1::11
				judged berlin
				node_disabled berlin/a`,
		}, {
			name: "the resolver answers, and none of the nodes that must vouch for each other",
			cfg:  func(c *Config) { c.Sites[0].WitnessNodes, c.Sites[0].WitnessAll = true, true },
			in: `60s down berlin/a
				60s down berlin/b
				5m texts
				5m see berlin/a, site berlin`,
			want: `berlin cannot be judged since 12:01:01 UTC: no answer of its other nodes, and every witness must answer. Nothing of it moves by an outage until that is otherwise.
				berlin/a=failing
				site berlin=up`,
		}, {
			name: "not where any witness is enough, nor where all are silent: that is resolver_down",
			cfg:  twoWitnesses(false),
			in: `60s down 10.1.0.2
				5m events
				5m down 10.1.0.1
				6m events`,
			want: `resolver_down berlin`,
		}, {
			name: "of what is silent while the controller is cut off nothing is said",
			cfg:  twoWitnesses(true),
			in: `60s down berlin
				60s down hamburg
				5m up hamburg
				5m up berlin
				5m up 10.1.0.1
				5m10s events`,
			want: `controller_isolated
				controller_reconnected`,
		}, {
			name: "what is known again in a drill is not told of again and again",
			cfg:  dual,
			in: `60s unknown fd00:1::11
				100s drill berlin/a for=5m
				100s events
				110s up fd00:1::11
				3m events`,
			want: `unjudged berlin/a
				drill_started berlin/a (drill)
				judged berlin/a
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)`,
		}, {
			name: "what cannot be found out in a drill is told of too",
			cfg:  dual,
			in: `60s drill berlin/a for=5m
				60s unknown fd00:1::11
				2m events`,
			want: `drill_started berlin/a (drill)
				unjudged berlin/a
				node_offline berlin/a (drill)
				failover_outage berlin/a (drill)`,
		}, {
			name: "a node for its threshold",
			in: `60s unknown berlin/a
				90s events
				92s events
				5m see berlin/a, held berlin
				5m up berlin/a
				6m events`,
			want: `unjudged berlin/a
				berlin/a=up
				held berlin=false
				judged berlin/a`,
		}, {
			name: "not of nodes that are taken",
			in: `60s disable berlin/a
				60s maintenance berlin/b force
				60s unknown berlin/b
				60s events
				5m events`,
			want: `node_disabled berlin/a
				failover_maintenance berlin/b
				pool_outage_started berlin`,
		}, {
			name: "it ends where the node is disabled",
			in: `60s unknown berlin/a
				2m events
				2m disable berlin/a
				2m1s events`,
			want: `unjudged berlin/a
				node_disabled berlin/a
				judged berlin/a`,
		}, {
			name: "not while the controller is isolated",
			in: `60s unknown berlin
				60s unknown hamburg
				5m events`,
			want: `controller_isolated`,
		}, {
			name: "across a restart: said once",
			in: `60s unknown berlin
				80s restart 1m
				5m see held berlin
				5m events
				5m up berlin
				6m events`,
			want: `held berlin=true
				unjudged berlin
				judged berlin`,
		}, {
			name: "a missing route is named",
			in: `60s unrouted berlin
				80s texts`,
			want: `berlin cannot be judged since 12:01:03 UTC: our own route is missing (network is unreachable). Nothing of it moves by an outage until that is otherwise.`,
		},
	})
}

// What began while the controller was cut off must be told as soon as it is no longer, though
// all that is known then comes at one moment, and nothing changes after it.
func TestN14AfterIsolation(t *testing.T) {
	d := newDriver(t, usual(twoWitnesses(true)))
	d.play(`60s down 10.1.0.1
		64s unknown berlin
		64s unknown hamburg
		5m hold
		5m up berlin
		5m up hamburg`)
	var in Input
	for _, x := range d.m.Targets() {
		in.Results = append(in.Results, d.probe(x.Subject)...)
	}
	d.step(in)
	d.play(`5m free
		5m10s events`)
	want := []string{"controller_isolated", "controller_reconnected", "unjudged berlin"}
	if diff := cmp.Diff(want, d.seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}
