//go:build freebsd || netbsd || openbsd || dragonfly

package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Boot is the kernel's monotonic time. Whether it counts sleep depends on the
// system's version; where it does not, a machine that slept is noticed by its
// probes alone.
func Boot() time.Duration { return read(unix.CLOCK_MONOTONIC) }
