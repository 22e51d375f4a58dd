package dnsserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// soa is the negative answer's record, for the TTL given.
func soa(ttl string) []string {
	return []string{"example.lan. " + ttl + " SOA ns1.example.lan. admin.example.lan. 1700000000 3600 600 86400 900"}
}

// If this fails, resolvers get wrong records, or a wrong word on whether a name
// exists, and keep it.
func TestAnswers(t *testing.T) {
	sub := []string{"sub.example.lan. 300 NS ns.sub.example.lan.", "sub.example.lan. 300 NS ns1.example.lan."}
	subGlue := []string{
		"ns.sub.example.lan. 300 A 10.0.9.1", "ns.sub.example.lan. 300 AAAA fd00:9::1",
		"ns1.example.lan. 300 A 10.0.0.53", "ns1.example.lan. 300 AAAA fd00::53",
	}
	tests := []struct {
		name, ask string
		rcode     int
		notAA     bool
		an, ns    []string
		ar        []string
	}{
		{name: "an address", ask: "mail.example.lan. A", an: []string{"mail.example.lan. 300 A 10.0.0.25"}},
		{name: "letter case of zone and question", ask: "pRiNtEr.EXAMPLE.lan. A", an: []string{"pRiNtEr.EXAMPLE.lan. 300 A 10.0.0.9"}},
		{name: "apex NS", ask: "example.lan. NS", an: []string{"example.lan. 300 NS ns1.example.lan.", "example.lan. 300 NS ns.elsewhere.test."}},
		{name: "SOA with the live serial", ask: "example.lan. SOA", an: []string{strings.Replace(soa("900")[0], " 900 SOA", " 3600 SOA", 1)}},
		{name: "several strings", ask: "text.example.lan. TXT", an: []string{`text.example.lan. 300 TXT "first" "second"`}},
		{name: "HTTPS", ask: "svcb.example.lan. HTTPS", an: []string{`svcb.example.lan. 300 HTTPS 1 . alpn="h2"`}},
		{name: "unknown type as data", ask: "odd.example.lan. TYPE65280", an: []string{`odd.example.lan. 300 TYPE65280 \# 3 010203`}},
		{name: "no data", ask: "mail.example.lan. AAAA", ns: soa("900")},
		{name: "no data of an unknown type", ask: "mail.example.lan. TYPE65280", ns: soa("900")},
		{name: "no name", ask: "nothing.example.lan. A", rcode: dns.RcodeNameError, ns: soa("900")},
		{name: "empty non-terminal", ask: "b.c.example.lan. A", ns: soa("900")},
		{name: "below an empty non-terminal", ask: "x.b.c.example.lan. A", rcode: dns.RcodeNameError, ns: soa("900")},
		{name: "outside", ask: "example.org. A", rcode: dns.RcodeRefused, notAA: true},
		{name: "above", ask: "lan. A", rcode: dns.RcodeRefused, notAA: true},
		{name: "the root", ask: ". NS", rcode: dns.RcodeRefused, notAA: true},

		{name: "wildcard", ask: "x.wild.example.lan. A", an: []string{"x.wild.example.lan. 300 A 10.0.0.77"}},
		{name: "wildcard over several labels", ask: "x.y.wild.example.lan. A", an: []string{"x.y.wild.example.lan. 300 A 10.0.0.77"}},
		{name: "wildcard no data", ask: "x.wild.example.lan. TXT", ns: soa("900")},
		{name: "a name beside the wildcard hides it", ask: "host.wild.example.lan. A", ns: soa("900")},
		{name: "and what is below that name", ask: "x.host.wild.example.lan. A", rcode: dns.RcodeNameError, ns: soa("900")},
		{name: "the wildcard's parent", ask: "wild.example.lan. A", ns: soa("900")},
		{name: "the star itself", ask: "*.wild.example.lan. A", an: []string{"*.wild.example.lan. 300 A 10.0.0.77"}},
		{name: "wildcard CNAME", ask: "q.cwild.example.lan. A", an: []string{"q.cwild.example.lan. 300 CNAME mail.example.lan.", "mail.example.lan. 300 A 10.0.0.25"}},

		{name: "CNAME chain", ask: "chain.example.lan. A", an: []string{
			"chain.example.lan. 300 CNAME alias.example.lan.", "alias.example.lan. 300 CNAME mail.example.lan.", "mail.example.lan. 300 A 10.0.0.25",
		}},
		{name: "CNAME asked for", ask: "chain.example.lan. CNAME", an: []string{"chain.example.lan. 300 CNAME alias.example.lan."}},
		{name: "CNAME without the type", ask: "alias.example.lan. AAAA", an: []string{"alias.example.lan. 300 CNAME mail.example.lan."}, ns: soa("900")},
		{name: "CNAME to nowhere", ask: "lost.example.lan. A", rcode: dns.RcodeNameError, an: []string{"lost.example.lan. 300 CNAME nothing.example.lan."}, ns: soa("900")},
		{name: "CNAME out of our zones", ask: "away.example.lan. A", an: []string{"away.example.lan. 300 CNAME www.elsewhere.test."}},
		{name: "CNAME loop", ask: "loop1.example.lan. A", an: []string{"loop1.example.lan. 300 CNAME loop2.example.lan.", "loop2.example.lan. 300 CNAME loop1.example.lan."}},
		{name: "CNAME to a service", ask: "toservice.example.lan. A", an: []string{
			"toservice.example.lan. 300 CNAME app.example.lan.", "app.example.lan. 30 A 10.2.0.11",
		}},
		{name: "CNAME into a zone inside", ask: "innext.example.lan. A", an: []string{
			"innext.example.lan. 300 CNAME www.inner.example.lan.", "www.inner.example.lan. 60 A 10.0.8.2",
		}},
		{name: "CNAME into a delegation", ask: "intosub.example.lan. A", an: []string{"intosub.example.lan. 300 CNAME host.sub.example.lan."}, ns: sub, ar: subGlue},

		{name: "referral", ask: "host.sub.example.lan. A", notAA: true, ns: sub, ar: subGlue},
		{name: "referral at the cut", ask: "sub.example.lan. NS", notAA: true, ns: sub, ar: subGlue},
		{name: "glue is not data", ask: "ns.sub.example.lan. A", notAA: true, ns: sub, ar: subGlue},
		{name: "DS at the cut", ask: "signed.example.lan. DS", an: []string{
			"signed.example.lan. 300 DS 4711 13 2 0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF",
		}},
		{name: "no DS at the cut", ask: "sub.example.lan. DS", ns: soa("900")},
		{name: "DS below the cut", ask: "x.sub.example.lan. DS", notAA: true, ns: sub, ar: subGlue},
		{name: "DS of a zone inside is asked above", ask: "inner.example.lan. DS", ns: soa("900")},
		{name: "the apex of a zone inside", ask: "inner.example.lan. NS", an: []string{"inner.example.lan. 60 NS ns.inner.example.lan."}},

		{name: "DNAME", ask: "moved.example.lan. DNAME", an: []string{"moved.example.lan. 300 DNAME mail.example.lan."}},
		{name: "beside a DNAME", ask: "moved.example.lan. TXT", an: []string{`moved.example.lan. 300 TXT "beside the DNAME"`}},
		{name: "below a DNAME", ask: "x.moved.example.lan. A", rcode: dns.RcodeNameError, ns: soa("900"), an: []string{
			"moved.example.lan. 300 DNAME mail.example.lan.", "x.moved.example.lan. 300 CNAME x.mail.example.lan.",
		}},
		{name: "hidden by a DNAME", ask: "under.moved.example.lan. CNAME", an: []string{
			"moved.example.lan. 300 DNAME mail.example.lan.", "under.moved.example.lan. 300 CNAME under.mail.example.lan.",
		}},

		{name: "a service", ask: "app.example.lan. A", an: []string{"app.example.lan. 30 A 10.2.0.11"}},
		{name: "a service's wildcard", ask: "x.apps.example.lan. A", an: []string{"x.apps.example.lan. 30 A 10.2.0.11"}},
		{name: "a service without the family, kept a minute at most", ask: "app.example.lan. AAAA", ns: soa("60")},
		{name: "HTTPS of a service", ask: "app.example.lan. HTTPS", ns: soa("60")},
		{name: "a wildcard service without the family", ask: "x.apps.example.lan. AAAA", ns: soa("60")},
		{name: "a service of another site", ask: "tv.example.lan. A", an: []string{"tv.example.lan. 30 A 10.1.0.21"}},
		{name: "nobody has said yet", ask: "unset.example.lan. A", rcode: dns.RcodeServerFailure, notAA: true},

		{name: "ANY gives one set", ask: "mail.example.lan. ANY", an: []string{"mail.example.lan. 300 A 10.0.0.25"}},
		{name: "ANY of a CNAME", ask: "alias.example.lan. ANY", an: []string{"alias.example.lan. 300 CNAME mail.example.lan."}},
		{name: "ANY of a service", ask: "app.example.lan. ANY", an: []string{`app.example.lan. 60 HINFO "RFC8482" ""`}},
		{name: "ANY of no name", ask: "nothing.example.lan. ANY", rcode: dns.RcodeNameError, ns: soa("900")},
		{name: "RRSIG is no way round", ask: "mail.example.lan. RRSIG", ns: soa("900")},
	}
	s := newServer(t, lanConfig(t))
	// Not by SetAnswer, so that the serial is known.
	s.pools[poolKey{"berlin", "default"}].body.Store(newBody(answer("10.1.0.11")))
	s.pools[poolKey{"hamburg", "default"}].body.Store(newBody(answer("10.2.0.11")))
	s.pools[poolKey{"berlin", "streaming"}].body.Store(newBody(answer("10.1.0.21")))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, typ, _ := strings.Cut(tt.ask, " ")
			qtype, ok := dns.StringToType[typ]
			if !ok {
				qtype = 65280
			}
			m := exchange(t, s, "192.0.2.1", ask(name, qtype, 1232), false)
			if m == nil {
				t.Fatal("no answer")
			}
			if m.Rcode != tt.rcode || m.Authoritative == tt.notAA || m.Truncated {
				t.Errorf("rcode %s, AA %t, TC %t", dns.RcodeToString[m.Rcode], m.Authoritative, m.Truncated)
			}
			if m.Id != 4711 || !m.Response || !m.RecursionDesired || m.RecursionAvailable || m.Question[0].Name != name {
				t.Errorf("header or question are not those of an answer: %v", m)
			}
			for _, d := range []string{
				cmp.Diff(tt.an, brief(m.Answer)), cmp.Diff(tt.ns, brief(m.Ns)), cmp.Diff(tt.ar, brief(m.Extra)),
			} {
				if d != "" {
					t.Errorf("-want +got\n%s", d)
				}
			}
		})
	}
}

