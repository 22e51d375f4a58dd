package clock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// If this fails, the time that a machine slept is not counted (O5).
func TestBootCountsSleep(t *testing.T) {
	before := read(unix.CLOCK_BOOTTIME)
	got := Boot()
	after := read(unix.CLOCK_BOOTTIME)
	if got < before || got > after {
		t.Errorf("Boot is %v, CLOCK_BOOTTIME went from %v to %v", got, before, after)
	}
}
