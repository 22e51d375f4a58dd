package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Boot is a time that counts sleep: on this system CLOCK_MONOTONIC goes on
// while the machine sleeps.
func Boot() time.Duration { return read(unix.CLOCK_MONOTONIC) }
