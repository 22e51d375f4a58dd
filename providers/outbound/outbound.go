// Package outbound opens connections to what the configuration names, for targets and
// for alerts.
//
// An address in the configuration is meant as it stands. A name leads to what others
// say: whoever answers for it cannot have an address called that answers to this
// machine alone, such as those at which clouds tell a machine its keys, or the
// controller's own listeners. That is held against the address that is dialled, after
// the name was looked up, so it does not matter who looked it up or how often.
package outbound

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// Guard says where a name must not lead. It is a value: two that are equal guard in
// the same way. The zero Guard knows of no listeners.
type Guard struct {
	// Own are the addresses on which this controller listens; 0.0.0.0 and :: stand
	// for every address of this machine.
	Own []netip.AddrPort
}

// Dial connects to HOST:PORT as [net.Dialer.DialContext] does. Its error is a
// [RefusedError] where all that the name leads to is refused.
func (g Guard) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return g.Over(addr, net.Dialer{}).DialContext(ctx, network, addr)
}

// Over gives a dialer for HOST:PORT that guards what it connects to beside what it
// does already. It must have no ControlContext, which net would call in place of
// Control.
func (g Guard) Over(addr string, d net.Dialer) *net.Dialer {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &d // it cannot be dialled
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return &d // it is meant
	}
	then := d.Control
	d.Control = func(network, address string, c syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("connect to %s: %w", address, err)
		}
		if err := g.Check(host, to); err != nil {
			return err
		}
		if then != nil {
			return then(network, address, c)
		}
		return nil
	}
	return &d
}

// RefusedError says that a name leads to what it must not lead to.
type RefusedError struct {
	// Host is the name, and Address what it leads to.
	Host    string
	Address netip.AddrPort
	// Own: it is a listener of the controller's own.
	Own bool
}

func (e *RefusedError) Error() string {
	if e.Own {
		return fmt.Sprintf("the name %s leads to %s, where this controller itself listens: give the address in place of the name if it is meant", e.Host, e.Address)
	}
	return fmt.Sprintf("the name %s leads to %s, which answers to this machine alone: give the address in place of the name if it is meant", e.Host, e.Address.Addr())
}

// Check gives a [RefusedError] for an address to which a host must not lead.
func (g Guard) Check(host string, to netip.AddrPort) error {
	to = netip.AddrPortFrom(to.Addr().Unmap().WithZone(""), to.Port())
	if slices.ContainsFunc(meanings(to.Addr()), ofMachine) {
		return &RefusedError{Host: host, Address: to}
	}
	if slices.ContainsFunc(g.Own, func(own netip.AddrPort) bool { return reaches(to, own) }) {
		return &RefusedError{Host: host, Address: to, Own: true}
	}
	return nil
}

// cloud are addresses beside the link-local ones at which clouds tell a machine about
// itself: those of AWS, Google Cloud, Alibaba Cloud, Oracle Cloud and Azure.
var cloud = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("168.63.129.16"),
}

// ofMachine says whether an address answers to each machine in its own way.
func ofMachine(a netip.Addr) bool {
	return a.IsLinkLocalUnicast() || slices.Contains(cloud, a)
}

// Prefixes of IPv6 with an address of IPv4 in them, to which what is sent there may
// be carried.
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")   // RFC 6052 section 2.1
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48") // RFC 8215
	sixToFour  = netip.MustParsePrefix("2002::/16")      // RFC 3056
	compatible = netip.MustParsePrefix("::/96")          // RFC 4291 section 2.5.5.1
)

// meanings gives an address and those of IPv4 that it may stand for.
func meanings(a netip.Addr) []netip.Addr {
	list := []netip.Addr{a}
	if !a.Is6() {
		return list
	}
	b := a.As16()
	last := netip.AddrFrom4([4]byte(b[12:16]))
	switch {
	case nat64.Contains(a), compatible.Contains(a):
		list = append(list, last)
	case nat64Local.Contains(a):
		// Networks have a /96 of it, or all: with a /48 the octets stand around the
		// ninth (RFC 6052 section 2.2).
		list = append(list, last, netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]}))
	case sixToFour.Contains(a):
		list = append(list, netip.AddrFrom4([4]byte(b[2:6])))
	}
	return list
}

// reaches says whether a connection to an address comes out at a listener of ours.
func reaches(to, own netip.AddrPort) bool {
	if to.Port() != own.Port() {
		return false
	}
	a, listens := to.Addr(), own.Addr().Unmap().WithZone("")
	if a.IsUnspecified() { // the system takes it for loopback
		return listens.IsUnspecified() || listens.IsLoopback()
	}
	return a == listens || listens.IsUnspecified() && ofThisMachine(a)
}

// ofThisMachine says whether an address is one of this machine's links.
func ofThisMachine(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return true // who cannot find out does not connect
	}
	return slices.ContainsFunc(addrs, func(of net.Addr) bool {
		p, err := netip.ParsePrefix(of.String())
		return err == nil && p.Addr().Unmap().WithZone("") == a
	})
}
