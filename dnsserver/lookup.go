package dnsserver

import (
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// Found is what a name gives to the clients of a site.
type Found struct {
	// Rcode is the DNS one, 0 for success.
	Rcode int
	// Addresses, all of them, in the pool's order.
	Addresses []netip.Addr
	// TTL of the answer; the least of a chain.
	TTL time.Duration
	// Site and Pool are those that the addresses come from; empty for the
	// zone's own records.
	Site, Pool string
}

// Lookup says what clients of a site get for a name and a type, without the
// limit of addresses and the rotation that the wire has. A site that is not
// known gets what clients of no site get when there is no default.
func (s *Server) Lookup(site, name string, qtype uint16) Found {
	sn := s.snap.Load()
	index, ok := sn.siteIndex[site]
	if !ok {
		index = none
	}
	r := resolver{snap: sn, site: func() int32 { return index }, qtype: qtype}
	out := r.resolve(dns.Fqdn(name))
	f := Found{Rcode: out.rcode}
	if out.pool != nil {
		f.Site, f.Pool = out.pool.key.site, out.pool.key.pool
	}
	ttl := uint32(1<<32 - 1)
	for _, rr := range out.answer {
		ttl = min(ttl, rr.Header().Ttl)
		var a netip.Addr
		switch rr := rr.(type) {
		case *dns.A:
			a, _ = netip.AddrFromSlice(rr.A.To4())
		case *dns.AAAA:
			a, _ = netip.AddrFromSlice(rr.AAAA.To16())
		default:
			continue
		}
		f.Addresses = append(f.Addresses, a)
	}
	if len(out.answer) > 0 {
		f.TTL = time.Duration(ttl) * time.Second
	}
	return f
}

// SiteOf says which site a client belongs to, and whether one of the views knows
// it: others belong to the default site. Without views nobody is unknown.
func (s *Server) SiteOf(client netip.Addr) (site string, known bool) {
	sn := s.snap.Load()
	i, known := sn.siteOf(client.Unmap())
	if i == none {
		return "", known
	}
	return sn.siteNames[i], known
}
