package httpd

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/dnsteer/dnsteer/dnsserver"
)

// explained says of an address that cannot be opened what can be done.
func explained(addr netip.AddrPort, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is taken by %s: stop that, or choose another port: %w", addr, dnsserver.PortHolder("tcp", addr), err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: ports below 1024 take the right to bind them (CAP_NET_BIND_SERVICE): %w", addr, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this machine: %w", addr, err)
	}
	return err
}
