package dnsserver

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// edit changes octets of a query.
func edit(msg []byte, f func([]byte)) []byte {
	b := bytes.Clone(msg)
	f(b)
	return b
}

// If this fails, the server can be used against others (loops, echoed flags),
// or answers what it must refuse.
func TestManners(t *testing.T) {
	base := ask("mail.example.lan.", dns.TypeA)
	opt := ask("mail.example.lan.", dns.TypeA, 1232)
	optAt := len(base)
	header := func(qd, an, ns, ar uint16) []byte {
		b := make([]byte, 12)
		for i, v := range []uint16{7, 0, qd, an, ns, ar} {
			binary.BigEndian.PutUint16(b[2*i:], v)
		}
		return b
	}
	question := base[12:]
	long := strings.Repeat("\x3f"+strings.Repeat("a", 63), 4) + "\x00\x00\x01\x00\x01"
	tests := []struct {
		name  string
		msg   []byte
		rcode int // -1: no answer
	}{
		{"11 octets", base[:11], -1},
		{"a response", edit(base, func(b []byte) { b[2] |= 0x80 }), -1},
		{"longer than 1232 octets", append(bytes.Clone(base), make([]byte, 1300)...), -1},
		{"inverse query", edit(base, func(b []byte) { b[2] = 1 << 3 }), dns.RcodeNotImplemented},
		{"opcode 15 with all flags", edit(base, func(b []byte) { b[2], b[3] = 0x7f, 0xf0 }), dns.RcodeNotImplemented},
		{"NOTIFY", edit(base, func(b []byte) { b[2] = 4<<3 | 4 }), dns.RcodeRefused},
		{"UPDATE", edit(base, func(b []byte) { b[2] = 5 << 3 }), dns.RcodeRefused},
		{"no question", header(0, 0, 0, 0), dns.RcodeFormatError},
		{"two questions", append(append(header(2, 0, 0, 0), question...), question...), dns.RcodeFormatError},
		{"header alone", header(1, 0, 0, 0), dns.RcodeFormatError},
		{"name cut off", append(header(1, 0, 0, 0), 3, 'w', 'w'), dns.RcodeFormatError},
		{"type cut off", base[:len(base)-3], dns.RcodeFormatError},
		{"pointer to itself", append(header(1, 0, 0, 0), 0xc0, 0x0c, 0, 1, 0, 1), dns.RcodeFormatError},
		{"forward pointer", append(header(1, 0, 0, 0), 0xc0, 0x12, 0, 1, 0, 1, 0), dns.RcodeFormatError},
		{"label type 01", append(append(header(1, 0, 0, 0), 0x41), make([]byte, 80)...), dns.RcodeFormatError},
		{"name of 257 octets", append(header(1, 0, 0, 0), long...), dns.RcodeFormatError},
		{"answer promised", append(header(1, 1, 0, 0), question...), dns.RcodeFormatError},
		{"65535 more promised", append(header(1, 0, 0, 65535), question...), dns.RcodeFormatError},
		{"octets behind", append(bytes.Clone(base), "more"...), dns.RcodeFormatError},
		{"OPT cut off", opt[:len(opt)-3], dns.RcodeFormatError},
		{"OPT longer than the message", edit(opt, func(b []byte) { b[len(b)-1] = 9 }), dns.RcodeFormatError},
		{"option longer than OPT", append(edit(opt, func(b []byte) { b[len(b)-1] = 4 }), 0, 100, 0, 9), dns.RcodeFormatError},
		{"two OPT", append(edit(opt, func(b []byte) { b[11] = 2 }), opt[optAt:]...), dns.RcodeFormatError},
		{"OPT with a name", append(append(append(edit(base, func(b []byte) { b[11] = 1 }), 1, 'x'), 0), opt[optAt+1:]...), dns.RcodeFormatError},
		{"OPT among answers", edit(opt, func(b []byte) { b[7], b[11] = 1, 0 }), dns.RcodeFormatError},
		{"EDNS version 1", edit(opt, func(b []byte) { b[optAt+6] = 1 }), dns.RcodeBadVers},
		{"unknown EDNS flags and option", append(edit(opt, func(b []byte) { b[optAt+7], b[len(b)-1] = 0x7f, 5 }), 0, 100, 0, 1, 'x'), dns.RcodeSuccess},
		{"class CH", edit(base, func(b []byte) { b[len(b)-1] = 3 }), dns.RcodeRefused},
		{"class ANY", edit(base, func(b []byte) { b[len(b)-1] = 255 }), dns.RcodeRefused},
		{"AXFR", ask("example.lan.", dns.TypeAXFR), dns.RcodeRefused},
		{"IXFR", ask("example.lan.", dns.TypeIXFR), dns.RcodeRefused},
		{"type OPT", ask("example.lan.", dns.TypeOPT), dns.RcodeFormatError},
		{"type MAILA", ask("example.lan.", dns.TypeMAILA), dns.RcodeNotImplemented},
		{"TSIG with a key that nobody knows", signed(t), dns.RcodeNotAuth},
		{"Z, AD and CD are not echoed", edit(base, func(b []byte) { b[3] = 0x70 }), dns.RcodeSuccess},
	}
	s := lanServer(t)
	for _, tt := range tests {
		for _, tcp := range []bool{false, true} {
			if tt.name == "longer than 1232 octets" && tcp {
				continue
			}
			m := exchange(t, s, "10.1.0.1", tt.msg, tcp)
			if m == nil || tt.rcode < 0 {
				if m != nil || tt.rcode >= 0 {
					t.Errorf("%s: answer %v", tt.name, m)
				}
				continue
			}
			if m.Rcode != tt.rcode {
				t.Errorf("%s: rcode %s, want %s", tt.name, dns.RcodeToString[m.Rcode], dns.RcodeToString[tt.rcode])
			}
			if m.Truncated || m.RecursionAvailable || m.Zero || m.AuthenticatedData || m.CheckingDisabled {
				t.Errorf("%s: flags echoed: %v", tt.name, m.MsgHdr)
			}
			if tt.rcode != dns.RcodeSuccess && (m.Authoritative || len(m.Answer)+len(m.Ns) > 0) {
				t.Errorf("%s: an error with AA or records: %v", tt.name, m)
			}
			if o := m.IsEdns0(); o != nil && (o.Version() != 0 || o.Hdr.Ttl&0x7fff != 0 || len(o.Option) > 0) {
				t.Errorf("%s: OPT %v", tt.name, o)
			}
		}
	}
}

