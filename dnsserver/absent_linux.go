package dnsserver

import (
	"encoding/binary"
	"net/netip"
	"os"
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

// routedHere says whether the routes of this host have an address for one of its own
// without an interface that has it, as of a whole prefix on loopback (anycast). What
// cannot be found out is not so.
func routedHere(a netip.Addr) bool {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Sendto(fd, routeRequest(a), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return false
	}
	in := make([]byte, os.Getpagesize())
	n, _, err := unix.Recvfrom(fd, in, 0) // the kernel has answered already
	if err != nil {
		return false
	}
	list, err := syscall.ParseNetlinkMessage(in[:n])
	return err == nil && len(list) > 0 && list[0].Header.Type == unix.RTM_NEWROUTE &&
		len(list[0].Data) >= unix.SizeofRtMsg && list[0].Data[7] == unix.RTN_LOCAL
}

// routeRequest asks for the route to an address (rtnetlink(7)).
func routeRequest(a netip.Addr) []byte {
	family, dst := byte(unix.AF_INET6), a.AsSlice()
	if a.Is4() {
		family = unix.AF_INET
	}
	attribute := unix.SizeofRtAttr + len(dst)
	size := unix.NLMSG_HDRLEN + unix.SizeofRtMsg + attribute
	b := binary.NativeEndian.AppendUint32(nil, uint32(size))
	b = binary.NativeEndian.AppendUint16(b, unix.RTM_GETROUTE)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = binary.NativeEndian.AppendUint64(b, 1) // a number, and no port
	b = append(b, family, byte(a.BitLen()), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = binary.NativeEndian.AppendUint16(b, uint16(attribute))
	b = binary.NativeEndian.AppendUint16(b, unix.RTA_DST)
	return append(b, dst...)
}
