package probes

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Heartbeat looks whether a node has reported by itself lately. It asks the node
// nothing: reports come to [Heartbeats], which [Listen] hands on.
//
// A node that has reported within StaleAfter is up, unless it says that it is
// not healthy. Before the first report since the controller listens nothing is
// known until StaleAfter has passed: a restart takes no node out. One whose last
// report is older is down, from the last report plus StaleAfter on. As it cannot
// be asked, the probe then listens for as long as it has: each failure is
// evidence of its own time, in which no report came (N2).
type Heartbeat struct {
	StaleAfter time.Duration
}

type listenKey struct{}

// Listen gives a context for calls of [Prober.Probe] in which [Heartbeat] finds
// the reports.
func Listen(ctx context.Context, h *Heartbeats) context.Context {
	if h == nil {
		return ctx
	}
	return context.WithValue(ctx, listenKey{}, h)
}

// Probe implements [Prober]. Without the node's name there is nothing to look
// for.
func (p Heartbeat) Probe(context.Context, netip.Addr) sites.Check {
	return unknown(CauseLocalConfig, "a heartbeat is that of a node")
}

func (p Heartbeat) probeSubject(ctx context.Context, s sites.Subject) sites.Check {
	start := time.Now()
	c := p.look(ctx, s)
	c.Duration = time.Since(start)
	return c
}

func (p Heartbeat) look(ctx context.Context, s sites.Subject) sites.Check {
	h, _ := ctx.Value(listenKey{}).(*Heartbeats)
	if h == nil {
		return unknown(CauseLocalConfig, "nobody takes reports here")
	}
	for {
		b, ok := h.look(s.Site, s.Node)
		if !ok {
			return unknown(CauseLocalConfig, "%s/%s has no heartbeat", s.Site, s.Node)
		}
		c, stale := p.judge(&b, h.now())
		if !stale {
			return c
		}
		select {
		case <-b.next:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return unknown(CauseCancelled, "the probe was cancelled")
			}
			return c
		}
	}
}

// judge says what the last report tells at a time; stale means that it tells
// nothing any more.
func (p Heartbeat) judge(b *beat, now time.Duration) (c sites.Check, stale bool) {
	ago := now - b.at
	if !b.heard {
		if ago = now - b.since; ago < p.StaleAfter {
			return unknown(CauseAwaited, "no report yet, %s after the controller began to listen", seconds(ago)), false
		}
		return down(CauseStale, "no report in the %s since the controller began to listen", seconds(ago)), true
	}
	if ago >= p.StaleAfter {
		return down(CauseStale, "the last report came %s ago", seconds(ago)), true
	}
	if b.last.Healthy != nil && !*b.last.Healthy {
		c = down(CauseUnhealthy, "it reports that it is not healthy")
	} else {
		c = up("reported " + seconds(ago) + " ago")
		c.Heard = b.at
	}
	c.Figures = b.figures()
	return c, false
}

func seconds(d time.Duration) string { return d.Round(time.Second).String() }
