package probes

import (
	"context"
	"net/netip"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// TCP asks whether a connection to a port is accepted. Nothing is sent on it;
// it is closed by a reset, so that thousands of probes leave no port waiting.
type TCP struct {
	Port int // 1 to 65535
}

// Probe implements [Prober].
func (p TCP) Probe(ctx context.Context, addr netip.Addr) sites.Check {
	start := time.Now()
	c := p.probe(ctx, addr)
	c.Duration = time.Since(start)
	return c
}

func (p TCP) probe(ctx context.Context, addr netip.Addr) sites.Check {
	at := newAttempt(ctx, addr)
	to := netip.AddrPortFrom(addr, uint16(p.Port))
	step := watch(ctx).connect(to)
	err := connect(ctx, to)
	step.end(err)
	if err != nil {
		return at.failed(ctx, err)
	}
	return up("connection accepted")
}
