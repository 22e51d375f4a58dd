package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideTyping has a terminal not show what is typed, and gives what undoes that.
func hideTyping(f *os.File) (restore func()) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}
	}
	now := *before
	now.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, unix.TCSETS, &now) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }
}
