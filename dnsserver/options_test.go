package dnsserver

import (
	"encoding/binary"
	"testing"

	"github.com/miekg/dns"
)

// If this fails, who asks with an option that this server does not know gets FORMERR, as
// dig +zoneversion does (RFC 6891 section 6.1.2).
func TestUnknownOptionsAreIgnored(t *testing.T) {
	s := lanServer(t)
	for code := range uint16(70) {
		switch code {
		case dns.EDNS0NSID, dns.EDNS0SUBNET, dns.EDNS0COOKIE, dns.EDNS0TCPKEEPALIVE, dns.EDNS0PADDING:
			continue // these it knows
		}
		for n := range 4 {
			for _, qtype := range []uint16{dns.TypeA, dns.TypeANY} {
				msg := ask("mail.example.lan.", qtype, 1232)
				msg[len(msg)-1] = byte(4 + n)
				msg = binary.BigEndian.AppendUint16(msg, code)
				msg = binary.BigEndian.AppendUint16(msg, uint16(n))
				msg = append(msg, "\xff\xff\xff"[:n]...)
				if m := exchange(t, s, "10.1.0.1", msg, false); m.Rcode != dns.RcodeSuccess || len(m.Answer) != 1 {
					t.Errorf("option %d with %d octets: %s", code, n, dns.RcodeToString[m.Rcode])
				}
			}
		}
	}
}

// If this fails, whether a cookie is answered depends on which options stand before it.
func TestCookieBehindOtherOptions(t *testing.T) {
	s := lanServer(t)
	for _, qtype := range []uint16{dns.TypeA, dns.TypeANY} {
		msg := withOptions(t, qtype, &dns.EDNS0_EXPIRE{Code: dns.EDNS0EXPIRE, Empty: true}, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0102030405060708"})
		if m := exchange(t, s, "10.1.0.5", msg, false); len(cookieIn(m)) != 2*(clientCookie+serverCookie) {
			t.Errorf("type %d: %v", qtype, m)
		}
	}
}

// If this fails, a client that asks for a cookie and nothing else is told that it does
// not know the protocol (RFC 7873 section 5.4).
func TestCookieWithoutQuestion(t *testing.T) {
	s := lanServer(t)
	const cookie = "\x00\x0a\x00\x08clientsc"
	tests := []struct {
		name   string
		opt    string
		rcode  int
		answer bool // with a cookie
	}{
		{"a cookie", "\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00\x0c" + cookie, dns.RcodeSuccess, true},
		{"and NSID", "\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00\x10" + cookie + "\x00\x03\x00\x00", dns.RcodeSuccess, true},
		{"no cookie", "\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00\x00", dns.RcodeFormatError, false},
		{"half a cookie", "\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00\x08\x00\x0a\x00\x04clie", dns.RcodeFormatError, false},
		{"octets behind", "\x00\x00\x29\x10\x00\x00\x00\x00\x00\x00\x0c" + cookie + "more", dns.RcodeFormatError, true},
	}
	for _, tt := range tests {
		for _, tcp := range []bool{false, true} {
			msg := append([]byte{7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, tt.opt...)
			m := exchange(t, s, "10.1.0.5", msg, tcp)
			if m == nil || m.Rcode != tt.rcode || len(m.Question)+len(m.Answer)+len(m.Ns) > 0 || (cookieIn(m) != "") != tt.answer {
				t.Errorf("%s: %v", tt.name, m)
			}
		}
	}
}
