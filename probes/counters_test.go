package probes

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Each reload would begin the rate of a proxy anew: nobody would know what a node
// carries, and a move that waits for it to be quiet would wait longer (A11).
func TestRatesOutlastAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		h := NewHeartbeats(func() time.Duration { return time.Since(start) })
		ctx := Listen(t.Context(), h)
		addr := netip.MustParseAddr("192.0.2.1")
		read := func(backend string, count float64) string {
			p := NewHAProxy(HTTP{URL: "http://{address}:8404/stats"}) // as a reload makes it
			p.Backends = []string{backend}
			f := sites.Figures{BytesPerSecond: p.rate(ctx, addr, count)}
			return f.String()
		}
		for i, s := range []struct {
			backend string
			count   float64
			want    string
		}{{"app", 0, ""}, {"app", 10_000, "1 kB/s"}, {"tv", 5000, ""}, {"app", 30_000, "1 kB/s"}} {
			if got := read(s.backend, s.count); got != s.want {
				t.Errorf("reading %d: %q, want %q", i, got, s.want)
			}
			time.Sleep(rateSpan)
		}
		for i := range 1000 {
			read(fmt.Sprint(i), 0)
			time.Sleep(time.Minute)
		}
		if n := len(h.counters.windows); n > 62 {
			t.Errorf("%d counters are kept", n)
		}
	})
}
