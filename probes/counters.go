package probes

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// counters are the readings of counters of which rates are made. They are safe for
// concurrent use.
type counters struct {
	now func() time.Duration

	mu      sync.Mutex
	windows map[counter]*window
}

// counter is one counter of one address.
type counter struct {
	what string // it counts
	addr netip.Addr
}

func newCounters(now func() time.Duration) *counters {
	return &counters{now: now, windows: make(map[counter]*window)}
}

// forgotten is after how long without a reading a counter is: it has left the
// configuration.
const forgotten = time.Hour

// add enters a reading and gives the rate over a span, as [window.add] does.
func (c *counters) add(of counter, count float64, span time.Duration) *float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	w := c.windows[of]
	if w == nil {
		maps.DeleteFunc(c.windows, func(_ counter, w *window) bool { return now-w.last().at > forgotten })
		w = &window{}
		c.windows[of] = w
	}
	return w.add(count, now, span)
}

// rateSpan is twice the time in which HAProxy counts what a session that lasts
// has carried.
const rateSpan = 10 * time.Second

// window has the readings of a counter within a span, and the last before it.
type window struct {
	readings []reading
}

type reading struct {
	count float64
	at    time.Duration
}

// add enters a reading, and gives the bytes per second since the one that is at
// least a span old; nil until there is one, and where the counter has begun anew.
func (w *window) add(count float64, at, span time.Duration) *float64 {
	n := len(w.readings)
	switch {
	case n > 0 && count < w.readings[n-1].count:
		w.readings = append(w.readings[:0], reading{count, at})
		return nil
	case n == 0 || at-w.readings[n-1].at >= leastGap:
		w.readings = append(w.readings, reading{count, at})
	}
	for len(w.readings) > 1 && at-w.readings[1].at >= span {
		w.readings = slices.Delete(w.readings, 0, 1)
	}
	first := w.readings[0]
	if at-first.at < span {
		return nil
	}
	x := (count - first.count) / (at - first.at).Seconds()
	return &x
}

// last is the newest reading; there is one from the first on.
func (w *window) last() reading { return w.readings[len(w.readings)-1] }
