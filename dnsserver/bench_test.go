package dnsserver

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

// benchServer has n names under failover and n static ones.
func benchServer(b testing.TB, n int) *Server {
	b.Helper()
	cfg := lanConfig(b)
	for i := range n {
		cfg.Services[0].Hosts = append(cfg.Services[0].Hosts, fmt.Sprintf("app%d.example.lan", i))
		rr, err := dns.NewRR(fmt.Sprintf("host%d.example.lan. 300 IN A 10.9.%d.%d", i, i>>8&0xff, i&0xff))
		if err != nil {
			b.Fatal(err)
		}
		cfg.Zones[0].Records = append(cfg.Zones[0].Records, rr)
	}
	return lanServerOf(b, cfg)
}

// withLength gives the OPT record that ends a message a length of its options.
func withLength(msg []byte, octets byte) []byte {
	msg[len(msg)-1] = octets
	return msg
}

// If the first of these figures grows, every query pays.
func BenchmarkHot(b *testing.B) {
	from := netip.MustParseAddr("10.1.0.1")
	for _, tt := range []struct {
		name string
		msg  []byte
	}{
		{"static", ask("host7.example.lan.", dns.TypeA, 1232)},
		{"service", ask("app7.example.lan.", dns.TypeA, 1232)},
		{"weighted", ask("weighted.example.lan.", dns.TypeA, 1232)},
		{"hashed", ask("hashed.example.lan.", dns.TypeA, 1232)},
		{"hashed_uneven", ask("uneven.example.lan.", dns.TypeA, 1232)},
		{"service_with_cookie", append(withLength(ask("app7.example.lan.", dns.TypeA, 1232), 12), "\x00\x0a\x00\x08cookie88"...)},
		{"service_without_edns", ask("app7.example.lan.", dns.TypeA)},
		{"wildcard_service", ask("x.apps.example.lan.", dns.TypeA, 1232)},
		{"nodata", ask("app7.example.lan.", dns.TypeMX, 1232)},
		{"nxdomain", ask("nothing.example.lan.", dns.TypeA, 1232)},
		{"cname_to_service", ask("toservice.example.lan.", dns.TypeA, 1232)},
		{"referral", ask("x.sub.example.lan.", dns.TypeA, 1232)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			s := benchServer(b, 1000)
			w := &worker{server: s, count: s.udpCounts[0]}
			dst := make([]byte, maxUDP)
			b.ReportAllocs()
			for b.Loop() {
				if w.respond(dst, tt.msg, from, false) == 0 {
					b.Fatal("no answer")
				}
			}
			if n := s.Stats().UDP.Slow; n > 0 {
				b.Fatalf("%d went the slow way", n)
			}
		})
	}
}

// What an odd query costs.
func BenchmarkSlow(b *testing.B) {
	s := benchServer(b, 1000)
	w := &worker{server: s, count: s.udpCounts[0]}
	dst, msg := make([]byte, maxUDP), ask("app7.example.lan.", dns.TypeANY, 1232)
	b.ReportAllocs()
	for b.Loop() {
		w.respond(dst, msg, netip.MustParseAddr("10.1.0.1"), false)
	}
}

// From a decision to the first answer that has it, with 10,000 names on the
// pool.
func BenchmarkSetAnswerToAnswer(b *testing.B) {
	s := benchServer(b, 10_000)
	w := &worker{server: s, count: s.udpCounts[0]}
	dst, msg, from := make([]byte, maxUDP), ask("app7.example.lan.", dns.TypeA), netip.MustParseAddr("10.1.0.1")
	as := []func(){
		func() { s.SetAnswer("berlin", "default", answer("10.1.0.11")) },
		func() { s.SetAnswer("berlin", "default", answer("10.1.0.12")) },
	}
	for i := 0; b.Loop(); i++ {
		as[i%2]()
		n := w.respond(dst, msg, from, false)
		if dst[n-1] != byte(11+i%2) {
			b.Fatal("an old answer")
		}
	}
}

// If this fails, garbage is collected at the price of answers.
func TestHotPathDoesNotAllocate(t *testing.T) {
	cfg := lanConfig(t)
	cfg.ServerID, cfg.RateLimit = "dns-a", RateLimit{PerSecond: 50, Slip: 2}
	s := lanServerOf(t, cfg)
	option := func(msg []byte, option string) []byte {
		msg = append(msg, option...)
		msg[len(msg)-len(option)-1] = byte(len(option))
		return msg
	}
	w := &worker{server: s, count: s.udpCounts[0]}
	dst := make([]byte, maxUDP)
	for _, client := range []string{"10.1.0.1", "fd00:1::1", "192.0.2.1"} {
		from := netip.MustParseAddr(client)
		for _, name := range []string{"mail.example.lan.", "app.example.lan.", "x.apps.example.lan.", "weighted.example.lan.", "hashed.example.lan.", "uneven.example.lan.", "nothing.example.lan.", "chain.example.lan.", "a.sub.example.lan.", "example.org."} {
			for _, msg := range [][]byte{
				ask(name, dns.TypeA), ask(name, dns.TypeAAAA, 1232),
				option(ask(name, dns.TypeA, 1232), "\x00\x0a\x00\x08cookie88\x00\x03\x00\x00"),
				option(ask(name, dns.TypeA, 1232), "\x00\x0a\x00\x18cookie88\x01\x00\x00\x00\x65\x53\xf1\x0012345678"),
			} {
				if n := testing.AllocsPerRun(100, func() { w.respond(dst, msg, from, false) }); n != 0 {
					t.Errorf("%s from %s: %v allocations", name, client, n)
				}
			}
		}
	}
}

// What a start or a reload costs with 10,000 services.
func BenchmarkReload(b *testing.B) {
	cfg := lanConfig(b)
	for i := range 10_000 {
		svc := cfg.Services[0]
		svc.Hosts = []string{fmt.Sprintf("app%d.example.lan", i)}
		cfg.Services = append(cfg.Services, svc)
	}
	s := newServer(b, cfg)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Reload(cfg); err != nil {
			b.Fatal(err)
		}
	}
}
