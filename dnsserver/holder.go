package dnsserver

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"syscall"
)

// holder is who has a port that is wanted.
type holder struct {
	who string         // in words; "" where nobody knows
	at  netip.AddrPort // where it has it; invalid where nobody knows
}

// PortHolder says in words which program has a port of "tcp" or "udp", for the
// errors of others who cannot have it.
func PortHolder(transport string, addr netip.AddrPort) string {
	return portHolder(transport, addr).words(addr.Port())
}

// words names the holder, or how it is found out.
func (h holder) words(port uint16) string {
	who := h.who
	if who == "" {
		who = fmt.Sprintf("another program (%s tells which)", fmt.Sprintf(lister(runtime.GOOS), port))
	}
	if h.isStub() {
		return fmt.Sprintf("%s, the stub of systemd-resolved on %s", who, h.at)
	}
	return who
}

// lister is the command by which a system's owner finds out who has a port.
func lister(goos string) string {
	switch goos {
	case "linux":
		return `"ss -lntup sport = :%d", as root,`
	case "freebsd":
		return `"sockstat -l -p %d"`
	case "windows":
		return `"netstat -abno", as administrator, with :%d`
	default:
		return `"lsof -nP -i :%d", as root,`
	}
}

// isStub tells systemd-resolved's listeners for the programs of its own machine:
// they have port 53 of two loopback addresses (resolved.conf(5)), which is in the
// way of the wildcard alone.
func (h holder) isStub() bool {
	a := h.at.Addr()
	return h.at.Port() == 53 && (a == netip.AddrFrom4([4]byte{127, 0, 0, 53}) || a == netip.AddrFrom4([4]byte{127, 0, 0, 54}))
}

// waysOut says what can be done where want is taken.
func (h holder) waysOut(want netip.AddrPort) string {
	wildcard := want.Addr().IsUnspecified()
	switch at := h.at.Addr(); {
	case h.isStub() && wildcard:
		return "write into dns.listen, in place of the wildcard, the address that the sites' resolvers ask; " +
			"or set DNSStubListener=no in /etc/systemd/resolved.conf and restart systemd-resolved; or choose another port"
	case h.isStub():
		return "choose another address in dns.listen, or set DNSStubListener=no in /etc/systemd/resolved.conf and restart systemd-resolved"
	case wildcard && at.IsValid() && !at.IsUnspecified():
		return fmt.Sprintf("it has %s: write into dns.listen, in place of the wildcard, the addresses that the sites' resolvers ask; or choose another port, or stop that program", h.at)
	case !wildcard && at.IsValid() && at.IsUnspecified():
		return fmt.Sprintf("it has %s, which covers all addresses: have it listen on others than %s, or stop it, or choose another port in dns.listen", h.at, want.Addr())
	default:
		return "choose another address or port in dns.listen, or stop that program"
	}
}

// listenError says what is in the way and what can be done.
func listenError(transport string, addr netip.AddrPort, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		h := portHolder(transport, addr)
		return fmt.Errorf("listen on %s over %s: the port is taken by %s: %s: %w", addr, transport, h.words(addr.Port()), h.waysOut(addr), err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen on %s over %s: ports below 1024 need the capability CAP_NET_BIND_SERVICE: grant it or choose a higher port in dns.listen: %w", addr, transport, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("listen on %s over %s: no interface of this host has that address: add it or change dns.listen: %w", addr, transport, err)
	case errors.Is(err, syscall.EINVAL) && addr.Addr().IsLinkLocalUnicast():
		return fmt.Errorf("listen on %s over %s: a link-local address takes the name of an interface that is there, as in fe80::1%%eth0: add the interface or change dns.listen: %w", addr, transport, err)
	default:
		return fmt.Errorf("listen on %s over %s: %w", addr, transport, err)
	}
}
