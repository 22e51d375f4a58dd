package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func subject4() sites.Subject {
	return sites.Subject{Site: "berlin", Node: "a", Addr: netip.MustParseAddr("10.1.0.11")}
}

func tracking(probes ...string) *History {
	h := New()
	h.Track([]Tracked{{subject4(), probes}})
	return h
}

func up(d time.Duration) sites.Check { return sites.Check{Outcome: sites.Up, Duration: d} }

func down(text string) sites.Check {
	return sites.Check{Outcome: sites.Down, Cause: "refused", Text: text, Duration: time.Second}
}

func (h *History) feed(at time.Time, checks ...sites.Check) {
	h.Add(&sites.Result{Subject: subject4(), Checks: checks}, at)
}

// all gives a node's probe over all of the time around the tests.
func (h *History) all(t *testing.T) Line {
	t.Helper()
	lines := h.Node("berlin", "a", noon.Add(-48*time.Hour), noon.Add(48*time.Hour))
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	return lines[0]
}

// short writes points as "12:00 2/1/0", for tests about which there are.
func short(points []Point) (list []string) {
	for _, p := range points {
		list = append(list, fmt.Sprintf("%s %d/%d/%d", p.Time.Format("02 15:04"), p.Up, p.Down, p.Unknown))
	}
	return list
}

