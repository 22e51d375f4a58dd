package app

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// past gives the history of the last day, of which a test wants one line.
func (r *running) past(site, node string) history.Line {
	r.t.Helper()
	lines, err := r.History(r.t.Context(), site, node, time.Now().Add(-24*time.Hour), time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	if len(lines) != 1 {
		return history.Line{}
	}
	return lines[0]
}

// total gives the sums of a node's only probe.
func (r *running) total(site, node string) history.Point {
	r.t.Helper()
	l := r.past(site, node)
	if len(l.Probes) != 1 {
		return history.Point{}
	}
	return l.Probes[0].Total
}

// If this fails, whoever looks for what a node did last night finds nothing, or
// what another node did, and a reload or an end of disabling hides what comes
// after.
func TestHistoryFills(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	r := w.start()
	r.settled()
	r.until("its successes are kept", func() bool {
		p := r.total("berlin", "a")
		return p.Up > 2 && p.Mean > 0 && p.Most >= p.Mean
	})
	if l := r.past("hamburg", ""); !strings.HasPrefix(l.Witness, "resolver ") || l.Probes[0].Name != l.Witness || l.Probes[0].Total.Up == 0 {
		t.Errorf("the witness: %+v", l)
	}
	w.sites[0].nodes["a"].off()
	r.await("failover_outage berlin/a")
	l := r.past("berlin", "a")
	if l.Probes[0].Name != "http" || l.Probes[0].Total.Down < 2 || len(l.Failures) == 0 || l.Failures[0].Cause != string(probes.CauseRefused) {
		t.Errorf("after the outage: %+v", l)
	}
	if p := r.total("berlin", "b"); p.Down > 0 || p.Up == 0 {
		t.Errorf("the other node: %+v", p)
	}

	w.write(w.config("grace: 500ms", "grace: 600ms"))
	r.await("config_reloaded")
	down := l.Probes[0].Total.Down
	r.until("the reload forgets nothing and goes on", func() bool { return r.total("berlin", "a").Down > down })

	for _, verb := range []sites.Verb{sites.Disable, sites.Enable} {
		if reply, err := r.Command(t.Context(), sites.Command{Verb: verb, Site: "berlin", Node: "a"}); err != nil || reply.Refused {
			t.Fatal(reply, err)
		}
		if verb == sites.Disable && len(r.past("berlin", "a").Probes) > 0 {
			t.Error("a disabled node is probed")
		}
	}
	r.until("it goes on after the disabling", func() bool { return r.total("berlin", "a").Down > 0 })

	for _, name := range [][2]string{{"berlin", "x"}, {"x", "a"}, {"x", ""}} {
		_, err := r.History(t.Context(), name[0], name[1], time.Time{}, time.Now())
		if err == nil || !strings.Contains(err.Error(), "There is no ") {
			t.Errorf("%v: %v", name, err)
		}
	}
}

// If this fails, what a probe found before it was changed stands under what it
// is now.
func TestHistoryOfAChangedProbe(t *testing.T) {
	cfg := loopConfig()
	p := past{History: history.New()}
	p.track(engine.New(sites.Instant{}, cfg, sites.Saved{}, 1).Machine(), cfg)
	p.since = time.Minute
	res := sites.Result{
		Subject: sites.Subject{Site: "berlin", Node: "a", Addr: netip.MustParseAddr("10.1.0.11")},
		Checks:  []sites.Check{{Outcome: sites.Up}},
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, start := range []time.Duration{time.Minute - 1, time.Minute} {
		p.learn(sites.Instant{Wall: noon}, []engine.Finished{{Run: probes.Run{Start: start}, Result: res}})
	}
	lines := p.Node("berlin", "a", noon, noon)
	if len(lines) != 1 || len(lines[0].Probes) != 1 || lines[0].Probes[0].Total.Up != 1 {
		t.Errorf("%+v", lines)
	}
}

// If this fails, the first thing that a person reads in a mass failure is not
// that the prober is suspected, or what they ordered is told to them as a fault.
func TestProblems(t *testing.T) {
	st := &api.Status{Brake: "holds", Isolated: true, Sites: []sites.SiteView{{
		Condition: sites.SiteIsUp,
		Nodes: []sites.NodeView{
			{Word: sites.WordOut, Drill: &sites.Hold{}, Explain: "a drill"},
			{Word: sites.WordRecovering, Quarantine: true, Explain: "a quarantine"},
		},
		Pools: []sites.PoolView{{Serves: "own", Paused: &sites.Hold{Switch: true}, Explain: "a switch"}},
	}}}
	want := []string{brakeText, "The controller is cut off. No outage moves anything, and nothing is sent to targets by itself, until it sees a site again.", "a switch", "a quarantine"}
	if d := cmp.Diff(want, problems(st)); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
	st = &api.Status{Sites: []sites.SiteView{{
		Condition: sites.SiteIsDown, Explain: "a site cannot be seen", Nodes: []sites.NodeView{{Word: sites.WordFailing, Explain: "one of its nodes"}},
	}}}
	if d := cmp.Diff([]string{"a site cannot be seen"}, problems(st)); d != "" {
		t.Errorf("a site stands for all of its nodes: %s", d)
	}
	st = &api.Status{Sites: []sites.SiteView{
		{Condition: sites.SiteResolverDown, Explain: "a silent resolver", Nodes: []sites.NodeView{{Word: sites.WordOut, Explain: "a node that is out"}}},
		{Condition: sites.SiteIsUp, Pools: []sites.PoolView{{Serves: "emergency", Explain: "another site steps in"}, {Serves: "last_resort", Explain: "nothing can serve"}}},
		{Condition: sites.SiteIsDown, Explain: "a site cannot be seen"},
	}}
	if d := cmp.Diff([]string{"nothing can serve", "a site cannot be seen", "a silent resolver", "another site steps in", "a node that is out"}, problems(st)); d != "" {
		t.Errorf("not the worst first (-want +got):\n%s", d)
	}
	st = &api.Status{Brake: "released"}
	if got := problems(st); len(got) > 0 {
		t.Errorf("a released brake is a problem: %q", got)
	}
}

// poolsIn is the configuration of sites that are viewed: a pool "turned" has the last
// node, others have all.
func poolsIn(list []sites.SiteView) *sites.Config {
	cfg := &sites.Config{}
	for _, v := range list {
		s := sites.Site{Name: v.Name}
		for _, p := range v.Pools {
			pool := sites.Pool{Name: p.Name}
			for i := range v.Nodes {
				if p.Name != "turned" || i == len(v.Nodes)-1 {
					pool.Nodes = append(pool.Nodes, i)
				}
			}
			s.Pools = append(s.Pools, pool)
		}
		cfg.Sites = append(cfg.Sites, s)
	}
	return cfg
}

// If this fails, who is woken is not told which of the problems to do something about,
// since when it lasts, or what to do first; or an alarm stands where an operator has
// taken everything out.
func TestCriticalStates(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	told := func(_ sites.Kind, site, _ string) time.Time {
		if site == "bonn" {
			return at.Add(-3 * time.Hour)
		}
		return at
	}
	down := sites.SiteView{Name: "berlin", Condition: sites.SiteIsDown, Since: at, Explain: "berlin cannot be seen"}
	dead := sites.SiteView{
		Name: "hamburg", Condition: sites.SiteIsUp, Nodes: []sites.NodeView{{Name: "a"}, {Name: "b", Ordered: &sites.Hold{}}},
		Pools: []sites.PoolView{{Name: "default", Serves: "last_resort", Since: at, Explain: "hamburg answers a as a last resort"}},
	}
	taken := dead
	taken.Nodes = dead.Nodes[1:]
	slow := sites.SiteView{Name: "munich", Condition: sites.SiteResolverDown, Nodes: []sites.NodeView{{Word: sites.WordOut}}, Pools: []sites.PoolView{{Serves: "emergency:berlin"}}}
	pool := api.CriticalView{Kind: sites.PoolOutageStarted, Site: "hamburg", Pool: "default", Since: at, Text: "hamburg answers a as a last resort", Do: doPool}
	held := sites.SiteView{Name: "munich", Condition: sites.SiteIsUp, Pools: []sites.PoolView{{Name: "default", Serves: "own", Held: true, Since: at.Add(-time.Hour), Explain: "munich is paused"}}}
	earlier := held
	earlier.Name = "bonn"
	put := pool
	put.Do = doTaken
	part := dead
	part.Pools = append([]sites.PoolView{{Name: "default", Serves: "own"}}, sites.PoolView{Name: "turned", Serves: "empty", Since: at, Explain: "hamburg/turned is empty"})
	for _, tt := range []struct {
		name string
		st   api.Status
		want []api.CriticalView
	}{
		{"nothing", api.Status{Sites: []sites.SiteView{slow}}, nil},
		{"a site that cannot be seen", api.Status{Sites: []sites.SiteView{slow, down}}, []api.CriticalView{{Kind: sites.SiteDown, Site: "berlin", Since: at, Text: "berlin cannot be seen", Do: doSite}}},
		{"isolated, which stands for the sites", api.Status{Isolated: true, Sites: []sites.SiteView{down}}, []api.CriticalView{{Kind: sites.ControllerIsolated, Since: at, Text: isolatedText, Do: doIsolated}}},
		{"nothing can serve", api.Status{Sites: []sites.SiteView{dead}}, []api.CriticalView{pool}},
		{"all is taken out", api.Status{Sites: []sites.SiteView{taken}}, []api.CriticalView{put}},
		{"all of a pool is taken out", api.Status{Sites: []sites.SiteView{part}}, []api.CriticalView{{Kind: sites.PoolOutageStarted, Site: "hamburg", Pool: "turned", Since: at, Text: "hamburg/turned is empty", Do: doTaken}}},
		{"two pauses hold a move back each", api.Status{Sites: []sites.SiteView{earlier, held}}, []api.CriticalView{
			{Kind: sites.MoveHeld, Site: "bonn", Pool: "default", Since: at.Add(-3 * time.Hour), Text: "munich is paused", Do: doHeld},
			{Kind: sites.MoveHeld, Site: "munich", Pool: "default", Since: at, Text: "munich is paused", Do: doHeld},
		}},
		{"a pause holds a move back", api.Status{Sites: []sites.SiteView{slow, held}}, []api.CriticalView{{Kind: sites.MoveHeld, Site: "munich", Pool: "default", Since: at, Text: "munich is paused", Do: doHeld}}},
		{
			"the brake and the disk",
			api.Status{Brake: "holds", Store: api.StoreStatus{Error: "no space"}},
			[]api.CriticalView{{Kind: sites.MassFailure, Since: at, Text: brakeText, Do: doBrake}, {Kind: sites.StoreFailed, Since: at, Text: "The state cannot be stored: no space", Do: doStore}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := critical(poolsIn(tt.st.Sites), &tt.st, told)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			list := problems(&tt.st)
			for i := range got {
				if i >= len(list) || list[i] != got[i].Text {
					t.Errorf("%q does not stand before what is less urgent: %q", got[i].Text, list)
				}
			}
		})
	}
}
