package demo

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// takeKeys has a terminal hand over each key at once and show none of them, and
// gives what undoes that, which may be called more than once. direct is false
// where keys come only with Enter: it is no terminal, or one that another
// program has in front.
func takeKeys(keys io.Reader) (restore func(), direct bool) {
	f, ok := keys.(*os.File)
	if !ok {
		return func() {}, false
	}
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}, false
	}
	// A program in the background that changes its terminal is stopped.
	if front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || front != unix.Getpgrp() {
		return func() {}, false
	}
	now := *before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(fd, unix.TCSETS, &now) != nil {
		return func() {}, false
	}
	return sync.OnceFunc(func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }), true
}
