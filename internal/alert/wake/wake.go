// Package wake wakes machines up: it sends Wake-on-LAN magic packets by UDP.
package wake

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Bounds of a packet's way.
const (
	repeats = 3
	between = 100 * time.Millisecond
)

// Packet gives the magic packet for a hardware address: six octets FF and the
// address sixteen times.
func Packet(mac net.HardwareAddr) ([]byte, error) {
	if len(mac) != 6 {
		return nil, fmt.Errorf("the hardware address %s has %d octets, expected 6", mac, len(mac))
	}
	p := make([]byte, 0, 102)
	for range 6 {
		p = append(p, 0xff)
	}
	for range 16 {
		p = append(p, mac...)
	}
	return p, nil
}

// Send sends the magic packet to an address, which may be that of a broadcast,
// three times: UDP loses some.
func Send(ctx context.Context, mac net.HardwareAddr, to netip.AddrPort) error {
	packet, err := Packet(mac)
	if err != nil {
		return err
	}
	var d net.Dialer // Go lets every UDP socket send to broadcast addresses
	conn, err := d.DialContext(ctx, "udp", to.String())
	if err != nil {
		return fmt.Errorf("send the magic packet to %s: %w", to, err)
	}
	defer conn.Close()
	for i := range repeats {
		if i > 0 {
			select {
			case <-time.After(between):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if _, err := conn.Write(packet); err != nil {
			return fmt.Errorf("send the magic packet to %s: %w", to, err)
		}
	}
	return nil
}
