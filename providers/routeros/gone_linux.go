package routeros

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// noticeGone ends a connection on which nothing that was sent is acknowledged:
// keep-alive only asks while nothing is under way, and TCP alone tries for a quarter
// of an hour.
func noticeGone(_, _ string, c syscall.RawConn) error {
	var err error
	reached := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(goneAfter.Milliseconds()))
	})
	return errors.Join(reached, err)
}
