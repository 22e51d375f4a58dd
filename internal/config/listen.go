package config

import (
	"net/netip"

	"github.com/dnsteer/dnsteer/dnsserver"
)

// apart refuses addresses that cannot be served beside each other: the same one for DNS
// and HTTP, as DNS is served over TCP too, and one beside its wildcard.
func (b *builder) apart() {
	type taken struct {
		key string
		Value[netip.AddrPort]
	}
	var list []taken
	if k := b.file.DNS; k != nil {
		for _, v := range k.Listen {
			list = append(list, taken{"dns.listen", v})
		}
	}
	if k := b.file.HTTP; k != nil {
		for _, v := range k.Listen {
			v.At = v.At.or(k.At)
			list = append(list, taken{"http.listen", v})
		}
	}
	for i, v := range list {
		for _, first := range list[:i] {
			if dnsserver.Overlap(v.V, first.V) && (v.V != first.V || v.key != first.key) { // one that stands twice is a fault of its own
				b.fault(v.At, "%s cannot be served beside %s in %s (%s), expected another address or port", v.V, first.V, first.key, first.At)
				break
			}
		}
	}
}
