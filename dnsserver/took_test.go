package dnsserver

import (
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

// If this fails, the time that answers take is not told, or measured of every message,
// which would cost more than many an answer.
func TestTook(t *testing.T) {
	s := benchServer(t, 10)
	w := &worker{server: s, count: s.udpCounts[0]}
	dst, msg := make([]byte, maxUDP), ask("app7.example.lan.", dns.TypeA)
	for range 3 * TookEvery {
		w.respond(dst, msg, netip.MustParseAddr("10.1.0.1"), false)
	}
	took := s.Stats().UDP.Took
	if took.Count != 3 || took.Sum <= 0 {
		t.Errorf("of %d messages %d were measured, together %s", 3*TookEvery, took.Count, took.Sum)
	}
	last := uint64(0)
	for _, d := range tookBounds {
		if n := took.Within[d]; n < last || n > took.Count {
			t.Errorf("within %s: %d", d, n)
		} else {
			last = n
		}
	}
}
