package sites

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What was decided must survive a restart, whatever state it was in: a dead
// node that comes back into DNS with every update of dnsteer is an outage.
func TestS1Survives(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "node states",
			in: `50s maintenance hamburg/a
				50s disable hamburg/b force
				60s down berlin/a
				100s restart 10s
				110s see berlin/a, berlin/b, hamburg/a, hamburg/b, berlin, hamburg
				3m see berlin/a, berlin/b, hamburg/a, hamburg/b, berlin, hamburg`,
			want: `berlin/a=out
				berlin/b=up
				hamburg/a=maintenance
				hamburg/b=disabled
				berlin=own 10.1.0.12
				hamburg=last_resort 10.2.0.12
				berlin/a=out
				berlin/b=up
				hamburg/a=maintenance
				hamburg/b=disabled
				berlin=own 10.1.0.12
				hamburg=last_resort 10.2.0.12`,
		}, {
			name: "failing, and its clock starts from zero",
			in: `60s down berlin/a
				80s restart 10s
				90s see berlin/a, berlin
				119s see berlin/a
				122s see berlin/a`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=failing
				berlin/a=out`,
		}, {
			name: "recovering, and its grace starts from zero",
			in: `60s down berlin/a
				100s up berlin/a
				200s restart 10s
				210s see berlin/a
				509s see berlin/a
				512s see berlin/a`,
			want: `berlin/a=recovering
				berlin/a=recovering
				berlin/a=up`,
		}, {
			name: "returning",
			in: `60s maintenance berlin/a
				60s down berlin/a
				70s maintenance_end berlin/a
				70s restart 10s
				90s see berlin/a, berlin
				90s up berlin/a
				92s see berlin/a`,
			want: `berlin/a=returning
				berlin=own 10.1.0.12
				berlin/a=up`,
		}, {
			name: "pauses, and who is active",
			in: `60s down hamburg/a
				100s pause hamburg
				100s up hamburg/a
				110s restart 10s
				10m see site hamburg, hamburg`,
			want: `site hamburg=paused
				hamburg=own 10.2.0.12`,
		}, {
			name: "the emergency site",
			cfg:  emergencies("berlin>hamburg"),
			in: `60s down berlin/a
				60s down berlin/b
				100s restart 10s
				110s see berlin
				2m see berlin
				2m events`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=emergency:hamburg 10.2.0.11
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				failover_switch berlin`,
		}, {
			name: "the last resort, said once",
			in: `60s down berlin/a
				60s down berlin/b
				100s events
				100s restart 10s
				5m see berlin
				5m events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				pool_outage_started berlin
				berlin=last_resort 10.1.0.11, 10.1.0.12`,
		}, {
			name: "a site that is down, said once",
			in: `60s down berlin
				80s restart 10s
				3m see site berlin
				3m up berlin
				4m see site berlin
				4m events`,
			want: `site berlin=down
				site berlin=up
				site_down berlin
				site_up berlin`,
		}, {
			name: "manual failback: an operator's word",
			cfg:  func(c *Config) { c.Sites[1].Nodes[0].Failback = FailbackManual },
			in: `60s maintenance hamburg/a
				2m restart 10s
				3m maintenance_end hamburg/a
				3m restart 10s
				3m30s see hamburg`,
			want: `hamburg=own 10.2.0.11`,
		},
	})
}

// What is stored must be the whole of it: a second machine made from it stores
// the same.
func TestS1Saved(t *testing.T) {
	d := newDriver(t, usual(emergencies("berlin>hamburg")))
	d.play(`50s maintenance hamburg/b for=2h
		60s down berlin/a
		100s pause berlin
		110s down berlin/b
		111s tick`)
	before := d.saved()
	d.cfg = d.cfg.clone()
	m := New(d.instant(), d.cfg, before)
	after := Saved{Global: m.Global()}
	for i := range d.cfg.Sites {
		after.Sites = append(after.Sites, m.Saved(i))
	}
	after.Global.Starts = before.Global.Starts // a start more
	if diff := cmp.Diff(written2(t, before), written2(t, after)); diff != "" {
		t.Errorf("stored (-before +after):\n%s", diff)
	}
}