// The course that people see would not be what the probes have found.
func TestPoints(t *testing.T) {
	h := tracking("tcp")
	h.feed(noon.Add(1*time.Second), up(2*time.Millisecond))
	h.feed(noon.Add(11*time.Second), up(4*time.Millisecond))
	h.feed(noon.Add(21*time.Second), up(9*time.Millisecond))
	h.feed(noon.Add(31*time.Second), down("connection refused"))
	h.feed(noon.Add(41*time.Second), sites.Check{Outcome: sites.Unknown, Cause: "local_busy", Text: "busy"})
	h.feed(noon.Add(2*time.Minute), down("connection refused"))
	got := h.Node("berlin", "a", noon, noon.Add(time.Hour))[0].Probes[0]
	about := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	for i := range got.Points {
		p := &got.Points[i]
		p.Least, p.Mean, p.Most = about(p.Least), about(p.Mean), about(p.Most)
	}
	got.Total.Least, got.Total.Mean, got.Total.Most = about(got.Total.Least), about(got.Total.Mean), about(got.Total.Most)
	first := Point{
		Time: noon, Up: 3, Down: 1, Unknown: 1,
		Least: 2 * time.Millisecond, Mean: 5 * time.Millisecond, Most: 9 * time.Millisecond, Cause: "local_busy",
	}
	total := first
	total.Down, total.Cause = 2, "refused"
	want := Probe{
		Name: "tcp", Step: 60, Total: total,
		Points: []Point{first, {Time: noon.Add(2 * time.Minute), Down: 1, Cause: "refused"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The hour would not be fine enough to see an outage in, or the day not be
// there at all.
func TestResolution(t *testing.T) {
	h := tracking("tcp")
	for at := noon.Add(-30 * time.Hour); !at.After(noon); at = at.Add(10 * time.Second) {
		h.feed(at, up(time.Millisecond))
	}
	tests := []struct {
		name         string
		from, to     time.Time
		step, points int
		up           int
	}{
		{"the last hour", noon.Add(-59 * time.Minute), noon, 60, 60, 59*6 + 1},
		{"ten minutes of it", noon.Add(-20 * time.Minute), noon.Add(-11 * time.Minute), 60, 10, 60},
		{"two hours", noon.Add(-2 * time.Hour), noon, 300, 25, 24*30 + 1},
		{"the day", noon.Add(-24*time.Hour + 5*time.Minute), noon, 300, 288, 287*30 + 1},
		{"more than there is", noon.Add(-48 * time.Hour), noon.Add(time.Hour), 300, 288, 287*30 + 1},
		{"before it", noon.Add(-48 * time.Hour), noon.Add(-40 * time.Hour), 300, 0, 0},
		{"after it", noon.Add(time.Hour), noon.Add(2 * time.Hour), 60, 0, 0},
		{"the wrong way round", noon, noon.Add(-time.Hour), 60, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := h.Node("berlin", "a", tt.from, tt.to)[0].Probes[0]
			if p.Step != tt.step || len(p.Points) != tt.points || p.Total.Up != tt.up {
				t.Errorf("%d points of %d s with %d successes, want %d of %d s with %d", len(p.Points), p.Step, p.Total.Up, tt.points, tt.step, tt.up)
			}
		})
	}
}

// A clock that jumps would show old results as new ones, or show nothing until
// it is caught up with.
func TestClockJumps(t *testing.T) {
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	tests := []struct {
		name string
		in   []time.Time
		want []string
	}{
		{"forward over nothing", []time.Time{at(0), at(30 * time.Minute)}, []string{"01 12:00 1/0/0", "01 12:30 1/0/0"}},
		{"forward over a day", []time.Time{at(0), at(5 * time.Minute), at(25 * time.Hour)}, []string{"02 13:00 1/0/0"}},
		{"forward by just a day", []time.Time{at(0), at(5 * time.Minute), at(24 * time.Hour)}, []string{"01 12:05 1/0/0", "02 12:00 1/0/0"}},
		{"back within a step", []time.Time{at(4 * time.Minute), at(time.Minute)}, []string{"01 12:00 2/0/0"}},
		{"back by one step", []time.Time{at(0), at(time.Minute), at(5 * time.Minute), at(4 * time.Minute)}, []string{"01 12:00 3/0/0"}},
		{"back, and on again", []time.Time{at(0), at(10 * time.Minute), at(time.Minute), at(10 * time.Minute)}, []string{"01 12:00 2/0/0", "01 12:10 1/0/0"}},
		{"back from years ahead", []time.Time{at(100000 * time.Hour), at(0)}, []string{"01 12:00 1/0/0"}},
		{"back before 1970", []time.Time{at(0), time.Unix(-1, 0), at(0)}, []string{"01 12:00 1/0/0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := tracking("tcp")
			for _, x := range tt.in {
				h.feed(x, up(time.Millisecond))
			}
			if diff := cmp.Diff(tt.want, short(h.all(t).Probes[0].Points)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// After a short step back of the clock the times of a bucket would be wrong.
func TestTimesSurviveReturn(t *testing.T) {
	h := tracking("tcp")
	h.feed(noon, up(10*time.Millisecond))
	h.feed(noon.Add(6*time.Minute), up(time.Second))
	h.feed(noon.Add(4*time.Minute), up(30*time.Millisecond))
	p := h.all(t).Probes[0].Points[0]
	for _, x := range []struct{ got, want time.Duration }{{p.Least, 10}, {p.Mean, 20}, {p.Most, 30}} {
		if x.got.Round(time.Millisecond) != x.want*time.Millisecond {
			t.Errorf("%+v", p)
		}
	}
}

// A failure would be lost, or one that goes on for hours push all others out.
func TestFailures(t *testing.T) {
	second := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	h := tracking("tcp", "http")
	ok := up(time.Millisecond)
	for i := range 100 { // of both probes at once
		h.feed(second(i), down("connection refused"), down("status 500"))
	}
	h.feed(second(200), down("connection reset"), ok)
	h.feed(second(201), down("connection refused"), ok)
	h.feed(noon.Add(time.Hour), down("connection refused"), ok)
	h.feed(noon.Add(2*time.Hour), sites.Check{Outcome: sites.Unknown, Cause: "local_busy", Text: strings.Repeat("ü", 500)}, ok)
	want := []Failure{
		{"tcp", "unknown", "local_busy", strings.Repeat("ü", 128) + "…", noon.Add(2 * time.Hour), noon.Add(2 * time.Hour), 1},
		{"tcp", "down", "refused", "connection refused", noon.Add(time.Hour), noon.Add(time.Hour), 1},
		{"tcp", "down", "refused", "connection refused", second(201), second(201), 1},
		{"tcp", "down", "refused", "connection reset", second(200), second(200), 1},
		{"http", "down", "refused", "status 500", second(0), second(99), 100},
		{"tcp", "down", "refused", "connection refused", second(0), second(99), 100},
	}
	if diff := cmp.Diff(want, h.all(t).Failures); diff != "" {
		t.Error(diff)
	}
	if got := h.Node("berlin", "a", second(150), second(200))[0].Failures; len(got) != 1 || got[0].Text != "connection reset" {
		t.Errorf("in between: %+v", got)
	}
	for i := range 1000 {
		h.feed(second(10000+i), down(fmt.Sprint("fault ", i)), ok)
	}
	got := h.all(t).Failures
	if len(got) != maxFailures || got[0].Text != "fault 999" || cap(h.subjects[subject4()].failures) > 2*maxFailures {
		t.Errorf("%d failures are kept, the newest %q", len(got), got[0].Text)
	}
}

// A reload would forget the day, or show a probe's history as another's.
func TestTrack(t *testing.T) {
	h := tracking("tcp", "http")
	ms := up(time.Millisecond)
	h.feed(noon, ms, down("status 500"))
	h.feed(noon, ms) // with the checks of another configuration
	h.Add(&sites.Result{Subject: sites.Subject{Site: "berlin", Node: "x"}, Checks: []sites.Check{ms}}, noon)
	moved := subject4()
	moved.Addr = netip.MustParseAddr("10.1.0.99")
	six := subject4()
	six.Addr = netip.MustParseAddr("fd00::11")
	witness := sites.Subject{Site: "berlin", Witness: "resolver 10.1.0.1", Addr: netip.MustParseAddr("10.1.0.1")}
	h.Track([]Tracked{{six, []string{"tcp"}}, {subject4(), []string{"icmp", "tcp"}}, {witness, []string{"resolver"}}})
	h.feed(noon.Add(time.Minute), ms, ms)
	h.Add(&sites.Result{Subject: six, Checks: []sites.Check{ms}}, noon)
	h.Add(&sites.Result{Subject: witness, Checks: []sites.Check{ms}}, noon)
	var got []string
	describe := func(lines []Line) {
		for _, l := range lines {
			for _, p := range l.Probes {
				got = append(got, fmt.Sprintf("%s%s %s %s %d", l.Node, l.Witness, l.Address, p.Name, p.Total.Up))
			}
			got = append(got, fmt.Sprint(len(l.Failures)))
		}
	}
	to := noon.Add(time.Hour)
	describe(h.Node("berlin", "a", noon, to))
	describe(h.Witnesses("berlin", noon, to))
	want := []string{
		"a 10.1.0.11 icmp 1", "a 10.1.0.11 tcp 2", "0", "a fd00::11 tcp 1", "0",
		"resolver 10.1.0.1 10.1.0.1 resolver 1", "0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	h.Track([]Tracked{{moved, []string{"tcp"}}})
	if l := h.Node("berlin", "a", noon, to); len(l) != 1 || l[0].Address != moved.Addr || l[0].Probes[0].Total.Up != 0 {
		t.Errorf("a new address has %+v", l)
	}
	for _, l := range [][]Line{h.Node("berlin", "x", noon, to), h.Node("berlin", "", noon, to), h.Witnesses("x", noon, to), New().Node("a", "b", noon, to)} {
		if len(l) != 0 {
			t.Errorf("of nobody: %+v", l)
		}
	}
}

// The dashboard reads these names.
func TestJSON(t *testing.T) {
	h := tracking("tcp")
	h.feed(noon, down("connection refused"))
	b, err := json.Marshal(h.Node("berlin", "a", noon, noon))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"site":"berlin","node":"a","address":"10.1.0.11","probes":[{"name":"tcp","step_s":60,` +
		`"points":[{"time":"2026-03-01T12:00:00Z","up":0,"down":1,"unknown":0,"least_ns":0,"mean_ns":0,"most_ns":0,"cause":"refused"}],` +
		`"total":{"time":"2026-03-01T12:00:00Z","up":0,"down":1,"unknown":0,"least_ns":0,"mean_ns":0,"most_ns":0,"cause":"refused"}}],` +
		`"failures":[{"probe":"tcp","outcome":"down","cause":"refused","text":"connection refused","first":"2026-03-01T12:00:00Z","last":"2026-03-01T12:00:00Z","count":1}]}]`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
}

// A probe whose causes have no end, or that is asked without an end, would
// break the counts.
func TestBounds(t *testing.T) {
	h := tracking("tcp")
	for i := range 300 {
		h.feed(noon, sites.Check{Outcome: sites.Down, Cause: fmt.Sprint("cause", i)})
	}
	if got := h.all(t).Probes[0].Points[0].Cause; got != "other" {
		t.Errorf("cause %q", got)
	}
	h = tracking("tcp")
	for range 70000 {
		h.feed(noon, up(3*time.Second))
	}
	p := h.all(t).Probes[0].Points[0]
	if p.Up != 65535 {
		t.Errorf("%d successes", p.Up)
	}
	for _, d := range []time.Duration{0, -time.Second, time.Nanosecond, time.Millisecond, time.Minute, 100 * time.Hour} {
		got, want := unpack(pack(d)), min(max(d.Round(time.Microsecond), 0), 4294*time.Second)
		if diff := got - want; diff.Abs() > want/1000+time.Microsecond {
			t.Errorf("%v became %v", d, got)
		}
	}
}

// However the clock goes, what is shown must be what was entered, each result
// once and at its time.
func TestAgainstAllResults(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := newSeries(longStep, 12)
		var entered []time.Time
		at := noon
		for range 100 {
			at = at.Add(time.Duration(rng.Int64N(int64(8*time.Minute))) - time.Minute)
			if rng.IntN(20) == 0 {
				at = at.Add(time.Duration(rng.Int64N(int64(4*time.Hour))) - 2*time.Hour)
			}
			n := s.number(at)
			kept := entered[:0]
			for _, e := range entered {
				if x := s.number(e); n-12 < x && x <= n {
					kept = append(kept, e)
				}
			}
			entered = append(kept, at)
			s.add(at, &sites.Check{Outcome: sites.Up, Duration: time.Millisecond}, 0)
		}
		want, got := map[int64]int{}, map[int64]int{}
		for _, e := range entered {
			want[s.number(e)]++
		}
		s.each(noon.Add(-1000*time.Hour), noon.Add(1000*time.Hour), func(start time.Time, b *bucket) { got[s.number(start)] = int(b.up) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}
