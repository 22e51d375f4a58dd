package probes

import (
	"context"
	"net/netip"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// DNS asks a DNS server for a record set and holds the answer against what is
// expected.
type DNS struct {
	// Port; 0 means 53.
	Port int
	// Server is who is asked; the zero Addr means the probed address.
	Server netip.Addr
	// Name and Type of the question; Type "" means A.
	Name, Type string
	// Rcode is the response code that is expected; "" means NOERROR.
	Rcode string
	// Values must all be among the answer's records of the type, each written
	// as in a zone file. Empty expects none in particular.
	Values []string
}

// Probe implements [Prober].
func (p DNS) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	if p.Server.IsValid() {
		addr = p.Server
	}
	c := Resolver{Ask: p.Name, Type: p.Type, Port: p.Port}.probe(ctx, addr)
	c.Duration = time.Since(start)
	return c
}