// signed is a query with TSIG.
func signed(t *testing.T) []byte {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion("mail.example.lan.", dns.TypeA)
	m.SetTsig("key.", dns.HmacSHA256, 300, 1_700_000_000)
	b, _, err := dns.TsigGenerate(m, "c2VjcmV0", "", false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// If this fails, EDNS answers to those who sent none confuse old clients, or the
// DO bit is lost.
func TestEDNSOnlyWhenAsked(t *testing.T) {
	s := lanServer(t)
	for _, name := range []string{"mail.example.lan.", "nothing.example.lan.", "x.moved.example.lan.", "example.org.", "unset.example.lan."} {
		if m := exchange(t, s, "10.1.0.1", ask(name, dns.TypeA), false); m.IsEdns0() != nil {
			t.Errorf("%s: OPT without being asked", name)
		}
		q := ask(name, dns.TypeA, 4096)
		q[len(q)-4] = 0x80
		o := exchange(t, s, "10.1.0.1", q, false).IsEdns0()
		if o == nil || o.UDPSize() != maxUDP || !o.Do() {
			t.Errorf("%s: OPT %v, want 1232 with DO", name, o)
		}
	}
}

// If this fails, strangers can ask a server that is not meant for them, or those
// who may are turned away.
func TestAllowQuery(t *testing.T) {
	cfg := lanConfig(t)
	cfg.AllowQuery = prefixes("10.0.0.0/8", "fd00::/8", "127.0.0.0/8")
	s := newServer(t, cfg)
	for from, want := range map[string]bool{
		"10.9.9.9": true, "127.0.0.1": true, "fd00::1": true, "::ffff:10.1.1.1": true,
		"192.0.2.1": false, "2001:db8::1": false, "::ffff:192.0.2.1": false, "11.0.0.0": false, "9.255.255.255": false,
	} {
		if got := exchange(t, s, from, ask("mail.example.lan.", dns.TypeA), false) != nil; got != want {
			t.Errorf("%s answered: %t", from, got)
		}
	}
	if n := s.Stats().UDP.Dropped["stranger"]; n != 5 {
		t.Errorf("%d strangers counted, want 5", n)
	}
}

// If this fails, the figures that people watch are wrong.
func TestStats(t *testing.T) {
	s := lanServer(t)
	from := func(a string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(a), 1) }
	for range 3 {
		s.Query(ask("app.example.lan.", dns.TypeA), from("203.0.113.5"), false)
	}
	s.Query(ask("app.example.lan.", dns.TypeA), from("203.0.113.6"), true)
	s.Query(ask("nothing.example.lan.", dns.TypeA), from("10.1.0.1"), true)
	s.Query([]byte("short"), from("10.1.0.1"), false)
	st := s.Stats()
	if st.UDP.Queries != 4 || st.UDP.Responses["NOERROR"] != 3 || st.UDP.Dropped["short"] != 1 {
		t.Errorf("UDP %+v", st.UDP)
	}
	if st.TCP.Queries != 2 || st.TCP.Responses["NXDOMAIN"] != 1 {
		t.Errorf("TCP %+v", st.TCP)
	}
	if st.Unmatched != 4 || len(st.Strangers) != 2 || st.Strangers[0] != (Source{netip.MustParseAddr("203.0.113.5"), 3}) {
		t.Errorf("unmatched %d, %v", st.Unmatched, st.Strangers)
	}
}

// If this fails, a flood of addresses hides the resolver that matters, or eats
// memory.
func TestFrequentStrangersStay(t *testing.T) {
	var table strangers
	frequent := netip.MustParseAddr("203.0.113.99")
	for i := range 100_000 {
		table.note(netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)}))
		if i%20 == 0 {
			table.note(frequent)
		}
	}
	for _, src := range table.top() {
		if src.Addr == frequent && src.Count >= 5000 {
			return
		}
	}
	t.Errorf("the frequent source is not among %v", table.top())
}

