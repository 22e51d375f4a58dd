package alert

import (
	"fmt"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// crowd is an engine that has told of many things that are wrong, and an event of which
// nobody is told.
func crowd(b *testing.B, open int) (*Engine, sites.Event) {
	b.Helper()
	w := newWorld()
	for i := range open {
		w.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0)
	}
	w.happen("config_reloaded", 0)
	e := New(config(map[string]*peer{"well": {}}), w.world(), nil, 0)
	e.begin(b.Context())
	b.Cleanup(func() {
		for _, stop := range e.stops {
			stop()
		}
		e.running.Wait()
	})
	for _, ev := range w.events {
		e.book.Take(ev, nil, e.look())
	}
	if out, _ := e.book.Due(e.look().Add(time.Minute)); (len(out) == 1) != (open > 0) {
		b.Fatalf("%d messages", len(out))
	}
	e.turn(b.Context())
	return e, w.events[open]
}

// BenchmarkTurn is what a look at what is due costs while many things are wrong, and
// nothing happens.
func BenchmarkTurn(b *testing.B) {
	for _, open := range []int{0, 10, 1000, 10000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			e, _ := crowd(b, open)
			b.ReportAllocs()
			for b.Loop() {
				e.turn(b.Context())
			}
		})
	}
}

// BenchmarkEvent is what an event costs that is told to nobody, while many things are
// wrong.
func BenchmarkEvent(b *testing.B) {
	for _, open := range []int{0, 10, 1000, 10000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			e, ev := crowd(b, open)
			b.ReportAllocs()
			for b.Loop() {
				ev.ID++
				e.enter(b.Context(), ev, nil)
				e.turn(b.Context())
			}
		})
	}
}
