package probes

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/sites"
)

func subject(i int) sites.Subject {
	return sites.Subject{
		Site: fmt.Sprintf("site%d", i/3), Node: fmt.Sprintf("n%d", i%3),
		Addr: netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}),
	}
}

func tasks(n int, interval, timeout time.Duration) []Task {
	ts := make([]Task, n)
	for i := range ts {
		ts[i] = Task{Subject: subject(i), Interval: interval, Timeout: timeout}
	}
	return ts
}

// play lets the schedule run until end in virtual time, ending every run after
// took, and gives the runs.
func play(s *Schedule, from, end time.Duration, took func(Run) time.Duration) []Run {
	type ending struct {
		at  time.Duration
		run Run
	}
	var all []Run
	var under []ending
	for {
		at, ok := s.Next()
		if !ok || at > end {
			return all
		}
		slices.SortStableFunc(under, func(a, b ending) int { return int(a.at - b.at) })
		for len(under) > 0 && under[0].at <= at {
			s.Done(under[0].run)
			under = under[1:]
		}
		for _, r := range s.Due(max(at, from)) {
			all = append(all, r)
			under = append(under, ending{r.Start + took(r), r})
		}
	}
}

// A node that dies would be noticed later than an interval after its death,
// or be asked twice as often as its owner allowed.
func TestScheduleKeepsTheInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Minute)).Draw(t, "interval"))
		timeout := time.Duration(rapid.Int64Range(1, int64(interval)).Draw(t, "timeout"))
		n := rapid.IntRange(1, 20).Draw(t, "subjects")
		s := NewSchedule(rapid.Uint64().Draw(t, "seed"))
		start := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "start"))
		s.Set(tasks(n, interval, timeout), start)

		last := map[sites.Subject]time.Duration{}
		count := map[sites.Subject]int{}
		for _, r := range play(s, start, start+50*interval, func(r Run) time.Duration { return timeout }) {
			if before, ok := last[r.Subject]; !ok {
				if r.Start-start > interval {
					t.Fatalf("first start of %v after %v, interval %v", r.Subject, r.Start-start, interval)
				}
			} else if gap := r.Start - before; gap > interval || gap < interval-interval/16-1 || gap < timeout {
				t.Fatalf("gap %v with interval %v, timeout %v", gap, interval, timeout)
			}
			last[r.Subject] = r.Start
			count[r.Subject]++
		}
		for sub, c := range count {
			if c < 49 || c > 53 {
				t.Fatalf("%v was asked %d times in 50 intervals", sub, c)
			}
		}
		if len(count) != n {
			t.Fatalf("%d of %d subjects were asked", len(count), n)
		}
	})
}

// Two scheduled probes of one node at a time would double the load on a node
// that is already slow, and their results would overtake one another.
func TestScheduleOneUnderWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := time.Duration(rapid.IntRange(1, 1000).Draw(t, "interval")) * time.Millisecond
		timeout := time.Duration(rapid.IntRange(1, 5000).Draw(t, "timeout")) * time.Millisecond
		s := NewSchedule(rapid.Uint64().Draw(t, "seed"))
		s.Set(tasks(3, interval, timeout), 0)
		under := map[sites.Subject]Run{}
		var open []Run
		now := time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 400).Draw(t, "wait")) * time.Millisecond
			for _, r := range s.Due(now) {
				if before, ok := under[r.Subject]; ok && now < before.Deadline {
					t.Fatalf("%v started at %v beside a run from %v to %v", r.Subject, now, before.Start, before.Deadline)
				}
				under[r.Subject] = r
				open = append(open, r)
			}
			if at, ok := s.Next(); !ok || at <= now {
				t.Fatalf("next is %v (%v) at %v", at, ok, now)
			}
			if len(open) > 0 && rapid.Bool().Draw(t, "end one") {
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				if !s.Done(open[i]) {
					t.Fatal("a run of a subject that is there did not count")
				}
				if under[open[i].Subject].id == open[i].id {
					delete(under, open[i].Subject)
				}
				open = slices.Delete(open, i, i+1)
			}
		}
	})
}

// A burst of probes at one moment would be a load that comes and goes, and
// results would be late.
func TestScheduleSpreads(t *testing.T) {
	const interval = 10 * time.Second
	for _, n := range []int{10, 100, 1000, 10000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := NewSchedule(7)
			s.Set(tasks(n/2, interval, 2*time.Second), 0)
			s.Set(tasks(n, interval, 2*time.Second), 3*time.Second) // the second half by a reload
			const buckets = 10
			var got [buckets]int
			from := 20 * time.Second
			for _, r := range play(s, 0, from+interval-1, func(Run) time.Duration { return time.Second }) {
				if r.Start >= from {
					got[(r.Start-from)*buckets/interval]++
				}
			}
			for i, c := range got {
				if fair := n / buckets; c < fair/2 || c > 2*fair+1 {
					t.Errorf("tenth %d of an interval has %d of %d starts: %v", i, c, n, got)
				}
			}
		})
	}
}