// If this fails, large sets are cut in half, or never reach clients that can
// take them.
func TestTruncation(t *testing.T) {
	cfg := lanConfig(t)
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "big.example.lan. 30 IN TXT \"%02d%s\"\n", i, strings.Repeat("x", 97))
	}
	for i := range 4 {
		fmt.Fprintf(&b, "middle.example.lan. 30 IN TXT \"%d%s\"\n", i, strings.Repeat("y", 200))
	}
	for i := range 6 { // 1,327 octets with EDNS
		fmt.Fprintf(&b, "over.example.lan. 30 IN TXT \"%d%s\"\n", i, strings.Repeat("z", 200))
	}
	cfg.Zones[0].Records = append(cfg.Zones[0].Records, records(t, b.String())...)
	s := newServer(t, cfg)
	tests := []struct {
		name   string
		ask    []byte
		tcp    bool
		tc     bool
		an     int
		octets int
	}{
		{"without EDNS", ask("middle.example.lan.", dns.TypeTXT), false, true, 0, 512},
		{"EDNS below 512 counts as 512", ask("middle.example.lan.", dns.TypeTXT, 0), false, true, 0, 512},
		{"EDNS 1232", ask("middle.example.lan.", dns.TypeTXT, 1232), false, false, 4, 1232},
		{"EDNS above 1232 counts as 1232", ask("big.example.lan.", dns.TypeTXT, 65535), false, true, 0, 1232},
		{"a little more than 1232", ask("over.example.lan.", dns.TypeTXT, 4096), false, true, 0, 1232},
		{"TCP", ask("big.example.lan.", dns.TypeTXT), true, false, 40, 65535},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := exchange(t, s, "192.0.2.1", tt.ask, tt.tcp)
			if m.Truncated != tt.tc || len(m.Answer) != tt.an || m.Len() > tt.octets && !tt.tcp || !m.Authoritative {
				t.Errorf("TC %t, %d records, %d octets, AA %t", m.Truncated, len(m.Answer), m.Len(), m.Authoritative)
			}
		})
	}
}
