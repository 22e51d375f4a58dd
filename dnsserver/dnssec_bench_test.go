package dnsserver

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

// provedQuestions are those of the hot path, for proof.
var provedQuestions = []struct {
	name, ask string
	qtype     uint16
}{
	{"static", "mail.example.lan.", dns.TypeA},
	{"service", "app.example.lan.", dns.TypeA},
	{"weighted", "weighted.example.lan.", dns.TypeA},
	{"wildcard_service", "x.apps.example.lan.", dns.TypeA},
	{"nodata", "app.example.lan.", dns.TypeMX},
	{"nxdomain", "nothing.example.lan.", dns.TypeA},
	{"cname_to_service", "toservice.example.lan.", dns.TypeA},
	{"referral", "x.sub.example.lan.", dns.TypeA},
	{"secure_referral", "x.signed.example.lan.", dns.TypeA},
	{"apex", "example.lan.", dns.TypeSOA},
}

// What an answer with its proof costs, kept and made.
func BenchmarkProof(b *testing.B) {
	from := netip.MustParseAddr("10.1.0.1")
	s := manyServer(b, signedConfig(b))
	w := &worker{server: s, count: s.udpCounts[0]}
	dst := make([]byte, maxUDP)
	for _, tt := range provedQuestions {
		msg := askSigned(tt.ask, tt.qtype, false)
		b.Run("kept/"+tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if w.respond(dst, msg, from, false) == 0 {
					b.Fatal("no answer")
				}
			}
		})
	}
	b.Run("made/nxdomain", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i++
			w.respond(dst, askSigned(fmt.Sprintf("x%d.example.lan.", i), dns.TypeA, false), from, false)
		}
	})
	for _, algorithm := range []uint8{dns.ECDSAP256SHA256, dns.ED25519} {
		k := signingKey(b, "example.lan", algorithm)
		rrs := records(b, "app.example.lan. 30 IN A 10.1.0.11")
		b.Run("sign/"+dns.AlgorithmToString[algorithm], func(b *testing.B) {
			z, err := newZoneSigner("\x07example\x03lan\x00", &Signing{Keys: []SigningKey{k}}, 1, nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, _, err := z.sign(rrs, 1_700_000_000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// If this fails, validators' questions make garbage that all other answers wait
// for, or go the slow way.
func TestProofsDoNotAllocate(t *testing.T) {
	s := manyServer(t, signedConfig(t))
	w := &worker{server: s, count: s.udpCounts[0]}
	dst, from := make([]byte, maxUDP), netip.MustParseAddr("10.1.0.1")
	for _, tt := range provedQuestions {
		msg := askSigned(tt.ask, tt.qtype, false)
		for range 64 {
			w.respond(dst, msg, from, false) // all turns are signed once
		}
		if n := testing.AllocsPerRun(100, func() { w.respond(dst, msg, from, false) }); n != 0 {
			t.Errorf("%s: %v allocations", tt.name, n)
		}
	}
	if n := s.Stats().UDP.Slow; n > 0 {
		t.Errorf("%d went the slow way", n)
	}
}
