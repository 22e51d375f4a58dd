package rfc2136

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/providers"
)

// BenchmarkPush moves one name at real servers by a whole round (list, update, list)
// and asks by DNS until the new address is there. Beside the mean of both it gives
// the median and the 99th percentile of each.
func BenchmarkPush(b *testing.B) {
	for _, s := range []server{{name: "BIND", start: startBIND}, {name: "Knot", start: startKnot}} {
		b.Run(s.name, func(b *testing.B) {
			cfg := s.begin(b)
			p := New(cfg)
			defer func() { _ = p.Close() }() // it ends with the benchmark
			const name = "moved." + testZone
			addrs := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}
			var owned []providers.Record
			var pushed, seen []time.Duration
			i := 0
			for b.Loop() {
				i++
				want := addrs[i%2]
				start := time.Now()
				round := providers.Round{Provider: p, Deadline: 10 * time.Second, ListWithin: 10 * time.Second, Input: providers.Input{
					Desired: []providers.Record{{Name: name, Addr: want, TTL: time.Minute}}, Owned: owned, Traits: Traits,
				}, Keep: func(_ context.Context, list []providers.Record) error { owned = list; return nil }}
				out, err := round.Sync(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if out.Writes == 0 {
					b.Fatalf("nothing was written: %+v", out.First)
				}
				pushed = append(pushed, time.Since(start))
				for !gives(b, cfg.Server, name, want) {
				}
				seen = append(seen, time.Since(start))
			}
			for what, list := range map[string][]time.Duration{"push": pushed, "visible": seen} {
				slices.Sort(list)
				b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, what+"-median-ms")
				b.ReportMetric(float64(list[len(list)*99/100].Microseconds())/1000, what+"-p99-ms")
			}
		})
	}
}

// gives says whether a server answers a name with an address.
func gives(b *testing.B, server, name string, want netip.Addr) bool {
	b.Helper()
	c := dns.Client{Timeout: 2 * time.Second}
	in, _, err := c.Exchange(new(dns.Msg).SetQuestion(name+".", dns.TypeA), server)
	if err != nil {
		b.Fatal(err)
	}
	return slices.ContainsFunc(in.Answer, func(rr dns.RR) bool {
		a, ok := rr.(*dns.A)
		return ok && a.A.Equal(net.IP(want.AsSlice()))
	})
}
