package config

import "github.com/miekg/dns"

// sameTTL gives the records of each set one TTL, the least, and warns: caches
// take a set as a whole (RFC 2181, section 5.2).
func (b *builder) sameTTL(t *zoneTable) {
	for _, list := range t.byName {
		least := make(map[uint16]record)
		for _, r := range list {
			h := r.rr.Header()
			first, met := least[h.Rrtype]
			if !met {
				least[h.Rrtype] = r
				continue
			}
			if ttl := first.rr.Header().Ttl; h.Ttl != ttl {
				b.warn(r.at, "the %s records of %q have different TTLs (%d here, %d at %s): the least is used for all", dns.TypeToString[h.Rrtype], trimDot(h.Name), h.Ttl, ttl, first.at)
				if h.Ttl < ttl {
					least[h.Rrtype] = r
				}
			}
		}
		for _, r := range list {
			h := r.rr.Header()
			h.Ttl = least[h.Rrtype].rr.Header().Ttl
		}
	}
}
