package dnsserver

import (
	"net"
	"net/netip"
	"slices"
)

// Absent lists the addresses that are listened on and that this host does not have at
// the moment, each once: nobody can ask there. A wildcard is none of them.
func (s *Server) Absent() (list []netip.Addr) {
	s.mu.Lock()
	var ours []netip.Addr
	for _, l := range s.net.open {
		if a := l.addr.Addr(); !a.IsUnspecified() && !a.IsLoopback() && !slices.Contains(ours, a) {
			ours = append(ours, a)
		}
	}
	s.mu.Unlock()
	if len(ours) == 0 {
		return nil
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil // nothing is known
	}
	there := make(map[netip.Addr]bool, len(addrs))
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			there[p.Addr().WithZone("").Unmap()] = true
		}
	}
	for _, a := range ours {
		if bare := a.WithZone("").Unmap(); !there[bare] && !routedHere(bare) {
			list = append(list, a)
		}
	}
	return list
}
