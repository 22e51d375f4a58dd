//go:build !linux

package probes

import (
	"context"
	"net"
	"net/netip"
)

// connect makes a TCP connection to an address and breaks it off by a reset at
// once.
func connect(ctx context.Context, to netip.AddrPort) error {
	d := net.Dialer{KeepAlive: -1}
	conn, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, to)
	if err != nil {
		return err
	}
	// The connection was made, and that was the question: how it ends does not
	// matter.
	_ = conn.SetLinger(0)
	_ = conn.Close()
	return nil
}
