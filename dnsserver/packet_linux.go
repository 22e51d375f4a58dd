package dnsserver

import (
	"encoding/binary"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// sharesPorts: the kernel spreads packets over sockets of one port.
const sharesPorts = true

// What is asked for each UDP socket, in octets; the system may give less. The
// one for sending holds a few batches of the largest answers.
const (
	receiveBuffer = 4 << 20
	sendBuffer    = 1 << 20
)

// setPacketOptions prepares a UDP socket before it is bound.
func setPacketOptions(c syscall.RawConn, ipv4, shared, sources bool) error {
	var err error
	set := func(fd, level, option, value int) {
		if err == nil {
			err = unix.SetsockoptInt(fd, level, option, value)
		}
	}
	ctl := c.Control(func(f uintptr) {
		fd := int(f)
		if shared {
			set(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}
		// Forged "fragmentation needed" messages must not shrink our packets.
		if ipv4 {
			set(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_OMIT)
		} else {
			set(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_OMIT)
		}
		if sources && ipv4 {
			set(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
		} else if sources {
			set(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
		}
		// A small buffer is no reason not to serve.
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
		}
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendBuffer) != nil {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
		}
	})
	if ctl != nil {
		return ctl
	}
	return err
}

// turnSource turns the control message that says where a packet arrived into the
// one that lets its answer leave from there. It is false where no answer can: a
// group's address, or a message of another kind.
func turnSource(oob []byte) bool {
	if len(oob) < unix.SizeofCmsghdr {
		return false
	}
	hdr, data, rest, err := unix.ParseOneSocketControlMessage(oob)
	if err != nil || len(rest) > 0 {
		return false
	}
	switch {
	case hdr.Level == unix.IPPROTO_IP && hdr.Type == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo:
		// ifindex, address of ours (spec_dst), address in the packet. The route
		// chooses the interface.
		clear(data[:4])
		return true
	case hdr.Level == unix.IPPROTO_IPV6 && hdr.Type == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
		a := netip.AddrFrom16([16]byte(data[:16]))
		if a.IsMulticast() {
			return false
		}
		if !a.IsLinkLocalUnicast() {
			binary.NativeEndian.PutUint32(data[16:], 0)
		}
		return true
	}
	return false
}
