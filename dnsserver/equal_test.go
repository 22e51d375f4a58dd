package dnsserver

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

// bothWays answers a query on the hot path and on the slow one, as if it came at
// the same turn. hot is nil where the hot path leaves it to the slow one.
func bothWays(s *Server, msg []byte, from netip.Addr, turn uint32, tcp bool) (hot, slow []byte) {
	w := &worker{server: s, count: s.udpCounts[0], turn: turn, snap: s.snap.Load(), from: from}
	size := maxUDP
	if tcp {
		size = maxMessage
	}
	dst := make([]byte, size)
	if w.q.usual(msg) {
		if n := w.hot(dst, tcp); n > 0 {
			hot = bytes.Clone(dst[:n])
		}
	}
	clear(dst)
	w.asked = false
	slow = dst[:w.slow(dst, msg, tcp)]
	return hot, slow
}

// readable gives an answer's header and records in words. The order counts, and
// letter case but for names that the hot path takes from the question: the
// owners of SOA and NS, and names in data that end with the zone's.
func readable(msg []byte) ([]string, error) {
	m := new(dns.Msg)
	if err := m.Unpack(msg); err != nil {
		return nil, err
	}
	for _, rr := range m.Ns {
		rr.Header().Name = strings.ToLower(rr.Header().Name)
	}
	for _, rr := range slices.Concat(m.Answer, m.Ns) {
		switch rr := rr.(type) {
		case *dns.NS:
			rr.Ns = strings.ToLower(rr.Ns)
		case *dns.PTR:
			rr.Ptr = strings.ToLower(rr.Ptr)
		case *dns.MX:
			rr.Mx = strings.ToLower(rr.Mx)
		case *dns.SOA:
			rr.Ns, rr.Mbox = strings.ToLower(rr.Ns), strings.ToLower(rr.Mbox)
		}
	}
	return strings.Split(m.String(), "\n"), nil
}

// someName draws a name in, near or outside the zones, often one that exists.
func someName(known []string) *rapid.Generator[string] {
	label := rapid.SampledFrom([]string{"a", "b", "c", "x", "*", "host", "wild", "ns", "sub", "moved", "apps", "under", "app"})
	return rapid.Custom(func(t *rapid.T) string {
		name := rapid.SampledFrom(known).Draw(t, "known")
		for range rapid.IntRange(0, 3).Draw(t, "deeper") {
			name = label.Draw(t, "label") + "." + name
		}
		if rapid.IntRange(0, 4).Draw(t, "higher") == 0 {
			if _, up, ok := strings.Cut(name, "."); ok && up != "" {
				name = up
			}
		}
		b := []byte(name)
		for i, upper := range rapid.SliceOfN(rapid.Bool(), len(b), len(b)).Draw(t, "upper") {
			if c := b[i]; upper && c >= 'a' && c <= 'z' {
				b[i] -= 'a' - 'A'
			}
		}
		return string(b)
	})
}

// knownNames lists every name of a snapshot and some others.
func knownNames(s *Server) []string {
	out := []string{".", "lan.", "example.org.", "xexample.lan."}
	sn := s.snap.Load()
	sn.names.each(func(n node) { out = append(out, textName(string(n.name()))) })
	return out
}

// If this fails, an answer depends on which way it was made: what tests of one
// way promise does not hold for the other.
func TestHotAndSlowAreEqual(t *testing.T) {
	for name, cfg := range map[string]*Config{"unsigned": lanConfig(t), "signed": signedConfig(t)} {
		t.Run(name, func(t *testing.T) {
			cfg.ServerID = "dns-a"
			askBothWays(t, lanServerOf(t, cfg))
		})
	}
}

