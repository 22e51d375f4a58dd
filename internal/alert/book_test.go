package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// noon is when the tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// desk is a book with a clock and a counter of events.
type desk struct {
	*Book
	now time.Time
	id  uint64
	out []Outgoing
}

func newDesk(routes ...Route) *desk {
	if routes == nil {
		routes = []Route{{Name: "1", Match: Match{Least: sites.Warning}, To: []string{"mail"}, Wait: 2 * time.Minute, Remind: 4 * time.Hour}}
	}
	return &desk{Book: NewBook(routes, 10*time.Second, 0), now: noon}
}

// happen enters an event "kind site/node" that resolves another (0 for none),
// and gives its ID.
func (d *desk) happen(what string, resolves uint64) uint64 {
	d.id++
	kind, subject, _ := strings.Cut(what, " ")
	drill := strings.HasSuffix(kind, "!")
	kind = strings.TrimSuffix(kind, "!")
	site, node, _ := strings.Cut(subject, "/")
	k := sites.Kind(kind)
	d.Take(sites.Event{ID: d.id, Time: d.now, Kind: k, Severity: k.Severity(), Site: site, Node: node, Text: kind + " of " + subject + ".", Resolves: resolves, Drill: drill}, nil, d.now)
	return d.id
}

// pass lets time go by, from one moment the book asks for to the next.
func (d *desk) pass(length time.Duration) {
	end := d.now.Add(length)
	for {
		out, next := d.Due(d.now)
		d.out = append(d.out, out...)
		if len(out) > 0 {
			continue
		}
		if next.IsZero() || next.After(end) {
			d.now = end
			return
		}
		d.now = earliest(end, later(next, d.now.Add(time.Millisecond)))
	}
}

// said gives what was told since it was last asked: when, phase, count, subject.
func (d *desk) said() (list []string) {
	for i := range d.out {
		m := &d.out[i].Message
		drill := ""
		if m.Drill {
			drill = "drill "
		}
		list = append(list, fmt.Sprintf("%s: %s%s %d: %s", strings.Join(d.out[i].To, "+"), drill, m.Phase, m.Count, m.Subject))
	}
	d.out = nil
	return list
}

