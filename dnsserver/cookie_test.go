package dnsserver

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// askCookie makes a query with a cookie.
func askCookie(t testing.TB, cookie string) []byte {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion("mail.example.lan.", dns.TypeA)
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: cookie})
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// cookieIn gives the cookie of an answer, "" for none.
func cookieIn(m *dns.Msg) string {
	if o := m.IsEdns0(); o != nil {
		for _, o := range o.Option {
			if c, ok := o.(*dns.EDNS0_COOKIE); ok {
				return c.Cookie
			}
		}
	}
	return ""
}

// clock is a wall clock that tests turn.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// clockServer is a server of lanConfig whose clock can be turned.
func clockServer(t testing.TB, cfg *Config, secret string, at int64) (*Server, *clock) {
	t.Helper()
	c := &clock{now: time.Unix(at, 0)}
	b, err := hex.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(cfg, Options{Now: c.read, CookieSecret: Secret(b)})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// If this fails, cookies are not those of RFC 9018: servers that share an address
// refuse each other's. The values are those of its appendix A.
func TestCookieInterworks(t *testing.T) {
	const first = "e5e973e5a6b2a43f48e7dc849e37bfcf"
	const second, third = "dd3bdf9344b678b185a6f5cb60fca715", "445536bcd2513298075a5d379663c962"
	tests := []struct {
		name, secret, next, from string
		at                       int64
		asked, answered          string
	}{
		{"learning a cookie", first, "", "198.51.100.100", 1559731985, "2464c4abcf10c957", "2464c4abcf10c957010000005cf79f111f8130c3eee29480"},
		{"renewing one", first, "", "203.0.113.203", 1559734700, "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e"},
		{"after a rotation, over IPv6", second, third, "2001:db8:220:1:59de:d0f4:8769:82b8", 1559741961, "22681ab97d52c298010000005cf7c57926556bd0934c72f8", "22681ab97d52c298010000005cf7c609a6bb79d16625507a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := clockServer(t, lanConfig(t), tt.secret, tt.at)
			if next, err := hex.DecodeString(tt.next); err != nil {
				t.Fatal(err)
			} else if len(next) > 0 {
				if err := s.RotateCookieSecret(next); err != nil {
					t.Fatal(err)
				}
			}
			if got := cookieIn(exchange(t, s, tt.from, askCookie(t, tt.asked), false)); got != tt.answered {
				t.Errorf("got %s, want %s", got, tt.answered)
			}
		})
	}
}

// If this fails, a forger is believed, or a client whose cookie is old or of
// before a rotation is not.
func TestCookieAges(t *testing.T) {
	const secret, start = "000102030405060708090a0b0c0d0e0f", 4_294_967_000 // the counter goes round soon
	tests := []struct {
		name         string
		after        time.Duration
		rotations    int
		from         string
		change       func(string) string
		valid, fresh bool // believed; answered with another one
	}{
		{name: "at once", valid: true},
		{name: "after half an hour", after: 30 * time.Minute, valid: true},
		{name: "renewed", after: 30*time.Minute + time.Second, valid: true, fresh: true},
		{name: "after an hour", after: time.Hour, valid: true, fresh: true},
		{name: "too old", after: time.Hour + time.Second, fresh: true},
		{name: "the clock was set back", after: -5 * time.Minute, valid: true},
		{name: "from the future", after: -5*time.Minute - time.Second, fresh: true},
		{name: "after a rotation", rotations: 1, valid: true, fresh: true},
		{name: "after two rotations", rotations: 2, fresh: true},
		{name: "of another client", from: "10.1.0.6", fresh: true},
		{name: "of another client cookie", change: func(c string) string { return "ff" + c[2:] }, fresh: true},
		{name: "of another version", change: func(c string) string { return c[:17] + "2" + c[18:] }, fresh: true},
		{name: "with another hash", change: func(c string) string { return c[:46] + "00" }, fresh: true},
		{name: "longer", change: func(c string) string { return c + "00" }, fresh: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, c := clockServer(t, lanConfig(t), secret, start)
			cookie := cookieIn(exchange(t, s, "10.1.0.5", askCookie(t, "0102030405060708"), false))
			if len(cookie) != 48 {
				t.Fatalf("cookie %q", cookie)
			}
			c.set(time.Unix(start, 0).Add(tt.after))
			for i := range tt.rotations {
				next := make(Secret, CookieSecretLen)
				next[0] = byte(100 + i)
				if err := s.RotateCookieSecret(next); err != nil {
					t.Fatal(err)
				}
			}
			if tt.change != nil {
				cookie = tt.change(cookie)
			}
			if tt.from == "" {
				tt.from = "10.1.0.5"
			}
			m := exchange(t, s, tt.from, askCookie(t, cookie), false)
			got := cookieIn(m)
			if m.Rcode != dns.RcodeSuccess || (s.Stats().UDP.Cookies == 1) != tt.valid || (got != cookie) != tt.fresh || len(got) != 48 {
				t.Errorf("valid %d, answered %s to %s", s.Stats().UDP.Cookies, got, cookie)
			}
		})
	}
	if _, err := New(lanConfig(t), Options{CookieSecret: Secret("short")}); err == nil {
		t.Error("a short secret is taken")
	}
	if err := lanServer(t).RotateCookieSecret(Secret("short")); err == nil {
		t.Error("a short secret is rotated to")
	}
}

