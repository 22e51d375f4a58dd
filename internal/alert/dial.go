package alert

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// Dial opens a connection of a channel. A nil one is the network's. Which
// addresses are called is the configuration's alone: nothing of an event gets
// into one, and no answer leads to another, so loopback is as good as any. Whoever
// answers for a name of the configuration cannot have the link-local addresses called
// at which clouds tell a machine its keys.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Open opens a connection.
func (d Dial) Open(ctx context.Context, network, addr string) (net.Conn, error) {
	if d != nil {
		return d(ctx, network, addr)
	}
	var dialer net.Dialer
	if host, _, err := net.SplitHostPort(addr); err == nil {
		if _, err := netip.ParseAddr(host); err != nil {
			dialer.Control = refuseMetadata
		}
	}
	return dialer.DialContext(ctx, network, addr)
}

// metadata is where a cloud tells a machine about itself beside the link-local
// addresses.
var metadata = netip.MustParseAddr("fd00:ec2::254")

// refuseMetadata refuses what a name must not lead to.
func refuseMetadata(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, err)
	}
	if a := at.Addr().Unmap().WithZone(""); a.IsLinkLocalUnicast() || a == metadata {
		return fmt.Errorf("the name leads to %s, which is an address of this machine's link alone: give the address itself in place of the name if it is meant", a)
	}
	return nil
}
