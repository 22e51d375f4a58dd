package probes

import (
	"context"
	"fmt"
	"net"
	"net/netip"
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
	// Tell, if not nil, is told the addresses of each response where Expect is
	// set; none for one that is an error.
	Tell func(found []netip.Addr)
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
	x := exchange{server: serverOf(addr, p.Port), timeout: at.timeout, judge: p.judge, whole: len(p.Expect) > 0}
	name := p.Ask
	if name == "" {
		name = "localhost."
	}
	if err := x.question(name, p.Type); err != nil {
		return unknown(CauseLocalConfig, "%v", err)
	}
	c, err := x.run(ctx)
	if err != nil {
		return at.failed(ctx, err)
	}
	return c
}

// judge holds a response against what is expected.
func (p Resolver) judge(m *dns.Msg) sites.Check {
	rcode := rcodeName(m.Rcode)
	if len(p.Expect) == 0 {
		return up("answers with " + rcode)
	}
	found := addresses(m)
	if m.Rcode != dns.RcodeSuccess {
		found = nil
	}
	if p.Tell != nil {
		p.Tell(found)
	}
	if m.Rcode != dns.RcodeSuccess {
		return down(CauseDNSRcode, "answers with %s where addresses of ours are expected", rcode)
	}
	return judgeAddresses(found, p.Expect)
}

func addresses(m *dns.Msg) []netip.Addr {
	var found []netip.Addr
	for _, rr := range m.Answer {
		var ip net.IP
		switch rr := rr.(type) {
		case *dns.A:
			ip = rr.A
		case *dns.AAAA:
			ip = rr.AAAA
		}
		if a, ok := netip.AddrFromSlice(ip); ok {
			found = append(found, a.Unmap())
		}
	}
	return found
}

// judgeAddresses holds what was answered against what may be.
func judgeAddresses(found, expect []netip.Addr) sites.Check {
	if len(found) == 0 {
		return down(CauseDNSAnswer, "answers without an address")
	}
	for _, a := range found {
		ours := false
		for _, e := range expect {
			ours = ours || e.Unmap() == a
		}
		if !ours {
			return down(CauseDNSAnswer, "answers %s, which is none of the expected addresses", a)
		}
	}
	return up(fmt.Sprintf("answers %s", found[0]))
}
