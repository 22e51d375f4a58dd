package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/miekg/dns"
)

// askAddresses asks a DNS server for the addresses of a name, over UDP and, where
// the answer is cut, over TCP.
func askAddresses(ctx context.Context, server netip.AddrPort, name string, v6 bool) ([]netip.Addr, error) {
	qtype := dns.TypeA
	if v6 {
		qtype = dns.TypeAAAA
	}
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), qtype)
	c := dns.Client{}
	r, _, err := c.ExchangeContext(ctx, q, server.String())
	if err == nil && r.Truncated {
		c.Net = "tcp"
		r, _, err = c.ExchangeContext(ctx, q, server.String())
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", server, name, err)
	}
	if r.Rcode != dns.RcodeSuccess && r.Rcode != dns.RcodeNameError {
		return nil, fmt.Errorf("%s answers %s for %s", server, dns.RcodeToString[r.Rcode], name)
	}
	var list []netip.Addr
	for _, rr := range r.Answer {
		var ip net.IP
		switch rr := rr.(type) {
		case *dns.A:
			ip = rr.A.To4()
		case *dns.AAAA:
			ip = rr.AAAA.To16()
		}
		if a, ok := netip.AddrFromSlice(ip); ok {
			list = append(list, a)
		}
	}
	return list, nil
}
