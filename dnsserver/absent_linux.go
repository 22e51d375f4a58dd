package dnsserver

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// bindsAbsent: an address can be opened before an interface has it.
const bindsAbsent = true

// bindAbsent lets a socket be bound to an address that no interface has.
func bindAbsent(network, _ string, c syscall.RawConn) error {
	level, option := unix.IPPROTO_IP, unix.IP_FREEBIND
	if strings.HasSuffix(network, "6") {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_FREEBIND
	}
	var err error
	if ctl := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), level, option, 1) }); ctl != nil {
		return ctl
	}
	return err
}
