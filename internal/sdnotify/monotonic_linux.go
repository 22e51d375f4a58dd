package sdnotify

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// monotonicLine is the time of a reload's begin: the service manager tells by it
// whether READY=1 belongs to the reload that it asked for.
func monotonicLine() string {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return ""
	}
	return "MONOTONIC_USEC=" + strconv.FormatInt(t.Nano()/1000, 10)
}