func written2(t *testing.T, s Saved) string {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// After a start nothing may move before the controller knows what it sees.
func TestS2Start(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "no node goes out before every subject of the site has given a result",
			in: `60s mute berlin/b
				60s down berlin/a
				62s restart 10s
				3m see berlin/a, berlin
				3m up berlin/b
				3m10s see berlin/a, berlin`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=out
				berlin=own 10.1.0.12`,
		},
		{
			name: "the last answers at once; no move before the site was seen and a round is in",
			in: `60s down berlin/a
				100s restart 10s
				110s see berlin
				110s down berlin resolver 10.1.0.1
				110s up berlin/a
				20m see berlin/a, berlin
				20m up berlin resolver 10.1.0.1
				20m10s see berlin/a, berlin`,
			want: `berlin=own 10.1.0.12
				berlin/a=recovering
				berlin=own 10.1.0.12
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12`,
		},
		{
			name: "not before every node of the site has been probed",
			in: `60s maintenance berlin/a
				60s down berlin/a
				70s maintenance_end berlin/a
				70s restart 10s
				80s hold
				80s up berlin/a
				81s feed berlin up 81s 81s
				82s feed berlin/a up 81s 82s
				82s see berlin/a
				83s feed berlin/b up 81s 83s
				83s see berlin/a`,
			want: `berlin/a=returning
				berlin/a=up`,
		},
	})
}

// The very first start must serve at once and believe nothing yet.
func TestS3FirstStart(t *testing.T) {
	runRule(t, []ruleTest{{
		name: "all nodes are pending",
		in: `0s see berlin/a, berlin/b, hamburg/a, hamburg/b, berlin, hamburg
			10s see berlin/a, hamburg/b
			10s events`,
		want: `berlin/a=pending
			berlin/b=pending
			hamburg/a=pending
			hamburg/b=pending
			berlin=own 10.1.0.11, 10.1.0.12
			hamburg=own 10.2.0.11
			berlin/a=up
			hamburg/b=up`,
	}})
}

// Nodes that died meanwhile get their whole threshold, and a service manager
// that restarts dnsteer for ever must be noticed: it decides nothing then.
func TestS4AfterTheStop(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "one that went down while the controller was off has its full threshold",
			in: `60s restart 10m
				11m down berlin/a
				11m29s see berlin/a, berlin
				11m32s see berlin/a`,
			want: `berlin/a=failing
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a=out`,
		}, {
			name: "three starts within ten minutes",
			in: `3m restart 10s
				6m restart 10s
				7m events
				8m restart 10s
				9m events
				20m restart 10s
				21m events`,
			want: `restart_loop`,
		}, {
			name: "slower ones are none",
			in: `6m restart 10s
				11m restart 10s
				17m restart 10s
				22m events`,
			want: ``,
		},
	})
}

// A probe loop that is stuck must be told of, and must not be taken for an
// answer or an outage.
func TestS5Watchdog(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "stale after three intervals without results, fresh with the next",
			in: `60s mute berlin/a
				70s events
				80s events
				10m see berlin/a, berlin
				10m explain berlin/a
				10m up berlin/a
				10m2s events`,
			want: `probe_stale berlin/a
				berlin/a=up
				berlin=own 10.1.0.11, 10.1.0.12
				berlin/a serves. Its probes have given no result for 9m2s; nothing of it moves until they do.
				probe_fresh berlin/a`,
		}, {
			name: "a stale node is not switched to",
			in: `60s mute hamburg/b
				90s down hamburg/a
				3m see hamburg/a, hamburg/b, hamburg`,
			want: `hamburg/a=out
				hamburg/b=up
				hamburg=own 10.2.0.11`,
		}, {
			name: "a stale failing node does not go out",
			in: `60s down berlin/a
				62s mute berlin/a
				5m see berlin/a`,
			want: `berlin/a=failing`,
		}, {
			name: "a disabled one is not expected to say anything",
			in: `60s disable berlin/a
				10m events`,
			want: `node_disabled berlin/a`,
		},
	})
}

// A restart that comes in the middle of an event must neither say it twice nor
// lose its end.
func TestS1EventsGoOn(t *testing.T) {
	d := newDriver(t, usual(nil))
	d.play(`60s down berlin/a
		100s restart 10s
		3m up berlin/a
		20m restart 10s
		21m tick`)
	last := uint64(0)
	for _, e := range d.all {
		if e.ID != last+1 {
			t.Errorf("event %d (%s) comes after %d", e.ID, e.Kind, last)
		}
		last = e.ID
	}
	if open := unresolved(d.all); len(open) > 0 {
		t.Errorf("never ended: %v", open)
	}
	if want := 21*time.Minute + 10*time.Second; d.now > want {
		t.Fatal("the script ran too long")
	}
}

// unresolved gives the kinds of events that something ends and nothing did.
func unresolved(events []Event) (open []Kind) {
	ended := map[uint64]bool{}
	for _, e := range events {
		ended[e.Resolves] = true
	}
	for _, e := range events {
		switch e.Kind {
		case NodeOffline, FailoverOutage, SiteDown, ResolverDown, ControllerIsolated, PoolOutageStarted, Paused, NodeDisabled, ProbeNeverUp, ProbeFailed, ProbeStale:
			if !ended[e.ID] {
				open = append(open, e.Kind)
			}
		}
	}
	return open
}
