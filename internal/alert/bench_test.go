package alert

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkTurn is what a look at what is due costs while many things are wrong, and
// nothing happens.
func BenchmarkTurn(b *testing.B) {
	for _, open := range []int{0, 10, 1000, 10000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			w := newWorld()
			for i := range open {
				w.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0)
			}
			w.set(time.Minute)
			e := New(config(map[string]*peer{"well": {}}), w.world(), nil, 0)
			e.fresh = true
			e.reconfigure(b.Context())
			for _, ev := range w.events {
				e.book.Take(ev, nil, e.look())
			}
			e.turn(b.Context())
			b.ReportAllocs()
			for b.Loop() {
				e.turn(b.Context())
			}
			b.StopTimer()
			for _, stop := range e.stops {
				stop()
			}
			e.running.Wait()
		})
	}
}