// askBothWays asks for names and types of all kinds, in all forms.
func askBothWays(t *testing.T, s *Server) {
	t.Helper()
	known := knownNames(s)
	types := []uint16{
		dns.TypeA, dns.TypeAAAA, dns.TypeNS, dns.TypeSOA, dns.TypeCNAME, dns.TypeDNAME, dns.TypeMX, dns.TypeTXT,
		dns.TypeDS, dns.TypePTR, dns.TypeHTTPS, dns.TypeANY, dns.TypeRRSIG, dns.TypeNSEC, dns.TypeDNSKEY, dns.TypeCDS, 65280,
	}
	clients := addrs("10.1.0.1", "10.1.0.99", "10.2.0.1", "10.2.7.7", "10.3.0.1", "fd00:1::1", "fd00:1::99", "192.0.2.1", "2001:db8::1")
	var hotWays int
	rapid.Check(t, func(t *rapid.T) {
		m := new(dns.Msg)
		m.SetQuestion(someName(known).Draw(t, "name"), rapid.SampledFrom(types).Draw(t, "type"))
		m.Id = rapid.Uint16().Draw(t, "id")
		m.RecursionDesired = rapid.Bool().Draw(t, "rd")
		if rapid.Bool().Draw(t, "edns") {
			m.SetEdns0(rapid.SampledFrom([]uint16{0, 512, 700, 1232, 4096}).Draw(t, "size"), rapid.Bool().Draw(t, "do"))
			m.IsEdns0().SetCo(rapid.Bool().Draw(t, "co"))
			option := rapid.SampledFrom([]dns.EDNS0{
				nil, &dns.EDNS0_PADDING{Padding: make([]byte, 7)}, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"},
				&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef01000000655340ff0123456789abcdef"}, &dns.EDNS0_NSID{Code: dns.EDNS0NSID},
				&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: 20, Address: net.IP{10, 1, 0, 0}},
				&dns.EDNS0_LOCAL{Code: dns.EDNS0LOCALSTART, Data: []byte("x")}, &dns.EDNS0_EXPIRE{Code: dns.EDNS0EXPIRE, Empty: true},
			}).Draw(t, "option")
			if option != nil {
				m.IsEdns0().Option = append(m.IsEdns0().Option, option)
			}
		}
		msg, err := m.Pack()
		if err != nil {
			t.Skip("no such name")
		}
		from := rapid.SampledFrom(clients).Draw(t, "client")
		hot, slow := bothWays(s, msg, from, rapid.Uint32().Draw(t, "turn"), rapid.Bool().Draw(t, "tcp"))
		if hot == nil {
			return
		}
		hotWays++
		compare(t, hot, slow)
	})
	if hotWays == 0 {
		t.Error("the hot path answered nothing")
	}
}

// everyForm are the forms that a question can have for an answer to look different.
func everyForm(name string, qtype uint16) (out [][]byte) {
	cookie := &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"}
	for _, edit := range []func(*dns.Msg){
		func(*dns.Msg) {}, withOPT(0, 0), withOPT(0, 0x8000), withOPT(0, 0xc000), withOPT(0, 0, cookie, &dns.EDNS0_NSID{Code: dns.EDNS0NSID}),
		func(m *dns.Msg) { withOPT(0, 0x8000)(m); m.IsEdns0().SetUDPSize(minUDP) },
	} {
		m := new(dns.Msg)
		m.SetQuestion(name, qtype)
		edit(m)
		if msg, err := m.Pack(); err == nil {
			out = append(out, msg)
		}
	}
	return out
}

// If this fails, one of the two ways gives some name, type, form or view another
// answer: here all of them are asked for.
func TestHotAndSlowAreEqualEverywhere(t *testing.T) {
	unsigned, signed := lanConfig(t), signedConfig(t)
	unsigned.ServerID, signed.ServerID = "dns-a", "dns-a"
	for _, tt := range []struct {
		name    string
		cfg     *Config
		clients []netip.Addr // of each view, and of none
	}{
		{"unsigned", unsigned, addrs("10.1.0.1", "10.2.0.5", "10.3.0.1", "192.0.2.1")},
		{"signed", signed, addrs("10.1.0.1")}, // what views change is the same
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := lanServerOf(t, tt.cfg)
			hotWays, all := 0, 0
			for _, known := range knownNames(s) {
				for _, name := range []string{known, "x." + known, strings.ToUpper(known)} {
					for _, qtype := range everyType {
						for _, msg := range everyForm(name, qtype) {
							for _, from := range tt.clients {
								all++
								if hot, slow := bothWays(s, msg, from, 7, false); hot != nil {
									hotWays++
									compare(asking{t, name, qtype}, hot, slow)
								}
							}
						}
					}
				}
			}
			if hotWays < all/2 {
				t.Errorf("the hot path answered %d of %d", hotWays, all)
			}
			t.Logf("%d questions, %d by the hot path", all, hotWays)
		})
	}
}