// If this fails, names at the limits of DNS, or with octets that no host has, are
// taken for malformed, or change on their way.
func TestExtremeNames(t *testing.T) {
	zone := "\x07example\x03lan\x00"
	room := maxName - len(zone)
	long := strings.Repeat("\x3f"+strings.Repeat("a", 63), 3)
	long += string(rune(room-len(long)-1)) + strings.Repeat("b", room-len(long)-1)
	s := lanServer(t)
	for name, labels := range map[string]string{
		"255 octets": long, "most labels": strings.Repeat("\x01a", room/2), "octets": "\x04\x00\xff.\\", "one letter": "\x01Z",
	} {
		msg := append(bytes.Clone(ask("example.lan.", dns.TypeA)[:headerLen]), labels+zone+"\x00\x01\x00\x01"...)
		for _, tcp := range []bool{false, true} {
			raw := s.Query(msg, netip.MustParseAddrPort("10.1.0.1:53"), tcp)
			if len(raw) < len(msg) || int(raw[3]&0xf) != dns.RcodeNameError || raw[2]&flagAA == 0 || !bytes.Equal(raw[headerLen:len(msg)], msg[headerLen:]) {
				t.Errorf("%s, TCP %v: %x", name, tcp, raw)
			}
		}
	}
	// One octet more is no name.
	over := append(bytes.Clone(ask("example.lan.", dns.TypeA)[:headerLen]), "\x01x"+long+zone+"\x00\x01\x00\x01"...)
	if m := exchange(t, s, "10.1.0.1", over, false); m == nil || m.Rcode != dns.RcodeFormatError {
		t.Errorf("a longer one: %v", m)
	}
}
