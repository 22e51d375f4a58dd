package dnsserver

import "time"

// TookEvery is one in how many messages of a worker has the time measured that its
// answer takes: reading the clock twice for each would be a good part of that.
const TookEvery = 64

// tookBounds are the upper ends of the steps that times are counted by, inclusive.
var tookBounds = [...]time.Duration{
	time.Microsecond, 2500 * time.Nanosecond, 5 * time.Microsecond, 10 * time.Microsecond, 25 * time.Microsecond,
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond,
}

// Took is how long it took from when a message was read until its answer was made.
// The sending of it is not in it.
type Took struct {
	// Count and Sum are those of all measured; Within counts those that took at most
	// so long, by the length.
	Count  uint64
	Sum    time.Duration
	Within map[time.Duration]uint64
}

// begin gives the time where the message is one that is measured; zero else.
func (w *worker) begin() (t time.Time) {
	if w.turn%TookEvery == 0 {
		t = time.Now()
	}
	return t
}

// end counts what a message took that began at a time of begin.
func (w *worker) end(begun time.Time) {
	if begun.IsZero() {
		return
	}
	d := time.Since(begun)
	i := 0
	for i < len(tookBounds) && d > tookBounds[i] {
		i++
	}
	w.count.took[i].Add(1)
	w.count.tookSum.Add(uint64(d)) //nolint:gosec // the clock is monotonic
}

// add puts in what one worker has counted.
func (t *Took) add(c *counters) {
	if t.Within == nil {
		t.Within = make(map[time.Duration]uint64, len(tookBounds))
	}
	sum := uint64(0)
	for i := range c.took {
		sum += c.took[i].Load()
		if i < len(tookBounds) {
			t.Within[tookBounds[i]] += sum
		}
	}
	t.Count += sum
	t.Sum += time.Duration(c.tookSum.Load()) //nolint:gosec // centuries
}