// asking says which question an answer is to.
type asking struct {
	*testing.T
	name  string
	qtype uint16
}

func (a asking) Fatalf(format string, args ...any) {
	a.T.Fatalf("%s %s: "+format, append([]any{a.name, dns.Type(a.qtype)}, args...)...)
}

// fataler is a test of either kind.
type fataler interface {
	Fatalf(format string, args ...any)
}

// compare fails unless two answers say the same.
func compare(t fataler, hot, slow []byte) {
	if bytes.Equal(hot, slow) {
		return // without a look at what it says
	}
	a, err := readable(hot)
	if err != nil {
		t.Fatalf("the hot answer does not parse: %v", err)
	}
	b, err := readable(slow)
	if err != nil {
		t.Fatalf("the slow answer does not parse: %v", err)
	}
	if d := cmp.Diff(b, a); d != "" {
		t.Fatalf("-slow +hot\n%s", d)
	}
}

// If this fails, a crafted packet crashes the server, is answered with something
// malformed or too long, or passes the hot path's parser though the library
// finds it malformed.
func FuzzQuery(f *testing.F) {
	servers := []*Server{lanServer(f), manyServer(f, signedConfig(f))}
	for _, name := range []string{"mail.example.lan.", "x.wild.example.lan.", "app.example.lan.", "a.sub.example.lan.", "chain.example.lan.", "x.moved.example.lan.", "."} {
		f.Add(ask(name, dns.TypeA), false)
		f.Add(ask(name, dns.TypeAAAA, 1232), true)
		f.Add(ask(name, dns.TypeANY, 700), false)
		f.Add(askSigned(name, dns.TypeMX, true), false)
	}
	for _, option := range []string{"\x00\x08\x00\x07\x00\x01\x18\x00\x0a\x01\x00", "\x00\x08\x00\x08\x00\x02\x20\x00\xfd\x00\x00\x01", "\x00\x0b\x00\x00", "\x00\x0a\x00\x08cookie88"} {
		q := append(ask("app.example.lan.", dns.TypeA, 1232), option...)
		q[len(q)-len(option)-1] = byte(len(option))
		f.Add(q, false)
	}
	f.Add(append(ask("mail.example.lan.", dns.TypeA, 1232), 0, 10, 0, 8), false)
	f.Fuzz(func(t *testing.T, msg []byte, tcp bool) {
		for _, s := range servers {
			askOdd(t, s, msg, tcp)
		}
	})
}

// askOdd asks what may be no question at all.
func askOdd(t *testing.T, s *Server, msg []byte, tcp bool) {
	t.Helper()
	from := netip.MustParseAddr("10.1.0.1")
	raw := s.Query(msg, netip.AddrPortFrom(from, 9), tcp)
	if s.Stats().UDP.Panics+s.Stats().TCP.Panics > 0 {
		t.Fatal("a panic was contained")
	}
	if raw == nil {
		return
	}
	m := new(dns.Msg)
	if err := m.Unpack(raw); err != nil {
		t.Fatalf("the answer does not parse: %v", err)
	}
	if !tcp && len(raw) > maxUDP || !m.Response {
		t.Fatalf("%d octets, QR %t", len(raw), m.Response)
	}
	if in := new(dns.Msg); new(query).usual(msg) {
		if err := in.Unpack(msg); err != nil || len(in.Question) != 1 {
			t.Fatalf("the hot path takes what the library refuses: %v", err)
		}
		if hot, slow := bothWays(s, msg, from, 7, tcp); hot != nil {
			compare(t, hot, slow)
		}
	}
}

// If this fails, an answer with its proof that fits into what the asker takes is cut
// off, and asked for again over TCP.
func TestProofThatJustFits(t *testing.T) {
	s := lanServerOf(t, signedConfig(t))
	msg := askSigned("intosub.example.lan.", dns.TypeA, false)
	binary.BigEndian.PutUint16(msg[len(msg)-optLen+3:], minUDP)
	m := exchange(t, s, "10.1.0.1", msg, false)
	if m.Truncated || len(m.Answer) != 2 || len(m.Ns) != 4 {
		t.Errorf("cut off:\n%v", m)
	}
}
