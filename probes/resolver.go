package probes

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// Resolver asks a site's resolver a question that it answers by itself (O3),
// over UDP and, where that brings nothing, over TCP as well, within one
// deadline. What does not belong to the question (a wrong ID, another question,
// garbage) is passed over, and the right answer waited for.
type Resolver struct {
	// Ask is the name; "" means "localhost.". Type is "A" or "AAAA"; "" means A.
	Ask, Type string
	// Port; 0 means 53.
	Port int
	// Expect lists the addresses of which the answer must consist. Empty means
	// that any well-formed response to our question will do.
	Expect []netip.Addr
}

// Probe implements [Prober].
func (p Resolver) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	c := p.probe(ctx, addr)
	c.Duration = time.Since(start)
	return c
}

func (p Resolver) probe(ctx context.Context, addr netip.Addr) sites.Check {
	at := newAttempt(ctx, addr)
	if at.timeout <= 0 {
		at.timeout = time.Second
	}
	q, packed, err := p.question()
	if err != nil {
		return unknown(CauseLocalConfig, "%v", err)
	}
	port := p.Port
	if port == 0 {
		port = 53
	}
	x := exchange{
		query: q, packed: packed, expect: p.Expect, timeout: at.timeout,
		server: netip.AddrPortFrom(addr, uint16(port)),
	}
	c, err := x.run(ctx)
	if err != nil {
		return at.failed(ctx, err)
	}
	return c
}

// question makes the query, with a random ID. The error is one of the
// configuration.
func (p Resolver) question() (*dns.Msg, []byte, error) {
	name, typ := p.Ask, p.Type
	if name == "" {
		name = "localhost."
	}
	if typ == "" {
		typ = "A"
	}
	rrtype, ok := dns.StringToType[strings.ToUpper(typ)]
	if !ok {
		return nil, nil, fmt.Errorf("ask for the type %q: no such type, use A or AAAA", typ)
	}
	q := new(dns.Msg)
	q.SetQuestion(dns.Fqdn(name), rrtype)
	packed, err := q.Pack()
	if err != nil {
		return nil, nil, fmt.Errorf("ask for the name %q: %w", name, err)
	}
	return q, packed, nil
}
