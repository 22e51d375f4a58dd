package dnsserver

import (
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

// If this fails, a zone two levels inside another one is gone for resolvers that have
// asked for the name between them, or is said to lie elsewhere than below what is there.
func TestZoneFarInsideAnother(t *testing.T) {
	const apex = "\n$TTL 60\n@ IN SOA ns admin 7 3600 600 86400 900\n@ IN NS ns.elsewhere.test.\n"
	tests := []struct{ name, between, answer, ns string }{
		{"a delegation", "b IN NS ns.elsewhere.test.", "", "b.lan. 60 NS ns.elsewhere.test."},
		{"below a delegation", "x.a.b IN A 10.0.0.1\nb IN NS ns.elsewhere.test.", "", "b.lan. 60 NS ns.elsewhere.test."},
		{"a DNAME", "b IN DNAME elsewhere.test.", "b.lan. 60 DNAME elsewhere.test.", ""},
		{"a name", "b IN A 10.0.0.1", "", "lan. 60 SOA ns.lan. admin.lan. 7 3600 600 86400 900"},
		{"nothing", "c IN A 10.0.0.1", "", "lan. 60 SOA ns.lan. admin.lan. 7 3600 600 86400 900"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, &Config{Zones: []Zone{
				{Name: "lan", Records: records(t, "$ORIGIN lan."+apex+tt.between)},
				{Name: "a.b.lan", Records: records(t, "$ORIGIN a.b.lan."+apex+"www IN A 10.0.0.7")},
			}})
			for _, name := range []string{"a.b.lan.", "b.lan.", "www.a.b.lan.", "c.b.lan."} {
				for _, qtype := range []uint16{dns.TypeDS, dns.TypeA, dns.TypeNS} {
					if hot, slow := bothWays(s, ask(name, qtype), netip.MustParseAddr("10.1.0.1"), 7, false); hot != nil {
						compare(t, hot, slow)
					}
				}
			}
			if m := exchange(t, s, "10.1.0.1", ask("b.lan.", dns.TypeTXT), false); m.Rcode != dns.RcodeSuccess {
				t.Errorf("b.lan does not exist, and so nothing below it:\n%v", m)
			}
			m := exchange(t, s, "10.1.0.1", ask("a.b.lan.", dns.TypeDS), false)
			answer, ns := append(brief(m.Answer), ""), append(brief(m.Ns), "")
			if answer[0] != tt.answer || ns[0] != tt.ns || m.Authoritative == (ns[0] != "" && tt.ns[0] == 'b') {
				t.Errorf("asked for its DS records:\n%v", m)
			}
		})
	}
}
