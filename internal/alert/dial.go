package alert

import (
	"context"
	"net"

	"github.com/dnsteer/dnsteer/providers/outbound"
)

// Dial opens a connection of a channel. Which addresses are called is the
// configuration's alone: nothing of an event gets into one, and no answer leads to
// another, so loopback is as good as any. A nil one is the network's, where names lead
// to nothing that answers to this machine alone ([outbound.Guard]).
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Open opens a connection.
func (d Dial) Open(ctx context.Context, network, addr string) (net.Conn, error) {
	if d == nil {
		d = outbound.Guard{}.Dial
	}
	return d(ctx, network, addr)
}
