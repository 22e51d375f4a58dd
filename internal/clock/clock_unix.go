//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package clock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// read gives the time of a kernel clock. It can fail only for a clock that the
// kernel does not have: a program built for another system.
func read(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(fmt.Sprintf("clock %d of this kernel cannot be read: %v", id, err))
	}
	return time.Duration(t.Nano())
}
