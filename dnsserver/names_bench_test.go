package dnsserver

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"testing"

	"github.com/miekg/dns"
)

// namesServer serves a zone of many names.
func namesServer(b *testing.B, count int) *Server {
	b.Helper()
	cfg := lanConfig(b)
	for i := range count {
		cfg.Zones[0].Records = append(cfg.Zones[0].Records, &dns.A{
			Hdr: dns.RR_Header{Name: fmt.Sprintf("host%07d.example.lan.", i), Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 300},
			A:   net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)),
		})
	}
	return lanServerOf(b, cfg)
}

// numberedHost writes a number into a question of namesServer's.
func numberedHost(msg []byte, n uint64) {
	digits := msg[headerLen+5 : headerLen+12]
	for d := range digits {
		digits[6-d] = '0' + byte(n%10)
		n /= 10
	}
}

// If these figures grow, or those of the batches with the number of names, large
// zones cost more than the queries for them. Questions come one by one, and as many
// together as the system hands over under load; for names at random, and as clients
// ask, some much more often than others.
func BenchmarkNames(b *testing.B) {
	for _, count := range []int{1000, 1_000_000} {
		s := namesServer(b, count)
		few := rand.NewZipf(rand.New(rand.NewPCG(4, 7)), 1.1, 1, uint64(count-1))
		draws := make([]uint64, 1<<20)
		for i := range draws {
			draws[i] = scramble(few.Uint64()) % uint64(count) // the frequent ones lie anywhere
		}
		for _, how := range []struct {
			name string
			draw func(i uint64) uint64
		}{
			{"random", func(i uint64) uint64 { return scramble(i) % uint64(count) }},
			{"zipf", func(i uint64) uint64 { return draws[i%uint64(len(draws))] }},
		} {
			for _, together := range []int{1, touchLen} {
				b.Run(fmt.Sprintf("%d/%s/%d", count, how.name, together), func(b *testing.B) { askNames(b, s, how.draw, together) })
			}
		}
		b.Run(strconv.Itoa(count)+"/memory", func(b *testing.B) { lookTwice(b, &s.snap.Load().names, count) })
		b.Run(strconv.Itoa(count)+"/collection", func(b *testing.B) {
			for b.Loop() {
				runtime.GC()
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/float64(count), "octets/name")
			runtime.KeepAlive(s)
		})
	}
}

// lookTwice does nothing but the two looks into memory that a name at random takes,
// the second where the first one says: no answer can be faster.
func lookTwice(b *testing.B, x *nameIndex, count int) {
	var name [maxName]byte
	n := copy(name[:], "\x0bhost0000000\x07example\x03lan\x00")
	places := make([]uint32, 1<<20)
	for i := range places {
		v := scramble(uint64(i)) % uint64(count)
		for d := range 7 {
			name[11-d] = '0' + byte(v%10)
			v /= 10
		}
		places[i] = uint32(hashName(name[:n]) >> x.shift)
	}
	seen := uint64(0)
	for i := 0; b.Loop(); i++ {
		// What was seen chooses the next place, though it changes nothing.
		s := x.slots[(uint64(places[i&(len(places)-1)])+seen>>60)&uint64(len(x.slots)-1)]
		seen = s>>61 | uint64(x.arena[int(ref(s))*nodeUnit])>>7
	}
	if seen == 1 {
		b.Log("an odd name") // the looks must not be left out
	}
}

// askNames asks for a name at a time, of so many that have come in together.
func askNames(b *testing.B, s *Server, draw func(i uint64) uint64, together int) {
	w := &worker{server: s, count: s.udpCounts[0]}
	dst, from := make([]byte, maxUDP), netip.MustParseAddr("10.1.0.1")
	var msgs [][]byte
	for range together {
		msgs = append(msgs, ask("host0000000.example.lan.", dns.TypeA, 1232))
	}
	var ahead touched
	i := uint64(0)
	for at := together; b.Loop(); at++ {
		if at == together {
			at = 0
			for _, msg := range msgs {
				i++
				numberedHost(msg, draw(i))
			}
			if names := &s.snap.Load().names; together > 1 && names.large() {
				names.touch(&ahead, msgs)
			}
		}
		if w.respond(dst, msgs[at], from, false) == 0 || dst[7] != 1 {
			b.Fatal("no answer")
		}
	}
}
