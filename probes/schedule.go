package probes

import (
	"math/bits"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Task is something that is to be probed again and again.
type Task struct {
	Subject sites.Subject
	// Interval is the longest time between two starts; under 1 ms counts as
	// 1 ms.
	Interval time.Duration
	// Timeout is the time that one run has.
	Timeout time.Duration
}

// Run is one probing of a subject. Start is when it was handed out, Deadline
// when it must have ended, both by the clock of the caller.
type Run struct {
	Subject         sites.Subject
	Start, Deadline time.Duration
	// Scheduled is false for a run that was asked for by [Schedule.Ask].
	Scheduled bool

	id   uint64 // grows with every run
	slot int32
}

// Schedule says when to probe what. It has no clock and starts nothing: its
// owner asks [Schedule.Next] when something is due, hands over the time and
// carries out what comes back. The same seed and calls give the same runs.
//
// The subjects of one interval are spread evenly over it, in ticks of 10 ms
// where there is room for them. From one start to
// the next it is never more than the interval and, by a jitter that keeps
// several controllers apart, up to a sixteenth less; on average a
// thirty-second less, which adds nothing up over the days. (The jitter is
// smaller where the timeout comes near the interval, so that a run that takes
// its whole time still ends before the next.) A subject has one scheduled run
// under way at a time: where that still has time left when the next is due,
// the next is left out, not kept for later. A Schedule is not safe for
// concurrent use.
type Schedule struct {
	slots   []slot
	free    []int32
	index   map[sites.Subject]int32
	queue   queue
	lastID  uint64
	base    uint64                   // where the first phase lies, as a fraction of 2^64
	phases  map[time.Duration]uint64 // how many phases each interval has given out
	round   uint64                   // of Set, to find what has left
	handout []Run
}

// slot is what the schedule knows of one subject.
type slot struct {
	task    Task
	period  time.Duration // between two nominal starts
	jitter  time.Duration // at most this much after the nominal start
	nominal time.Duration
	rng     uint64
	// born is the last ID given out before the subject came, or before a
	// restart: runs up to it are forgotten.
	born uint64
	// busyUntil is the deadline of the scheduled run under way, busy its ID; 0
	// when none is.
	busy      uint64
	busyUntil time.Duration
	round     uint64
}

// NewSchedule makes an empty schedule. Controllers with different seeds probe
// at different moments.
func NewSchedule(seed uint64) *Schedule {
	return &Schedule{
		index:  make(map[sites.Subject]int32),
		phases: make(map[time.Duration]uint64),
		base:   mix(seed),
	}
}

// Set gives the schedule its tasks, in place of those that it had. What stays
// keeps its phase and its run under way; what is new, or has another interval,
// starts within one interval of now. A subject given twice has the later task.
func (s *Schedule) Set(tasks []Task, now time.Duration) {
	s.round++
	for _, t := range tasks {
		t.Interval = max(t.Interval, time.Millisecond)
		i, known := s.index[t.Subject]
		if !known {
			i = s.take()
			s.index[t.Subject] = i
		}
		sl := &s.slots[i]
		rephase := !known || sl.task.Interval != t.Interval
		sl.task, sl.round = t, s.round
		sl.jitter = min(t.Interval/32, max(0, (t.Interval-t.Timeout)/2))
		sl.period = t.Interval - sl.jitter
		if rephase {
			s.phase(i, now)
		}
	}
	for i := range s.slots {
		if sl := &s.slots[i]; sl.round != s.round && sl.round != 0 {
			delete(s.index, sl.task.Subject)
			*sl = slot{}
			s.free = append(s.free, int32(i))
		}
	}
	s.queue.rebuild(s.slots)
}

// take gives a slot that is not in use.
func (s *Schedule) take() int32 {
	var i int32
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
	} else {
		i = int32(len(s.slots))
		s.slots = append(s.slots, slot{})
		s.queue.grow()
	}
	s.slots[i].born = s.lastID
	return i
}

// golden is 2^64 divided by the golden ratio. Multiples of it, taken as
// fractions of 2^64, spread evenly however many there are, so what comes by a
// reload falls between what was there.
const golden = 0x9E3779B97F4A7C15

