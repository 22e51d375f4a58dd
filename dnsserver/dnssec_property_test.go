package dnsserver

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

// drawZone draws the text of a small zone, in which wildcards, delegations, DNAMEs
// and CNAMEs meet in ways that nobody would write.
func drawZone(t *rapid.T) string {
	text := "p.test. 60 IN SOA ns.p.test. a.p.test. 1 60 60 600 30\np.test. 60 IN NS ns.p.test.\n"
	name := rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(1, 3).Draw(t, "labels") {
			b.WriteString(rapid.SampledFrom([]string{"a", "b", "*", "ns"}).Draw(t, "label") + ".")
		}
		return b.String() + "p.test."
	})
	for range rapid.IntRange(0, 8).Draw(t, "records") {
		owner, target := name.Draw(t, "owner"), name.Draw(t, "target")
		data := rapid.SampledFrom([]string{"A 10.0.0.1", "A 10.0.0.2", "TXT x", "CNAME " + target, "NS " + target, "DNAME " + target, "MX 1 " + target, "DS 1 13 2 " + strings.Repeat("ab", 32)}).Draw(t, "data")
		text += fmt.Sprintf("%s %d IN %s\n", owner, rapid.IntRange(0, 2).Draw(t, "ttl")*60, data)
	}
	return text
}

// If this fails, there is a zone of which some answer is a forgery to validators.
func TestEveryZoneIsProved(t *testing.T) {
	key := signingKey(t, "p.test", dns.ED25519)
	answers := 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawZone(t)
		var rrs []dns.RR
		p := dns.NewZoneParser(strings.NewReader(text), "", "")
		for rr, ok := p.Next(); ok; rr, ok = p.Next() {
			rrs = append(rrs, rr)
		}
		cfg := &Config{Zones: []Zone{{Name: "p.test", Records: rrs, DNSSEC: &Signing{Keys: []SigningKey{key}}}}}
		s, err := New(cfg, Options{})
		if err != nil {
			t.Skip("no such zone can be served")
		}
		keys, known := keysOf(cfg), []string{"p.test."}
		for _, rr := range rrs {
			known = append(known, rr.Header().Name)
		}
		for range 20 {
			q := rapid.SampledFrom(known).Draw(t, "name")
			for range rapid.IntRange(0, 2).Draw(t, "deeper") {
				q = rapid.SampledFrom([]string{"a.", "b.", "*.", "x."}).Draw(t, "label") + q
			}
			typ := rapid.SampledFrom(everyType).Draw(t, "type")
			m := new(dns.Msg)
			if err := m.Unpack(s.Query(askSigned(q, typ, rapid.Bool().Draw(t, "co")), netip.MustParseAddrPort("127.0.0.1:9"), true)); err != nil {
				t.Fatal(err)
			}
			if m.Rcode == dns.RcodeYXDomain {
				continue
			}
			if m.Rcode == dns.RcodeServerFailure {
				t.Fatalf("SERVFAIL for %s %s in\n%s", q, dns.Type(typ), text)
			}
			judge(t, keys, m, s.now())
			answers++
		}
	})
	if answers == 0 {
		t.Error("nothing was asked")
	}
}
