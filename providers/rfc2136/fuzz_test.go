package rfc2136

import (
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, what a server answers ends the controller, or gives a name addresses
// that are another's or of another family.
func FuzzAnswer(f *testing.F) {
	for _, records := range [][]string{
		{"app.example.lan. 30 IN A 10.1.0.11", "APP.example.lan. 30 IN A 10.1.0.12", "other.example.lan. 30 IN A 10.1.0.13"},
		{"app.example.lan. 30 IN AAAA fd00::1", "app.example.lan. 30 IN AAAA ::ffff:10.1.0.1"},
		{"app.example.lan. 30 IN CNAME elsewhere.example.", "example.lan. 30 IN DNAME example.org."},
		{`_dnsteer.app.example.lan. 60 IN TXT "managed-by=dnsteer/hq" "10.1.0.11"`, `_dnsteer.app.example.lan. 60 IN TXT "managed-by=dnsteer/hq" "fe80::1%eth0"`},
	} {
		m := new(dns.Msg).SetQuestion("app.example.lan.", dns.TypeA)
		for _, text := range records {
			rr, err := dns.NewRR(text)
			if err != nil {
				f.Fatal(err)
			}
			m.Answer = append(m.Answer, rr)
		}
		b, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	p := New(Config{Server: "10.3.0.1:53", Zone: "example.lan", Mark: "hq"})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := new(dns.Msg)
		if m.Unpack(data) != nil {
			return
		}
		ours := p.marks.read(m.Answer)
		for _, family := range []sites.Family{sites.IPv4, sites.IPv6} {
			key := providers.Key{Name: "app.example.lan", Family: family}
			entries, shadow := p.entries(key, m.Answer, ours)
			if shadow != "" && len(entries) > 0 {
				t.Errorf("addresses behind what stands in their place: %v", entries)
			}
			for _, e := range entries {
				if a, err := netip.ParseAddr(e.ID); err != nil || a != e.Addr || e.Key() != key || e.Marked != ours[e.Addr] {
					t.Errorf("%+v is read for %v", e, key)
				}
			}
		}
	})
}
