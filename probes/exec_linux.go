package probes

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeRangeOnExec needs Linux 5.11.
func closeRangeOnExec() error {
	return unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
