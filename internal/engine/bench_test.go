package engine_test

import (
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// A day of ten sites, as `dnsteer rehearse` plays it, with an outage in each
// hour: a rehearsal must not make people wait.
func BenchmarkDayOfTenSites(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		w := newWorld(usual(10, 2, 1), 1, nil)
		w.start(sites.Saved{})
		for hour := range 24 {
			w.until(w.now + 30*time.Minute)
			name := w.cfg.Sites[hour%10].Name + "/n0"
			w.down[name] = true
			w.until(w.now + 2*time.Minute)
			w.down[name] = false
			w.until(w.now + 28*time.Minute)
		}
		b.ReportMetric(float64(w.turns), "turns/op")
	}
}
