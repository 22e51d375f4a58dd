package dnsserver

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// probing is one question of the list in RFC 8906 section 8, with what an answer
// to it must look like.
type probing struct {
	name  string
	edit  func(*dns.Msg)
	rcode int
	// answer is how many records the answer has, -1 for any number.
	answer int
	opt    bool // the answer has an OPT record of version 0
	do     bool // with this bit
	tc     bool
}

// withOPT adds an OPT record.
func withOPT(version uint8, flags uint16, options ...dns.EDNS0) func(*dns.Msg) {
	return func(m *dns.Msg) {
		o := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT, Class: 1232}, Option: options}
		o.SetVersion(version)
		o.Hdr.Ttl |= uint32(flags)
		m.Extra = append(m.Extra, o)
	}
}

// probings are the questions, in our own words.
func probings() []probing {
	typed := func(t uint16) func(*dns.Msg) { return func(m *dns.Msg) { m.Question[0].Qtype = t } }
	unknown := &dns.EDNS0_LOCAL{Code: 100, Data: []byte("x")}
	cookie := &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: hex.EncodeToString([]byte("12345678"))}
	return []probing{
		{name: "a type that is there", edit: func(*dns.Msg) {}, answer: 1},
		{name: "a type that nobody knows", edit: typed(1000)},
		{name: "CD", edit: func(m *dns.Msg) { m.CheckingDisabled = true }, answer: 1},
		{name: "AD", edit: func(m *dns.Msg) { m.AuthenticatedData = true }, answer: 1},
		{name: "the reserved bit", edit: func(m *dns.Msg) { m.Zero = true }, answer: 1},
		{name: "RD", edit: func(m *dns.Msg) { m.RecursionDesired = true }, answer: 1},
		{name: "all of these", edit: func(m *dns.Msg) {
			m.CheckingDisabled, m.AuthenticatedData, m.Zero, m.RecursionDesired = true, true, true, true
		}, answer: 1},
		{name: "an opcode that nobody knows", edit: func(m *dns.Msg) { m.Opcode = 15 }, rcode: dns.RcodeNotImplemented},
		{name: "EDNS", edit: withOPT(0, 0), answer: 1, opt: true},
		{name: "EDNS of a later version", edit: withOPT(100, 0), rcode: dns.RcodeBadVers, opt: true},
		{name: "an option that nobody knows", edit: withOPT(0, 0, unknown), answer: 1, opt: true},
		{name: "a flag that nobody knows", edit: withOPT(0, 0x0040), answer: 1, opt: true},
		{name: "a later version with such a flag", edit: withOPT(100, 0x0040), rcode: dns.RcodeBadVers, opt: true},
		{name: "a later version with such an option", edit: withOPT(100, 0, unknown), rcode: dns.RcodeBadVers, opt: true},
		{name: "DO", edit: withOPT(0, 0x8000), answer: 1, opt: true, do: true},
		{name: "a later version with DO", edit: withOPT(100, 0x8000), rcode: dns.RcodeBadVers, opt: true, do: true},
		{name: "more than 512 octets hold", edit: func(m *dns.Msg) {
			m.Question[0] = dns.Question{Name: "much.example.lan.", Qtype: dns.TypeTXT, Qclass: dns.ClassINET}
			withOPT(0, 0x8000)(m)
			m.IsEdns0().SetUDPSize(512)
		}, answer: -1, opt: true, do: true, tc: true},
		{name: "several known options", edit: withOPT(
			0, 0, &dns.EDNS0_NSID{Code: dns.EDNS0NSID}, cookie, &dns.EDNS0_EXPIRE{Code: dns.EDNS0EXPIRE, Empty: true},
			&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: 0, Address: []byte{0, 0, 0, 0}},
		), answer: 1, opt: true},
	}
}

// check holds an answer against what is wanted.
func (p *probing) check(t *testing.T, in, m *dns.Msg, tcp bool) {
	t.Helper()
	if m == nil {
		t.Fatal("no answer")
	}
	fail := func(format string, args ...any) { t.Errorf(format+":\n%s", append(args, m)...) }
	if m.Id != in.Id || !m.Response || m.Opcode != in.Opcode || m.Rcode != p.rcode {
		fail("ID, QR, opcode or rcode")
	}
	if m.Authoritative != (p.rcode == dns.RcodeSuccess) {
		fail("AA")
	}
	if m.RecursionAvailable || m.Zero || m.AuthenticatedData || m.CheckingDisabled || m.RecursionDesired != in.RecursionDesired {
		fail("a bit that means nothing here is set, or RD is not the question's")
	}
	if m.Truncated != (p.tc && !tcp) {
		fail("TC")
	}
	if len(m.Question) != 1 || m.Question[0] != in.Question[0] {
		fail("another question")
	}
	if p.answer >= 0 && len(m.Answer) != p.answer {
		fail("%d answers, want %d", len(m.Answer), p.answer)
	}
	o := m.IsEdns0()
	if (o != nil) != p.opt {
		fail("OPT record %v, want %v", o != nil, p.opt)
	}
	if o == nil {
		return
	}
	if o.Version() != 0 || o.Do() != p.do || o.Hdr.Ttl&0x7fff != 0 {
		fail("version or flags of the OPT record")
	}
	for _, opt := range o.Option {
		if c := opt.Option(); c != dns.EDNS0COOKIE {
			fail("option %d", c)
		}
	}
}

// If this fails, resolvers take this server for broken, or treat it as one that
// knows no EDNS.
func TestBehavesAsOthersExpect(t *testing.T) {
	cfg := lanConfig(t)
	for i := range 12 {
		cfg.Zones[0].Records = append(cfg.Zones[0].Records, records(t, fmt.Sprintf("much.example.lan. 60 IN TXT \"%02d %s\"", i, strings.Repeat("x", 60)))...)
	}
	s := lanServerOf(t, cfg)
	for _, p := range probings() {
		for _, tcp := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TCP %v", p.name, tcp), func(t *testing.T) {
				in := new(dns.Msg)
				in.SetQuestion("example.lan.", dns.TypeSOA)
				in.RecursionDesired = false
				p.edit(in)
				msg, err := in.Pack()
				if err != nil {
					t.Fatal(err)
				}
				p.check(t, in, exchange(t, s, "10.1.0.5", msg, tcp), tcp)
			})
		}
	}
}
