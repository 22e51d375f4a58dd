package dnsserver

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// control makes a control message as the kernel gives it.
func control(level, kind int, data []byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(data)))
	hdr := unix.Cmsghdr{Level: int32(level), Type: int32(kind)}
	hdr.SetLen(unix.CmsgLen(len(data)))
	if _, err := binary.Encode(b, binary.NativeEndian, hdr); err != nil {
		panic(err)
	}
	copy(b[unix.CmsgLen(0):], data)
	return b
}

// If this fails, answers leave from a wrong address, or by an interface that
// does not lead to the client.
func TestTurnSource(t *testing.T) {
	v4 := append([]byte{7, 0, 0, 0}, 10, 0, 0, 53, 10, 0, 0, 53)
	v6 := func(a string) []byte {
		b := netip.MustParseAddr(a).As16()
		return append(b[:], 7, 0, 0, 0)
	}
	tests := []struct {
		name  string
		oob   []byte
		want  bool
		index byte // of the interface, afterwards
		at    int  // where it stands
	}{
		{"IPv4", control(unix.IPPROTO_IP, unix.IP_PKTINFO, v4), true, 0, 0},
		{"IPv6", control(unix.IPPROTO_IPV6, unix.IPV6_PKTINFO, v6("fd00::53")), true, 0, 16},
		{"IPv6 of one link keeps its interface", control(unix.IPPROTO_IPV6, unix.IPV6_PKTINFO, v6("fe80::53")), true, 7, 16},
		{"a group is nobody's address", control(unix.IPPROTO_IPV6, unix.IPV6_PKTINFO, v6("ff02::fb")), false, 7, 16},
		{"another message", control(unix.SOL_SOCKET, unix.SCM_RIGHTS, v4), false, 7, 0},
		{"nothing", nil, false, 0, 0},
	}
	for _, tt := range tests {
		if got := turnSource(tt.oob); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
		if len(tt.oob) > 0 {
			if got := tt.oob[unix.CmsgLen(0)+tt.at]; got != tt.index {
				t.Errorf("%s: interface %d, want %d", tt.name, got, tt.index)
			}
		}
	}
}

// If this fails, forged messages of routers shrink answers, workers do not share a
// port, or a rush of questions is lost before anybody could answer.
func TestPacketOptions(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0"} {
		addr := netip.MustParseAddrPort(listen)
		p, err := openPacket(addr, true, false)
		if err != nil {
			t.Fatal(err)
		}
		fd := descriptor(t, p.conn)
		level, discover, omit, source := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_OMIT, unix.IP_PKTINFO
		if addr.Addr().Is6() {
			level, discover, omit, source = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_OMIT, unix.IPV6_RECVPKTINFO
		}
		wild := 0
		if addr.Addr().IsUnspecified() {
			wild = 1
		}
		for _, o := range []struct{ level, option, want int }{
			{level, discover, omit}, {level, source, wild}, {unix.SOL_SOCKET, unix.SO_REUSEPORT, 1},
		} {
			if got, err := unix.GetsockoptInt(fd, o.level, o.option); err != nil || got != o.want {
				t.Errorf("%s: option %d of level %d is %d, want %d: %v", listen, o.option, o.level, got, o.want, err)
			}
		}
		plain, err := net.ListenUDP("udp", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, option := range []int{unix.SO_RCVBUF, unix.SO_SNDBUF} {
			got, err1 := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
			usual, err2 := unix.GetsockoptInt(descriptor(t, plain), unix.SOL_SOCKET, option)
			if err1 != nil || err2 != nil || got < usual {
				t.Errorf("%s: a buffer of %d octets, %d without asking: %v, %v", listen, got, usual, err1, err2)
			}
		}
		if err := errors.Join(p.conn.Close(), plain.Close()); err != nil {
			t.Error(err)
		}
	}
}
