package config

import "net/netip"

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
			if collide(v.V, first.V) && (v.V != first.V || v.key != first.key) { // one that stands twice is a fault of its own
				b.fault(v.At, "%s cannot be served beside %s in %s (%s), expected another address or port", v.V, first.V, first.key, first.At)
				break
			}
		}
	}
}

// collide says whether two addresses are the same or one is the other's wildcard. Ports
// of 0 take free ones.
func collide(x, y netip.AddrPort) bool {
	if x.Port() != y.Port() || x.Port() == 0 || x.Addr().Is4() != y.Addr().Is4() {
		return false
	}
	return x.Addr() == y.Addr() || x.Addr().IsUnspecified() || y.Addr().IsUnspecified()
}
