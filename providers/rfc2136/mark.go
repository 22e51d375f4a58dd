package rfc2136

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// markTTL is that of the marks, in seconds: nobody but this program reads them.
const markTTL = 60

// marks are TXT records beside the names that say which addresses are ours:
// "managed-by=dnsteer/hq" and the address, one record for each.
type marks struct{ instance string }

// owner gives the name that bears the marks of a host, fully qualified. That of
// a wildcard is a name of its own.
func (marks) owner(host string) string {
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		return dns.Fqdn("_dnsteer._any." + rest)
	}
	return dns.Fqdn("_dnsteer." + host)
}

func (k marks) word() string { return "managed-by=dnsteer/" + k.instance }

func (k marks) record(owner string, a netip.Addr) dns.RR {
	return &dns.TXT{
		Hdr: dns.RR_Header{Name: owner, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: markTTL},
		Txt: []string{k.word(), a.String()},
	}
}

// read gives the addresses that the marks name. Those of other controllers and
// what else stands there are left alone.
func (k marks) read(answer []dns.RR) map[netip.Addr]bool {
	ours := make(map[netip.Addr]bool)
	for _, rr := range answer {
		txt, ok := rr.(*dns.TXT)
		if !ok || len(txt.Txt) != 2 || txt.Txt[0] != k.word() {
			continue
		}
		if a, err := netip.ParseAddr(txt.Txt[1]); err == nil {
			ours[a] = true
		}
	}
	return ours
}
