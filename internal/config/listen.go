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
		b.servable(v.Value)
		for _, first := range list[:i] {
			if dnsserver.Overlap(v.V, first.V) && (v.V != first.V || v.key != first.key) { // one that stands twice is a fault of its own
				b.fault(v.At, "%s cannot be served beside %s in %s (%s), expected another address or port", v.V, first.V, first.key, first.At)
				break
			}
		}
	}
}

// servable refuses addresses that no start could be asked at.
func (b *builder) servable(v Value[netip.AddrPort]) {
	switch a := v.V.Addr(); {
	case a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		b.fault(v.At, "found %s, which is not the address of one machine: expected one of this host, or 0.0.0.0 or [::] for all", a)
	case a.Is6() && a.IsLinkLocalUnicast() && a.Zone() == "":
		b.fault(v.At, "found the link-local address %s without its interface, expected it behind the address, as in [%s%%eth0]:%d", a, a, v.V.Port())
	}
}
