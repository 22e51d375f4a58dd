package dnsserver

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// watch is how a worker waits for packets at a socket. Who sleeps at a socket, or
// has it in a poller, is woken for each packet that comes in and, as there is room
// again, for each that has been sent, and that is a tenth of an answer's cost.
// Therefore the socket is not in the runtime's poller itself. There is an epoll
// instance, which the socket is taken out of while there is much to do.
type watch struct {
	fd   int // the socket
	ep   int
	file *os.File        // ep, in the runtime's poller
	raw  syscall.RawConn // of file
	in   bool            // the socket is in ep
}

// newWatch takes a socket over from the connection, which it closes. After an error
// the connection is as it was.
func newWatch(conn *net.UDPConn) (*watch, error) {
	fd, err := duplicate(conn)
	if err != nil {
		return nil, err
	}
	w := &watch{fd: fd}
	if w.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, errors.Join(os.NewSyscallError("epoll_create1", err), unix.Close(fd))
	}
	// The runtime polls what does not block.
	err = unix.SetNonblock(w.ep, true)
	w.file = os.NewFile(uintptr(w.ep), "epoll")
	if err == nil {
		w.raw, err = w.file.SyscallConn()
	}
	if err == nil {
		err = w.enter()
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	_ = conn.Close() // the socket lives on
	return w, nil
}

// duplicate gives another descriptor of a connection's socket.
func duplicate(conn *net.UDPConn) (fd int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	ctl := raw.Control(func(f uintptr) { fd, err = unix.FcntlInt(f, unix.F_DUPFD_CLOEXEC, 0) })
	return fd, errors.Join(ctl, os.NewSyscallError("fcntl", err))
}

// enter lets the next packet, or one that waits already, wake who reads.
func (w *watch) enter() error {
	if w.in {
		return nil
	}
	if err := unix.EpollCtl(w.ep, unix.EPOLL_CTL_ADD, w.fd, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	w.in = true
	return nil
}

// leave ends that: who reads looks for packets until there are none, and enters
// again.
func (w *watch) leave() {
	if w.in {
		w.in = unix.EpollCtl(w.ep, unix.EPOLL_CTL_DEL, w.fd, nil) != nil
	}
}

// close ends the socket too.
func (w *watch) close() error { return errors.Join(w.file.Close(), unix.Close(w.fd)) }
