package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Boot is the time since the machine started, sleep included (CLOCK_BOOTTIME).
func Boot() time.Duration { return read(unix.CLOCK_BOOTTIME) }

// KernelSync asks the kernel whether its wall clock is synchronised. Asking
// needs no privilege, but a container may be denied even that: SyncUnknown.
func KernelSync() Sync {
	var t unix.Timex // Modes 0: nothing is set
	state, err := unix.Adjtimex(&t)
	switch {
	case err != nil:
		return SyncUnknown
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		return Unsynchronised
	default:
		return Synchronised
	}
}
