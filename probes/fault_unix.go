//go:build unix

package probes

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func faultOf(errno syscall.Errno) fault {
	switch errno {
	case unix.EMFILE, unix.ENFILE:
		return noDescriptor
	case unix.ENOBUFS, unix.ENOMEM:
		return noBuffer
	case unix.EADDRNOTAVAIL, unix.EADDRINUSE, unix.EAGAIN:
		return noPort
	case unix.EPERM:
		return forbidden
	case unix.EACCES:
		return denied
	case unix.EAFNOSUPPORT, unix.ENETDOWN, unix.ENODEV:
		return noLink
	case unix.ENETUNREACH:
		return noNetRoute
	case unix.EHOSTUNREACH, unix.EHOSTDOWN, unix.ENOPROTOOPT:
		return noHostRoute
	case unix.ECONNREFUSED:
		return portClosed
	case unix.ECONNRESET, unix.ECONNABORTED, unix.EPIPE:
		return brokenOff
	case unix.ETIMEDOUT:
		return kernelTimeout
	default:
		return noFault
	}
}