// What is told, and above all what is not: people who are mailed too much stop
// reading, and people who are not mailed do not know.
func TestWhatIsTold(t *testing.T) {
	tests := []struct {
		name string
		play func(d *desk)
		want []string
	}{
		{"an outage and its end", func(d *desk) {
			off, out := d.happen("node_offline berlin/a", 0), d.happen("failover_outage berlin/a", 0)
			d.pass(5 * time.Minute)
			d.happen("node_online berlin/a", off)
			d.pass(5 * time.Minute)
			d.happen("failover_failback berlin/a", out)
			d.pass(time.Hour)
		}, []string{
			"mail: firing 2: Taken out of DNS: berlin/a",
			"mail: resolved 2: Taken out of DNS: berlin/a",
		}},
		{"a router that starts again", func(d *desk) {
			down := d.happen("site_down berlin", 0)
			d.pass(100 * time.Second)
			d.happen("site_up berlin", down)
			d.pass(10 * time.Hour)
		}, nil},
		{"a site that stays away", func(d *desk) {
			down := d.happen("site_down berlin", 0)
			d.pass(9 * time.Hour)
			d.happen("site_up berlin", down)
			d.pass(10 * time.Hour)
		}, []string{
			"mail: firing 1: berlin cannot be seen", "mail: reminder 1: berlin cannot be seen",
			"mail: reminder 1: berlin cannot be seen", "mail: resolved 1: berlin cannot be seen",
		}},
		{"one site stands for its nodes", func(d *desk) {
			d.happen("node_offline berlin/a", 0)
			d.pass(20 * time.Second)
			d.happen("resolver_down berlin", 0)
			d.happen("site_down berlin", 0)
			d.happen("node_offline berlin/b", 0)
			d.pass(time.Hour)
		}, []string{"mail: firing 1: berlin cannot be seen"}},
		{"what a site stood for is told when it lasts longer", func(d *desk) {
			down := d.happen("site_down berlin", 0)
			d.happen("node_offline berlin/a", 0)
			d.pass(time.Hour)
			d.happen("site_up berlin", down)
			d.pass(time.Hour)
		}, []string{"mail: firing 1: berlin cannot be seen", "mail: resolved 1: berlin cannot be seen", "mail: firing 1: berlin/a cannot be reached"}},
		{"a controller that is cut off stands for all", func(d *desk) {
			d.happen("site_down berlin", 0)
			d.happen("site_down hamburg", 0)
			d.happen("node_offline berlin/a", 0)
			d.happen("controller_isolated", 0)
			d.pass(time.Hour)
		}, []string{"mail: firing 1: The controller is cut off"}},
		{"two hundred nodes at once", func(d *desk) {
			for i := range 200 {
				d.happen(fmt.Sprintf("node_offline berlin/n%d", i), 0)
				d.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0)
				if i%20 == 0 {
					d.pass(500 * time.Millisecond)
				}
			}
			d.pass(time.Hour)
		}, []string{"mail: firing 400: Taken out of DNS: 200 nodes (berlin/n0, berlin/n1, berlin/n2 and 197 more)"}},
		{"a storm is told once a minute", func(d *desk) {
			for i := range 60 {
				d.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0)
				d.pass(5 * time.Second)
			}
			d.pass(time.Hour)
			d.out = d.out[:min(len(d.out), 7)]
			for i := range d.out {
				d.out[i].Message.Subject, d.out[i].Message.Count = "", 0
			}
		}, slices.Repeat([]string{"mail: firing 0: "}, 6)},
		{"no end without its beginning", func(d *desk) {
			d.happen("site_up berlin", 77)
			d.happen("failover_failback berlin/a", 78)
			d.pass(time.Hour)
		}, nil},
		{"a switch goes with the outage, and back with its end", func(d *desk) {
			out := d.happen("failover_outage berlin/a", 0)
			d.happen("failover_switch berlin", 0)
			d.pass(time.Hour)
			d.happen("failover_failback berlin/a", out)
			d.happen("failover_switch berlin", 0)
			d.pass(time.Hour)
		}, []string{"mail: firing 2: Taken out of DNS: berlin/a (and 1 more)", "mail: resolved 2: Taken out of DNS: berlin/a (and 1 more)"}},
		{"a planned switch is no news", func(d *desk) {
			begun := d.happen("failover_maintenance berlin/a", 0)
			d.happen("failover_switch berlin", 0)
			d.pass(time.Hour)
			d.happen("failover_maintenance berlin/a", begun)
			d.happen("failover_switch berlin", 0)
			d.pass(time.Hour)
		}, nil},
		{"the end of maintenance announces nothing again", func(d *desk) {
			off := d.happen("node_offline berlin/a", 0)
			d.pass(time.Hour)
			d.happen("failover_maintenance berlin/a", 0)
			d.pass(time.Hour)
			d.happen("node_offline berlin/a", off)
			d.pass(time.Hour)
		}, []string{"mail: firing 1: berlin/a cannot be reached"}},
		{"a drill is marked, and apart from the real", func(d *desk) {
			d.happen("failover_outage! berlin/a", 0)
			d.happen("failover_outage berlin/b", 0)
			d.pass(time.Hour)
		}, []string{"mail: drill firing 1: Taken out of DNS: berlin/a", "mail: firing 1: Taken out of DNS: berlin/b"}},
		{"another fault of the configuration is news of the same", func(d *desk) {
			first := d.happen("config_rejected", 0)
			d.pass(time.Hour)
			second := d.happen("config_rejected", first)
			d.pass(time.Hour)
			d.happen("config_reloaded", second)
			d.pass(time.Hour)
		}, []string{"mail: firing 1: The configuration was rejected", "mail: update 1: The configuration was rejected", "mail: resolved 1: The configuration was rejected"}},
		{"parts that are over are told with patience", func(d *desk) {
			var ids []uint64
			for i := range 4 {
				ids = append(ids, d.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0))
			}
			d.pass(time.Minute)
			for _, id := range ids {
				d.happen("failover_failback berlin/n", id)
				d.pass(2 * time.Minute)
			}
			d.pass(time.Hour)
		}, []string{
			"mail: firing 4: Taken out of DNS: 4 nodes (berlin/n0, berlin/n1, berlin/n2 and 1 more)",
			"mail: update 3: 3 of 4 over, 1 left: Taken out of DNS: 4 nodes (berlin/n0, berlin/n1, berlin/n2 and 1 more)",
			"mail: resolved 4: Taken out of DNS: 4 nodes (berlin/n0, berlin/n1, berlin/n2 and 1 more)",
		}},
		{"what nothing could serve for a moment is told in one message", func(d *desk) {
			id := d.happen("pool_outage_started berlin", 0)
			d.pass(8 * time.Second)
			d.happen("pool_outage_resolved berlin", id)
			d.pass(time.Hour)
			if m := d.out[0].Message; m.Lasted != 8 || m.ID != m.Thread || !m.Ended.Equal(noon.Add(8*time.Second)) || len(d.Cases) != 0 {
				d.out[0].Message.Subject = fmt.Sprintf("%+v", m)
			}
		}, []string{"mail: resolved 1: Nothing can serve berlin"}},
		{"what moved the answers for a moment is told, with what goes on", func(d *desk) {
			out := d.happen("failover_outage berlin/a", 0)
			d.happen("failover_outage berlin/b", 0)
			d.pass(5 * time.Second)
			d.happen("failover_failback berlin/a", out)
			d.pass(time.Minute)
			if m := d.out[0].Message; !slices.Contains(m.What, "That is over: failover_failback of berlin/a.") {
				d.out[0].Message.Subject = fmt.Sprintf("%+v", m)
			}
		}, []string{"mail: firing 2: Taken out of DNS: berlin/a and berlin/b"}},
		{"what a site stands for is over with it", func(d *desk) {
			down := d.happen("site_down berlin", 0)
			out := d.happen("failover_outage berlin/a", 0)
			d.pass(time.Minute)
			d.happen("failover_failback berlin/a", out)
			d.happen("site_up berlin", down)
			d.pass(time.Hour)
		}, nil},
		{"what is for your information is told to nobody who did not ask", func(d *desk) {
			d.happen("paused berlin", 0)
			d.happen("drill_started berlin/a", 0)
			d.happen("config_reloaded", 0)
			d.pass(10 * time.Hour)
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			tt.play(d)
			if diff := cmp.Diff(tt.want, d.said()); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// Whoever asked for everything would hear that a pause or a maintenance has ended
// because it was ordered anew, and nothing of its true end.
func TestOrdersAnew(t *testing.T) {
	ends := map[sites.Kind]sites.Kind{
		sites.Paused: sites.Resumed, sites.FailoverMaintenance: sites.FailoverMaintenance, sites.NodeDisabled: sites.NodeEnabled,
	}
	for begin, end := range ends {
		d := newDesk(Route{Name: "all", To: []string{"team"}})
		order := func(k sites.Kind, resolves uint64, anew bool, by string) uint64 {
			d.id++
			d.Take(sites.Event{ID: d.id, Time: d.now, Kind: k, Severity: k.Severity(), Site: "berlin", Node: "a", Text: string(k) + ".", By: by, Resolves: resolves, Anew: anew}, nil, d.now)
			d.pass(time.Hour)
			return d.id
		}
		second := order(begin, order(begin, 0, false, "ann"), true, "ben")
		var phases []Phase
		for i := range d.out {
			phases = append(phases, d.out[i].Message.Phase)
		}
		if diff := cmp.Diff([]Phase{Firing, Update}, phases); diff != "" || !slices.Contains(d.out[1].Message.Evidence, "By ben.") {
			t.Errorf("%s ordered anew (-want +got):\n%s%+v", begin, diff, d.out)
		}
		order(end, second, false, "ben")
		if last := d.out[len(d.out)-1].Message; last.Phase != Resolved || last.Lasted != 7200 || len(d.Open) != 0 {
			t.Errorf("the end of %s: %+v", begin, last)
		}
	}
}

// A restart at any moment would announce things again, or lose the end of what
// was told.
func TestBookSurvivesRestarts(t *testing.T) {
	play := func(d *desk, restart func()) []string {
		steps := []func(){
			func() { d.happen("failover_outage berlin/a", 0) },
			func() { d.happen("site_down hamburg", 0) },
			func() { d.pass(3 * time.Minute) },
			func() { d.happen("failover_failback berlin/a", 1) },
			func() { d.pass(5 * time.Hour) },
			func() { d.happen("site_up hamburg", 2) },
			func() { d.pass(time.Hour) },
		}
		for _, step := range steps {
			step()
			restart()
		}
		return d.said()
	}
	d := newDesk()
	want := play(d, func() {})
	d = newDesk()
	got := play(d, func() {
		data, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		d.Book = NewBook(d.routes, d.group, 0)
		if err := d.Load(data, d.now); err != nil {
			t.Fatal(err)
		}
		// What came before the restart comes again after it.
		for id := uint64(1); id <= d.id; id++ {
			d.Take(sites.Event{ID: id, Time: d.now, Kind: sites.SiteDown, Severity: sites.Critical, Site: "x"}, nil, d.now)
		}
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-without restarts +with):\n%s", diff)
	}
	if len(want) != 5 {
		t.Errorf("told without restarts: %q", want)
	}
}

// An alert would go to the wrong people, or twice to the same.
func TestRoutes(t *testing.T) {
	d := newDesk(
		Route{Name: "critical", Match: Match{Least: sites.Critical, NoDrills: true}, To: []string{"phone", "mail"}},
		Route{Name: "berlin", Match: Match{Least: sites.Warning, Sites: []string{"berlin"}}, To: []string{"mail", "team"}},
		Route{Name: "kinds", Match: Match{Kinds: []string{"failover_*", "paused"}, Nodes: []string{"munich/a"}}, To: []string{"team"}},
	)
	for _, what := range []string{"pool_outage_started berlin", "failover_outage hamburg/a", "failover_outage berlin/a", "failover_outage munich/a", "paused berlin", "move_held! berlin"} {
		d.happen(what, 0)
		d.pass(2 * time.Minute)
	}
	want := []string{
		"phone+mail: firing 1: Nothing can serve berlin", "team: firing 1: Nothing can serve berlin",
		"mail+team: firing 1: Taken out of DNS: berlin/a", "team: firing 1: Taken out of DNS: munich/a",
		"mail+team: drill firing 1: move_held of berlin",
	}
	if diff := cmp.Diff(want, d.said()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// The thread of an incident would break in people's mail programs, or a receiver
// would drop a message as a double that is none.
func TestThreads(t *testing.T) {
	d := newDesk()
	down := d.happen("site_down berlin", 0)
	d.pass(5 * time.Hour)
	d.happen("site_up berlin", down)
	d.pass(time.Minute)
	d.happen("site_down berlin", 0)
	d.pass(time.Hour)
	seen := make(map[string]bool)
	threads := make(map[string]int)
	for i := range d.out {
		m := &d.out[i].Message
		if seen[m.ID] {
			t.Errorf("two messages are called %s", m.ID)
		}
		seen[m.ID] = true
		threads[m.Thread]++
		if first := m.Phase == Firing; first != (m.ID == m.Thread) {
			t.Errorf("%s %s: thread %s", m.Phase, m.ID, m.Thread)
		}
	}
	if len(threads) != 2 || len(seen) != 4 {
		t.Errorf("threads %v", threads)
	}
	end := d.out[2].Message
	if end.Phase != Resolved || !end.Since.Equal(noon) || end.Lasted != int64(5*time.Hour/time.Second) || !strings.Contains(end.Title(), "Resolved after 5h: berlin cannot be seen") {
		t.Errorf("the end: %+v, %s", end, end.Title())
	}
}

// Alerts of nodes that were removed would be reminded of for ever; those that
// wait for a route that is gone would never come.
func TestReloadOfRoutes(t *testing.T) {
	d := newDesk()
	d.happen("failover_outage berlin/a", 0)
	d.happen("site_down hamburg", 0)
	d.pass(time.Minute)
	routes := []Route{{Name: "new", Match: Match{Least: sites.Warning}, To: []string{"team"}, Wait: 2 * time.Minute, Remind: time.Hour}}
	d.Reload(routes, 10*time.Second, func(site, _ string) bool { return site != "berlin" }, d.now)
	d.pass(90 * time.Minute)
	want := []string{"mail: firing 1: Taken out of DNS: berlin/a", "mail: resolved 1: Taken out of DNS: berlin/a", "team: firing 1: hamburg cannot be seen", "team: reminder 1: hamburg cannot be seen"}
	if diff := cmp.Diff(want, d.said()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// A clock that was set back would hold alerts back for hours.
func TestClockIsSet(t *testing.T) {
	d := newDesk()
	d.happen("failover_outage berlin/a", 0)
	d.now = d.now.Add(-3 * time.Hour)
	d.Shift(-3 * time.Hour)
	d.pass(time.Minute)
	if got := d.said(); len(got) != 1 {
		t.Errorf("told: %q", got)
	}
}

// A clock that was wrong before the restart, by a year, would hold what waits and
// each end back for that year.
func TestClockWasWrongBeforeTheRestart(t *testing.T) {
	d := newDesk()
	d.now = noon.AddDate(1, 0, 0)
	out := d.happen("failover_outage berlin/a", 0)
	d.pass(time.Minute)
	d.happen("failover_failback berlin/a", out)
	d.happen("site_down hamburg", 0)
	data, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	later := newDesk()
	if err := later.Load(data, noon); err != nil {
		t.Fatal(err)
	}
	later.pass(5 * time.Hour)
	want := []string{"mail: resolved 1: Taken out of DNS: berlin/a", "mail: firing 1: hamburg cannot be seen", "mail: reminder 1: hamburg cannot be seen"}
	if diff := cmp.Diff(want, later.said()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// What a damaged store gives must not stop the controller.
func FuzzBookLoad(f *testing.F) {
	d := newDesk()
	d.happen("failover_outage berlin/a", 0)
	d.happen("site_down berlin", 0)
	d.pass(15 * time.Second)
	data, err := d.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"open":{"1":null},"waiting":[null],"cases":[null,{"members":[null]},{"members":[]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := NewBook(newDesk().routes, time.Second, 0)
		if b.Load(data, noon) != nil {
			return
		}
		for now, n := noon, 0; n < 20; n++ {
			_, next := b.Due(now)
			now = later(now.Add(time.Minute), next)
		}
		b.Take(sites.Event{ID: ^uint64(0), Kind: sites.SiteUp, Resolves: 1}, nil, noon)
		if _, err := b.Encode(); err != nil {
			if _, ok := err.(*json.MarshalerError); !ok {
				t.Fatal(err)
			}
		}
	})
}
