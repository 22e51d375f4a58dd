package probes

import (
	"syscall"

	"golang.org/x/sys/windows"
)

func faultOf(errno syscall.Errno) fault {
	switch errno {
	case windows.WSAEMFILE, windows.ERROR_TOO_MANY_OPEN_FILES:
		return noDescriptor
	case windows.WSAENOBUFS, windows.ERROR_NOT_ENOUGH_MEMORY:
		return noBuffer
	case windows.WSAEADDRNOTAVAIL, windows.WSAEADDRINUSE:
		return noPort
	case windows.WSAEACCES, windows.ERROR_ACCESS_DENIED:
		return forbidden
	case windows.WSAEAFNOSUPPORT, windows.WSAENETDOWN:
		return noLink
	case windows.WSAENETUNREACH:
		return noNetRoute
	case windows.WSAEHOSTUNREACH, windows.WSAEHOSTDOWN:
		return noHostRoute
	case windows.WSAECONNREFUSED:
		return portClosed
	case windows.WSAECONNRESET, windows.WSAECONNABORTED:
		return brokenOff
	case windows.WSAETIMEDOUT:
		return kernelTimeout
	default:
		return noFault
	}
}
