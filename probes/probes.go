// Package probes asks whether things answer: nodes by ICMP, TCP or HTTP, and a
// site's resolver by DNS. A probe tells what it found out about the other side
// (up, down) apart from what it could not find out for a reason of its own
// (unknown; rule O1). When to probe what is the business of [Schedule].
package probes

import (
	"context"
	"net/netip"

	"github.com/dnsteer/dnsteer/sites"
)

// Prober is one configured probe. Probe asks addr once and returns by the
// deadline of ctx; a cancelled or late probe is [sites.Unknown] unless its own
// timeout (the deadline) is what ended it, which is [sites.Down]. Probers are
// safe for concurrent use.
type Prober interface {
	Probe(ctx context.Context, addr netip.Addr) sites.Check
}