// A rehearsal would not show twice the same, and a fault could not be played
// again.
func TestScheduleIsDeterministic(t *testing.T) {
	runs := func(seed uint64) []time.Duration {
		s := NewSchedule(seed)
		s.Set(tasks(30, 5*time.Second, 2*time.Second), 0)
		var starts []time.Duration
		for _, r := range play(s, 0, time.Minute, func(Run) time.Duration { return time.Millisecond }) {
			starts = append(starts, r.Start)
		}
		return starts
	}
	if diff := cmp.Diff(runs(1), runs(1)); diff != "" {
		t.Errorf("the same seed gave other runs:\n%s", diff)
	}
	if cmp.Equal(runs(1), runs(2)) {
		t.Error("two controllers with different seeds probe at the same moments")
	}
}

// A reload would shift all probes, or leave those of removed nodes running.
func TestScheduleSet(t *testing.T) {
	const interval, timeout = 5 * time.Second, 2 * time.Second
	plain, reloaded := NewSchedule(3), NewSchedule(3)
	quick := func(Run) time.Duration { return time.Millisecond }
	four := tasks(4, interval, timeout)
	plain.Set(four, 0)
	reloaded.Set(four, 0)
	play(plain, 0, 20*time.Second, quick)
	play(reloaded, 0, 20*time.Second, quick)

	five := append(slices.Clone(four[1:]), Task{Subject: subject(9), Interval: time.Second, Timeout: timeout})
	five[0].Interval = 7 * time.Second
	reloaded.Set(five, 20*time.Second)
	starts := func(s *Schedule) map[string][]time.Duration {
		m := map[string][]time.Duration{}
		for _, r := range play(s, 20*time.Second, 40*time.Second, quick) {
			m[r.Subject.Node+"@"+r.Subject.Site] = append(m[r.Subject.Node+"@"+r.Subject.Site], r.Start)
		}
		return m
	}
	before, after := starts(plain), starts(reloaded)
	if got := after["n0@site0"]; got != nil {
		t.Errorf("a removed subject is asked: %v", got)
	}
	for _, kept := range []string{"n2@site0", "n0@site1"} {
		if diff := cmp.Diff(before[kept], after[kept]); diff != "" {
			t.Errorf("%s lost its phase:\n%s", kept, diff)
		}
	}
	if got := after["n1@site0"]; len(got) < 2 || len(got) > 4 || got[0] > 27*time.Second {
		t.Errorf("with an interval of 7 s: %v", got)
	}
	if got := after["n0@site3"]; len(got) == 0 || got[0] > 21*time.Second {
		t.Errorf("a new subject starts late: %v", got)
	}
}

// After a sleep, results from before it would be taken for fresh ones; after a
// reload, those of what has left would count for what took its place.
func TestScheduleForgets(t *testing.T) {
	s := NewSchedule(1)
	s.Set(tasks(1, time.Second, time.Second), 0)
	at, _ := s.Next()
	old := s.Due(at)[0]
	s.Restart(at + time.Hour)
	if next, _ := s.Next(); next < at+time.Hour || next > at+time.Hour+time.Second {
		t.Errorf("next is %v after a restart at %v", next, at+time.Hour)
	}
	if s.Done(old) {
		t.Error("a run from before the sleep counts")
	}
	asked, ok := s.Ask(subject(0), at+time.Hour)
	if !ok || asked.Scheduled || asked.Deadline != at+time.Hour+time.Second {
		t.Errorf("asked: %+v, %v", asked, ok)
	}
	s.Set(nil, at+time.Hour)
	if s.Done(asked) {
		t.Error("a run of a subject that has left counts")
	}
	if _, ok := s.Next(); ok {
		t.Error("something is due with nothing to probe")
	}
	if _, ok := s.Ask(subject(0), 0); ok {
		t.Error("a subject that has left can be asked")
	}
	s.Set(tasks(2, time.Second, time.Second), at+time.Hour)
	if s.Done(asked) || s.Done(old) || s.Done(Run{}) {
		t.Error("a run counts for the subject that took its slot")
	}
}

// A black hole whose timeout is longer than its interval would pile up probes.
func TestScheduleLeavesOut(t *testing.T) {
	s := NewSchedule(1)
	s.Set(tasks(1, time.Second, 2500*time.Millisecond), 0)
	all := play(s, 0, time.Minute, func(r Run) time.Duration { return 2500 * time.Millisecond })
	for i, r := range all[1:] {
		if gap := r.Start - all[i].Start; gap != 3*time.Second {
			t.Errorf("gap %v, want 3s: the starts in between are left out", gap)
		}
	}
}

// The virtual day of a rehearsal would take more than its second.
func BenchmarkSchedule(b *testing.B) {
	for _, n := range []int{30, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := NewSchedule(1)
			s.Set(tasks(n, 5*time.Second, 2*time.Second), 0)
			b.ReportAllocs()
			runs := 0
			for runs < b.N {
				at, _ := s.Next()
				for _, r := range s.Due(at) {
					s.Done(r)
					runs++
				}
			}
		})
	}
}
