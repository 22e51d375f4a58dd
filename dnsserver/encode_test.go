package dnsserver

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// If this fails, a record of a zone file is answered as another one, or an answer
// with it cannot be read.
func FuzzEncode(f *testing.F) {
	for _, text := range []string{
		"x.example.lan. 300 IN A 10.0.0.1", "x.example.lan. 300 IN AAAA fd00::1", "x.example.lan. 300 IN MX 10 mail.example.lan.",
		"x.example.lan. 300 IN NS ns.Example.LAN.", "x.example.lan. 300 IN PTR elsewhere.test.", "x.example.lan. 300 IN PTR example.lan.",
		"x.example.lan. 300 IN TXT \"first\" \"\"", "x.example.lan. 300 IN CNAME y.example.lan.", "x.example.lan. 300 IN SRV 1 2 3 mail.example.lan.",
		"x.example.lan. 300 IN SOA ns.example.lan. admin.elsewhere.test. 1 2 3 4 5", "x.example.lan. 300 IN HTTPS 1 . alpn=h2 ipv4hint=10.0.0.1",
		"x.example.lan. 300 IN CAA 0 issue \"ca.test\"", "x.example.lan. 300 IN TYPE65280 \\# 3 010203", "x.example.lan. 300 IN NAPTR 1 2 \"s\" \"x\" \"\" y.example.lan.",
	} {
		rr, err := dns.NewRR(text)
		if err != nil {
			f.Fatal(err)
		}
		packed, owner, err := packFull(rr)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(rr.Header().Rrtype, packed[owner+10:])
	}
	f.Add(dns.TypeMX, []byte{0, 1, 0}) // the root
	f.Fuzz(encodeOne)
}

// encodeOne holds a record of a type and data against what is answered of it.
func encodeOne(t *testing.T, rrtype uint16, data []byte) {
	const owner, apex = "\x01x\x07example\x03lan\x00", "\x07example\x03lan\x00"
	if isMeta(rrtype) || rrtype == 0 || len(data) > 4096 {
		return
	}
	raw := append([]byte(owner), byte(rrtype>>8), byte(rrtype), 0, dns.ClassINET, 0, 0, 1, 44, byte(len(data)>>8), byte(len(data)))
	rr, end, err := dns.UnpackRR(append(raw, data...), 0)
	if err != nil || end != len(raw)+len(data) {
		return
	}
	made, err := newRRset([]dns.RR{rr}, apex)
	if err != nil {
		return // told of when the zone is loaded
	}
	packed, _, err := packFull(rr)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := dns.UnpackRR(packed, 0)
	if err != nil {
		t.Fatal(err)
	}
	same := func(got dns.RR) bool {
		a, b := got.String(), want.String()
		if _, names := namesIn(rrtype); names > 0 {
			return strings.EqualFold(a, b) // the apex is written as the question has it
		}
		return a == b
	}
	if c, ok := rr.(*dns.CNAME); ok {
		if made.target, err = wireName(c.Target); err != nil {
			t.Fatal(err)
		}
	}
	s := set(made.write(nil))
	if s.size() != len(s) {
		t.Fatalf("%d octets, told as %d", len(s), s.size())
	}
	if got := s.records(owner, apex); len(got) != 1 || !same(got[0]) {
		t.Fatalf("slow: %v, want %v", got, want)
	}
	msg := append(make([]byte, headerLen), owner...)
	msg[2], msg[5], msg[7] = flagQR, 1, 1
	msg = append(msg, byte(rrtype>>8), byte(rrtype), 0, dns.ClassINET)
	start := len(msg)
	msg = append(msg, make([]byte, s.bodyLen())...)
	s.put(msg[start:], headerLen, headerLen+len(owner)-len(apex))
	m := new(dns.Msg)
	if err := m.Unpack(msg); err != nil || len(m.Answer) != 1 || !same(m.Answer[0]) {
		t.Fatalf("hot: %v, %v, want %v", m.Answer, err, want)
	}
}
