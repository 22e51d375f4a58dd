package realnet

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// soak is a long time in a world in which faults come by chance, from a seed.
type soak struct {
	*usual
	rand  *rand.Rand
	end   time.Time
	calm  time.Time // from then on the controller is not killed
	began uint64
	// played counts the faults by their names.
	played map[string]int
	// silent are the times in which a site's resolver was silent, or its line cut, so
	// that no node of it may leave.
	silent  []dark
	samples []sample
}

type dark struct {
	Span
	site string
}

// sample is what the controller says of itself in a quiet moment.
type sample struct{ goroutines, descriptors, heap float64 }

// If this fails, a controller that has run for a while among faults grows, answers
// nothing at times, moves what it may not, or tells people nothing or all of it twice.
// It plays for DNSTEER_SOAK (such as 30m), with the faults of DNSTEER_SEED.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("DNSTEER_SOAK"))
	if err != nil {
		t.Skip("DNSTEER_SOAK says for how long: make soak")
	}
	seed, err := strconv.ParseUint(os.Getenv("DNSTEER_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("DNSTEER_SEED=%d DNSTEER_SOAK=%s plays these faults again", seed, length)
	start := time.Now()
	s := &soak{
		usual: newUsual(t, page), rand: rand.New(rand.NewPCG(seed, 0)),
		end: start.Add(length), calm: start.Add(length / 10), played: map[string]int{},
	}
	s.began = s.Last()
	// 200 questions a second, those of the two watches beside them.
	load := []*Watch{s.Site("berlin").Watch(host, dns.TypeA, 10*time.Millisecond), s.Site("hamburg").Watch(host, dns.TypeA, 10*time.Millisecond)}
	for time.Now().Before(s.end) && !t.Failed() {
		s.round()
	}
	s.everythingTold()
	s.flat()
	s.always()
	watches := append(load, s.berlin, s.hamburg)
	for _, x := range watches {
		s.answered(x)
	}
	s.table(watches)
}

// answered holds that only those questions had no answer that were asked while the
// controller was killed or stood still, or waited for one then.
func (s *soak) answered(x *Watch) {
	s.t.Helper()
	for _, u := range x.Unanswered() {
		if !slices.ContainsFunc(s.away, u.meets) {
			s.t.Errorf("%s had no answer from %s to %s, and the controller ran", x.question, u.From.UTC().Format(clock), u.To.UTC().Format(clock))
		}
	}
}

// round plays some faults, ends them, and holds what must be then.
func (s *soak) round() {
	s.t.Helper()
	after := s.Last()
	var ends []func()
	for _, f := range s.choose() {
		ends = append(ends, f())
		s.pause(3 * time.Second)
	}
	s.pause(12 * time.Second)
	s.rand.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
	for _, end := range ends {
		end()
		s.pause(2 * time.Second)
	}
	s.note("quiet")
	s.Acquainted()
	s.berlin.Await("10.1.0.11", "10.1.0.12")
	s.hamburg.Await("10.2.0.11", "10.2.0.12")
	s.pushed("10.2.0.11", "10.2.0.12")
	for _, e := range filter(s.Events(after), sites.FailoverOutage) {
		for _, x := range s.silent {
			// A round that was under way when the silence began may have its last answer.
			if x.site == e.Site && e.Time.After(x.From.Add(2*timeout)) && e.Time.Before(x.To) {
				s.t.Errorf("while the resolver was silent: %s", Told([]sites.Event{e})[0])
			}
		}
	}
	s.silent = nil
	s.always()
	if m := s.Metrics(); time.Now().After(s.calm) {
		s.samples = append(s.samples, sample{m["go_goroutines"], m["process_open_fds"], m["go_memstats_heap_inuse_bytes"]})
	}
}

// pause waits for up to most, by chance.
func (s *soak) pause(most time.Duration) {
	timer := time.NewTimer(time.Duration(s.rand.Int64N(int64(most))))
	<-timer.C
}

// choose gives up to three faults that can be at the same time.
func (s *soak) choose() (some []func() func()) {
	all := s.all()
	s.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	about, count := map[string]bool{}, 1+s.rand.IntN(3)
	for _, f := range all {
		if len(some) == count {
			break
		}
		if about[f.about] {
			continue
		}
		about[f.about] = true
		some = append(some, func() func() {
			s.played[f.name]++
			return f.begin()
		})
	}
	return some
}

// fault is one that may be chosen; of those about the same thing, one at a time.
type fault struct {
	name, about string
	begin       func() func()
}

// all gives every fault that can be now.
func (s *soak) all() (list []fault) {
	for _, n := range s.Nodes() {
		for _, f := range NodeFaults() {
			list = append(list, fault{"node: " + f.Name, n.Name, func() func() { return f.Begin(n) }})
		}
		list = append(list, fault{"node: slow", n.Name, n.Slow})
	}
	for _, site := range []*Site{s.Site("berlin"), s.Site("hamburg")} {
		list = append(list,
			fault{"site: cut off", "line of " + site.Name, func() func() { return s.blind(site.Cut, site.Name) }},
			fault{"site: one packet of ten is lost", "line of " + site.Name, func() func() { return site.Lossy(10) }},
			fault{"site: resolver silent", "resolver of " + site.Name, func() func() { return s.blind(site.Silence, site.Name) }})
	}
	list = append(list,
		fault{"target: a black hole", "target", s.Site("hamburg").HoldTarget},
		fault{"controller: cut off", "controller", func() func() { return s.blind(s.CutOff, "berlin", "hamburg") }},
		fault{"controller: stands still", "controller", s.Freeze})
	if time.Now().Before(s.calm) {
		list = append(list, fault{"controller: killed", "controller", func() func() { s.Kill(); return s.Start }})
	}
	return list
}

// blind plays a fault during which no node of some sites may leave.
func (s *soak) blind(begin func() func(), names ...string) func() {
	end, from := begin(), time.Now()
	return func() {
		to := time.Now()
		end()
		for _, name := range names {
			s.silent = append(s.silent, dark{Span{from, to}, name})
		}
	}
}

// everythingTold waits until people were told of each loss of a site and of the line.
func (s *soak) everythingTold() {
	s.t.Helper()
	events := s.Events(s.began)
	for i := range events {
		if k := events[i].Kind; k == sites.ControllerIsolated || k == sites.SiteDown {
			s.told(&events[i])
		}
	}
}

// flat holds that the controller is no larger in the last third than in the first.
func (s *soak) flat() {
	s.t.Helper()
	if len(s.samples) < 9 {
		s.note("too short to say whether it grows: %d samples", len(s.samples))
		return
	}
	first, last := s.thirds()
	if last.goroutines > first.goroutines+5 || last.descriptors > first.descriptors+5 || last.heap > 1.5*first.heap+16e6 {
		s.t.Errorf("it grows: from %+v to %+v", first, last)
	}
}

// thirds gives the medians of the first and of the last third of the samples.
func (s *soak) thirds() (first, last sample) {
	n := max(1, len(s.samples)/3)
	return median(s.samples[:n]), median(s.samples[len(s.samples)-n:])
}

func median(list []sample) sample {
	of := func(get func(sample) float64) float64 {
		var xs []float64
		for _, x := range list {
			xs = append(xs, get(x))
		}
		slices.Sort(xs)
		return xs[len(xs)/2]
	}
	return sample{
		of(func(x sample) float64 { return x.goroutines }),
		of(func(x sample) float64 { return x.descriptors }),
		of(func(x sample) float64 { return x.heap }),
	}
}

// table prints what happened.
func (s *soak) table(watches []*Watch) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(s.played)) {
		fmt.Fprintf(w, "%s\t%d times\n", name, s.played[name])
	}
	kinds := map[string]int{}
	for _, e := range s.Events(s.began) {
		kinds[string(e.Kind)]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(w, "event %s\t%d\n", kind, kinds[kind])
	}
	questions, unanswered := 0, 0
	for _, x := range watches {
		a, n := x.Counts()
		questions, unanswered = questions+a, unanswered+n
	}
	fmt.Fprintf(w, "messages to people\t%d\n", len(s.Messages()))
	var away time.Duration
	for _, x := range s.away {
		away += x.To.Sub(x.From)
	}
	fmt.Fprintf(w, "questions\t%d, of which %d without an answer\n", questions, unanswered)
	fmt.Fprintf(w, "killed, or stood still\t%d times, %.1f s\n", len(s.away), away.Seconds())
	if len(s.samples) > 0 {
		first, last := s.thirds()
		fmt.Fprintf(w, "goroutines\t%.0f in the first third, %.0f in the last\n", first.goroutines, last.goroutines)
		fmt.Fprintf(w, "descriptors\t%.0f, %.0f\n", first.descriptors, last.descriptors)
		fmt.Fprintf(w, "heap\t%.1f MB, %.1f MB\n", first.heap/1e6, last.heap/1e6)
	}
	_ = w.Flush() // to a text
	s.t.Logf("what happened:\n%s", text.String())
}
