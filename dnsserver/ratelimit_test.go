package dnsserver

import (
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// flood asks from an address and counts full, truncated or BADCOOKIE, and missing
// answers.
func flood(t testing.TB, s *Server, from string, msg []byte, count int, tcp bool) (full, short, none int) {
	t.Helper()
	for range count {
		switch m := exchange(t, s, from, msg, tcp); {
		case m == nil:
			none++
		case m.Truncated || m.Rcode == dns.RcodeBadCookie:
			short++
		default:
			full++
		}
	}
	return full, short, none
}

// withOptions asks with EDNS options.
func withOptions(t testing.TB, qtype uint16, options ...dns.EDNS0) []byte {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion("mail.example.lan.", qtype)
	m.SetEdns0(maxUDP, false)
	m.IsEdns0().Option = options
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// If this fails, this server floods others, or turns away clients that have done
// nothing.
func TestRateLimit(t *testing.T) {
	const secret, start = "000102030405060708090a0b0c0d0e0f", 1_700_000_000
	limited := func(slip int, dry bool) *Config {
		cfg := transferConfig(t)
		cfg.RateLimit = RateLimit{PerSecond: 50, Slip: slip, DryRun: dry}
		return cfg
	}
	plain, cookie := ask("mail.example.lan.", dns.TypeA), askCookie(t, "0102030405060708")
	signed := func(at int64) []byte { // as BIND asks whether a zone has moved
		m := new(dns.Msg)
		m.SetQuestion("example.lan.", dns.TypeSOA).SetEdns0(maxUDP, false)
		b, _ := withKey(t, m, "xfr.example.lan.", time.Unix(at, 0))
		return b
	}
	changes, err := zoneQuery("example.lan.", 5).Pack()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, from        string
		cfg               *Config
		msg               []byte
		tcp               bool
		full, short, none int
	}{
		{name: "a stranger", from: "198.51.100.1", cfg: limited(2, false), msg: plain, full: 50, short: 475, none: 475},
		{name: "over IPv6", from: "2001:db8::1", cfg: limited(2, false), msg: plain, full: 50, short: 475, none: 475},
		{name: "without slip", from: "198.51.100.1", cfg: limited(0, false), msg: plain, full: 50, none: 950},
		{name: "with a slip of 1", from: "198.51.100.1", cfg: limited(1, false), msg: plain, full: 50, short: 950},
		{name: "with a client cookie", from: "198.51.100.1", cfg: limited(2, false), msg: cookie, full: 50, short: 475, none: 475},
		{name: "errors", from: "198.51.100.1", cfg: limited(2, false), msg: edit(plain, func(b []byte) { b[2] = 2 << 3 }), full: 50, none: 950},
		{name: "a secondary with a key", from: "198.51.100.1", cfg: limited(2, false), msg: signed(start), full: 1000},
		{name: "a signature of long ago", from: "198.51.100.1", cfg: limited(2, false), msg: signed(start - 3600), full: 50, short: 475, none: 475},
		{name: "a question for what has changed", from: "198.51.100.1", cfg: limited(2, false), msg: changes, full: 50, short: 475, none: 475},
		{name: "dry run", from: "198.51.100.1", cfg: limited(2, true), msg: plain, full: 1000},
		{name: "off", from: "198.51.100.1", cfg: lanConfig(t), msg: plain, full: 1000},
		{name: "over TCP", from: "198.51.100.1", cfg: limited(2, false), msg: plain, tcp: true, full: 1000},
		{name: "private", from: "10.77.0.1", cfg: limited(2, false), msg: plain, full: 1000},
		{name: "private over IPv6", from: "fd77::1", cfg: limited(2, false), msg: plain, full: 1000},
		{name: "loopback", from: "127.0.0.1", cfg: limited(2, false), msg: plain, full: 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := clockServer(t, tt.cfg, secret, start)
			full, short, none := flood(t, s, tt.from, tt.msg, 1000, tt.tcp)
			if full != tt.full || short != tt.short || none != tt.none {
				t.Errorf("%d full, %d short, %d none", full, short, none)
			}
			if u := s.Stats().UDP; u.Slipped != uint64(short) || u.Dropped["limited"] != uint64(none) {
				t.Errorf("counted %+v", u)
			}
		})
	}
}

// If this fails, one client's flood takes the answers of others, a client stays
// shut out, or one with a cookie is.
func TestRateLimitIsJust(t *testing.T) {
	cfg := lanConfig(t)
	cfg.RateLimit = RateLimit{PerSecond: 50, Slip: 2}
	s, c := clockServer(t, cfg, "000102030405060708090a0b0c0d0e0f", 1_700_000_000)
	msg := ask("mail.example.lan.", dns.TypeA)
	cookie := cookieIn(exchange(t, s, "198.51.100.9", askCookie(t, "0102030405060708"), false))
	flood(t, s, "198.51.100.1", msg, 1000, false)
	if full, _, _ := flood(t, s, "198.51.100.200", msg, 10, false); full != 0 {
		t.Error("another address of the same network has answers of its own: a forger can take any")
	}
	if full, _, _ := flood(t, s, "198.51.101.1", msg, 50, false); full != 50 {
		t.Errorf("a neighbour has %d of 50", full)
	}
	if full, _, _ := flood(t, s, "198.51.100.9", askCookie(t, cookie), 1000, false); full != 1000 {
		t.Errorf("a client with a cookie has %d of 1000", full)
	}
	anything := withOptions(t, dns.TypeANY, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: cookie})
	unknown := withOptions(t, dns.TypeA, &dns.EDNS0_EXPIRE{Code: dns.EDNS0EXPIRE, Empty: true}, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: cookie})
	for name, msg := range map[string][]byte{"ANY": anything, "an option that nobody knows": unknown} {
		if full, _, _ := flood(t, s, "198.51.100.9", msg, 1000, false); full != 1000 {
			t.Errorf("a client with a cookie that asks for %s has %d of 1000", name, full)
		}
	}
	c.set(c.read().Add(100 * time.Millisecond))
	if full, _, _ := flood(t, s, "198.51.100.1", msg, 1000, false); full != 5 {
		t.Errorf("%d answers after 100 ms", full)
	}
	c.set(c.read().Add(time.Second))
	if full, _, _ := flood(t, s, "198.51.100.1", msg, 1000, false); full != 50 {
		t.Errorf("%d answers after a second", full)
	}
}

// If this fails, floods from many networks make the table grow, or free a network
// of its limit at once.
func TestRateLimitMemory(t *testing.T) {
	cfg := lanConfig(t)
	cfg.RateLimit = RateLimit{PerSecond: 50, Slip: 2}
	s, _ := clockServer(t, cfg, "000102030405060708090a0b0c0d0e0f", 1_700_000_000)
	now := s.now()
	victim := netip.MustParseAddr("198.51.100.1")
	for range 50 {
		s.limiter.over(victim, now, 50)
	}
	shut := 0
	for i := range 200_000 {
		a := netip.AddrFrom4([4]byte{byte(11 + i>>16), byte(i >> 8), byte(i), 1})
		if s.limiter.over(a, now, 50) {
			shut++
		}
	}
	if !s.limiter.over(victim, now, 50) {
		t.Error("the network at its limit lost its place to networks with one answer each")
	}
	if shut > 20 {
		t.Errorf("%d of 200000 networks were taken for others", shut)
	}
	if n := testing.AllocsPerRun(100, func() { s.limiter.over(victim, now, 50) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
