package dnsserver

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"
)

// exchangeUDP sends a message and waits for its answer until ctx ends.
func (s *Server) exchangeUDP(ctx context.Context, to netip.AddrPort, msg []byte, check func([]byte) bool) error {
	conn, err := s.dialSecondary(ctx, to)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // fails only where it is closed
	if _, err := conn.Write(msg); err != nil {
		return err
	}
	b := make([]byte, maxUDP)
	for {
		n, err := conn.Read(b)
		if err != nil {
			return err
		}
		if check(b[:n]) {
			return nil
		}
	}
}

// dialSecondary opens a socket to a secondary, from the address that this one knows the
// server by. Where this host does not have it at the moment, as one of a pair whose other
// machine has it, the system chooses.
func (s *Server) dialSecondary(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", to.String())
	var system netip.Addr
	if err == nil {
		if a, ok := conn.LocalAddr().(*net.UDPAddr); ok {
			system = a.AddrPort().Addr().Unmap()
		}
	}
	var own []netip.Addr
	for _, a := range s.Addrs() {
		own = append(own, a.Addr())
	}
	from := source(own, to.Addr(), system, networks())
	if !from.IsValid() || from == system {
		return conn, err
	}
	d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	bound, fault := d.DialContext(ctx, "udp", to.String())
	switch {
	case fault == nil && err == nil:
		_ = conn.Close() // nothing was sent
		return bound, nil
	case fault != nil && err == nil:
		return conn, nil
	default:
		return bound, fault
	}
}

// source gives the address of ours that a secondary knows this server by: the first that
// is listened on in the network that the system would send from, where a shared address
// stands before the machine's own; that of the system where it is listened on; or the
// first that can reach the secondary. It is not valid where the system may choose.
func source(own []netip.Addr, to, system netip.Addr, networks []netip.Prefix) netip.Addr {
	own = slices.DeleteFunc(slices.Clone(own), func(a netip.Addr) bool {
		return a.IsUnspecified() || a.Is4() != to.Is4() || a.IsLoopback() != to.IsLoopback() ||
			a.IsLinkLocalUnicast() != to.IsLinkLocalUnicast() || a.IsLinkLocalUnicast() && a.Zone() != to.Zone()
	})
	for _, p := range networks {
		if p.Addr() != system.WithZone("") {
			continue
		}
		if i := slices.IndexFunc(own, func(a netip.Addr) bool { return p.Contains(a.WithZone("")) }); i >= 0 {
			return own[i]
		}
	}
	if slices.Contains(own, system) {
		return system
	}
	if len(own) > 0 {
		return own[0]
	}
	return netip.Addr{}
}

// networks gives the addresses of this host's interfaces with their networks; none where
// they cannot be found out.
func networks() (list []netip.Prefix) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, netip.PrefixFrom(p.Addr().WithZone("").Unmap(), p.Bits()))
		}
	}
	return list
}