// phase puts a subject's next nominal start somewhere within one period.
func (s *Schedule) phase(i int32, now time.Duration) {
	sl := &s.slots[i]
	n := s.phases[sl.task.Interval]
	s.phases[sl.task.Interval] = n + 1
	fraction := s.base + n*golden
	sl.rng = mix(fraction ^ uint64(sl.task.Interval))
	at, _ := bits.Mul64(fraction, uint64(sl.period))
	sl.nominal = now + time.Duration(at)
	s.queue.at[i] = sl.start()
}

// Next gives the time at which the next run is due; ok is false where there is
// none.
func (s *Schedule) Next() (at time.Duration, ok bool) { return s.queue.next() }

// Due gives the runs that are due, in the order in which they were, and counts
// them as under way. The slice is valid until the next call.
func (s *Schedule) Due(now time.Duration) []Run {
	s.handout = s.handout[:0]
	for {
		at, ok := s.queue.next()
		if !ok || at > now {
			return s.handout
		}
		i := s.queue.first()
		sl := &s.slots[i]
		if sl.busy == 0 || sl.busyUntil <= now {
			r := s.run(i, now)
			r.Scheduled = true
			sl.busy, sl.busyUntil = r.id, r.Deadline
			s.handout = append(s.handout, r)
		}
		sl.advance(now)
		s.queue.setFirst(sl.start())
	}
}

// advance moves the nominal start on to the first after now, over those that
// were missed while the owner was held up.
func (sl *slot) advance(now time.Duration) {
	sl.nominal += sl.period
	if behind := now - sl.nominal; behind >= 0 {
		sl.nominal += (behind/sl.period + 1) * sl.period
	}
}

// tick is what starts are rounded up to where the jitter leaves room for it.
// Thousands of nodes are then probed in a hundred small groups a second: waking
// up costs several times what a probe does.
const tick = 10 * time.Millisecond

// start gives the moment of the next start, at the nominal one or at most the
// jitter after it.
func (sl *slot) start() time.Duration {
	room, rounded := sl.jitter, sl.jitter >= 2*tick
	if rounded {
		room -= tick
	}
	sl.rng += golden
	j, _ := bits.Mul64(mix(sl.rng), uint64(room)+1)
	at := sl.nominal + time.Duration(j)
	if rounded {
		at += tick - 1
		at -= at % tick
	}
	return at
}

// Ask gives a run of a subject to start at once, beside a scheduled one that
// may be under way (N2); ok is false for a subject that is not probed. It
// moves nothing in the schedule.
func (s *Schedule) Ask(subject sites.Subject, now time.Duration) (r Run, ok bool) {
	i, ok := s.index[subject]
	if !ok {
		return Run{}, false
	}
	return s.run(i, now), true
}

func (s *Schedule) run(i int32, now time.Duration) Run {
	s.lastID++
	t := &s.slots[i].task
	return Run{Subject: t.Subject, Start: now, Deadline: now + t.Timeout, id: s.lastID, slot: i}
}

// Done says that a run has ended, so that the subject's next may start. It is
// false for a run that no longer counts, because its subject has left since or
// because of [Schedule.Restart]; what came of it is to be dropped.
func (s *Schedule) Done(r Run) bool {
	if int(r.slot) >= len(s.slots) {
		return false
	}
	sl := &s.slots[r.slot]
	if r.id == 0 || r.id <= sl.born || sl.round == 0 {
		return false
	}
	if sl.busy == r.id {
		sl.busy = 0
	}
	return true
}

// Restart is for the end of a time in which the controller was blind (O5): the
// runs under way no longer count, and every subject starts anew within one
// interval of now.
func (s *Schedule) Restart(now time.Duration) {
	for i := range s.slots {
		sl := &s.slots[i]
		if sl.round == 0 {
			continue
		}
		sl.born, sl.busy = s.lastID, 0
		s.phase(int32(i), now)
	}
	s.queue.rebuild(s.slots)
}

// mix scatters the bits of x (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