// If this fails, cookies of a length that none has are answered, or answers grow
// over what the client takes.
func TestCookieLengths(t *testing.T) {
	s := lanServer(t)
	for n := range 43 {
		want := dns.RcodeFormatError
		if n == 8 || n >= 16 && n <= 40 {
			want = dns.RcodeSuccess
		}
		m := exchange(t, s, "10.1.0.5", askCookie(t, hex.EncodeToString(make([]byte, n))), false)
		if m.Rcode != want || (cookieIn(m) != "") != (want == dns.RcodeSuccess) {
			t.Errorf("%d octets: %s", n, m)
		}
	}
}

// If this fails, who asks for the server's name or version gets what was not meant
// to be told, or not what was.
func TestServerTells(t *testing.T) {
	quiet := lanServer(t)
	cfg := lanConfig(t)
	cfg.ServerID, cfg.Version = "dns-a", "none"
	told := lanServerOf(t, cfg)
	chaos := func(s *Server, name string, qtype uint16) *dns.Msg {
		m := new(dns.Msg)
		m.SetQuestion(name, qtype)
		m.Question[0].Qclass = dns.ClassCHAOS
		b, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return exchange(t, s, "10.1.0.5", b, false)
	}
	for name, want := range map[string]string{
		"id.server.": "dns-a", "ID.Server.": "dns-a", "hostname.bind.": "dns-a", "version.bind.": "none", "version.server.": "none", "authors.bind.": "", "example.lan.": "",
	} {
		if m := chaos(quiet, name, dns.TypeTXT); m.Rcode != dns.RcodeRefused {
			t.Errorf("%s is told: %s", name, m)
		}
		m := chaos(told, name, dns.TypeTXT)
		if want == "" && m.Rcode != dns.RcodeRefused || want != "" && (len(m.Answer) != 1 || m.Answer[0].(*dns.TXT).Txt[0] != want) {
			t.Errorf("%s: %s", name, m)
		}
		if m := chaos(told, name, dns.TypeA); m.Rcode != dns.RcodeRefused {
			t.Errorf("%s A: %s", name, m)
		}
	}
	nsid := func(s *Server, ask bool) (out string) {
		m := new(dns.Msg)
		m.SetQuestion("mail.example.lan.", dns.TypeA)
		m.SetEdns0(1232, false)
		if ask {
			m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_NSID{Code: dns.EDNS0NSID})
		}
		b, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range exchange(t, s, "10.1.0.5", b, false).IsEdns0().Option {
			out += fmt.Sprint(o)
		}
		return out
	}
	if got := nsid(told, true); got != hex.EncodeToString([]byte("dns-a")) {
		t.Errorf("NSID %q", got)
	}
	if nsid(told, false) != "" || nsid(quiet, true) != "" {
		t.Error("NSID is told to those who did not ask, or without being configured")
	}
}

// If this fails, an option of EDNS crashes the server, a cookie comes back with
// another client's part, or one that was never made here is believed.
func FuzzOptions(f *testing.F) {
	for _, options := range []string{
		"", "\x00\x0a\x00\x08cookie88", "\x00\x0a\x00\x18cookie88\x01\x00\x00\x00\x65\x53\xf1\x0012345678", "\x00\x0a\x00\x09cookie889",
		"\x00\x03\x00\x00\x00\x0a\x00\x08cookie88\x00\x0a\x00\x08another8", "\x00\x08\x00\x07\x00\x01\x18\x00\x0a\x01\x00", "\x00\x0a\xff\xff",
	} {
		f.Add([]byte(options))
	}
	cfg := lanConfig(f)
	cfg.ServerID = "dns-a"
	s, _ := clockServer(f, cfg, "e5e973e5a6b2a43f48e7dc849e37bfcf", 1_700_000_000)
	given, err := hex.DecodeString(cookieIn(exchange(f, s, "10.1.0.1", askCookie(f, hex.EncodeToString([]byte("cookie88"))), false)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte("\x00\x0a\x00\x18"), given...))
	f.Fuzz(func(t *testing.T, options []byte) {
		if len(options) > 1000 {
			return
		}
		msg := ask("mail.example.lan.", dns.TypeA, 1232)
		binary.BigEndian.PutUint16(msg[len(msg)-2:], uint16(len(options)))
		msg = append(msg, options...)
		askOdd(t, s, msg, false)
		w := &worker{server: s, count: new(counters), snap: s.snap.Load(), from: netip.MustParseAddr("10.1.0.1")}
		if !w.q.usual(msg) {
			return
		}
		got := exchange(t, s, "10.1.0.1", msg, false)
		sent := hex.EncodeToString(w.q.cookie)
		back := cookieIn(got)
		if (sent == "") != (back == "") || sent != "" && back[:2*clientCookie] != sent[:2*clientCookie] {
			t.Fatalf("the cookie %q is answered with %q", sent, back)
		}
		if w.cookieOf() == cookieValid && back != sent {
			t.Fatalf("the cookie %q is believed, and %q given", sent, back)
		}
	})
}
