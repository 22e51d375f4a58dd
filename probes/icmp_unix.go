//go:build unix

package probes

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/sites"
)

// tryICMP opens and closes a socket of a kind.
func tryICMP(family sites.Family, m ICMPMode) error {
	domain, proto, typ := unix.AF_INET, unix.IPPROTO_ICMP, unix.SOCK_DGRAM
	if family == sites.IPv6 {
		domain, proto = unix.AF_INET6, unix.IPPROTO_ICMPV6
	}
	if m == ICMPPrivileged {
		typ = unix.SOCK_RAW
	}
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(domain, typ, proto)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
