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
