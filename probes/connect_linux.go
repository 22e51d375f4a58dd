package probes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// connect makes a TCP connection to an address and breaks it off by a reset at
// once. It does no more than that takes: a net.Dialer sets options for a
// connection that is to be used, asks for both its ends and starts a goroutine
// for the context, which is a third of the cost of probing thousands of nodes.
func connect(ctx context.Context, to netip.AddrPort) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sa, family, err := sockaddr(to)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	// Being non-blocking, the file waits by the runtime's poller.
	f := os.NewFile(uintptr(fd), "tcp")
	defer f.Close() // nothing was written
	reset := unix.Linger{Onoff: 1}
	if err := unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &reset); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })()
	var result error
	err = raw.Write(func(fd uintptr) bool {
		// Asked again, connect says how the attempt is going.
		result = unix.Connect(int(fd), sa)
		return !errors.Is(result, unix.EINPROGRESS) && !errors.Is(result, unix.EALREADY)
	})
	if err != nil {
		return err
	}
	return os.NewSyscallError("connect", result)
}

// sockaddr writes an address for the kernel.
func sockaddr(to netip.AddrPort) (sa unix.Sockaddr, family int, err error) {
	addr := to.Addr().Unmap()
	if addr.Is4() {
		return &unix.SockaddrInet4{Port: int(to.Port()), Addr: addr.As4()}, unix.AF_INET, nil
	}
	in6 := &unix.SockaddrInet6{Port: int(to.Port()), Addr: addr.As16()}
	if zone := addr.Zone(); zone != "" {
		n, err := strconv.ParseUint(zone, 10, 32)
		if err != nil {
			link, err := net.InterfaceByName(zone)
			if err != nil {
				return nil, 0, fmt.Errorf("connect to %s: no interface %q (%w): %w", to, zone, err, unix.ENODEV)
			}
			n = uint64(link.Index)
		}
		in6.ZoneId = uint32(n)
	}
	return in6, unix.AF_INET6, nil
}
