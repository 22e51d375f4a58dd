package cli

import (
	"fmt"
	"time"
)

// ago writes how long something lasts, in its two largest units.
func ago(d time.Duration) string {
	d = max(d, 0)
	two := func(a time.Duration, unitA string, b time.Duration, unitB string) string {
		if rest := d % a / b; rest > 0 {
			return fmt.Sprintf("%d%s%d%s", d/a, unitA, rest, unitB)
		}
		return fmt.Sprintf("%d%s", d/a, unitA)
	}
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return two(time.Minute, "m", time.Second, "s")
	case d < day:
		return two(time.Hour, "h", time.Minute, "m")
	default:
		return two(day, "d", time.Hour, "h")
	}
}

// took writes how long a probe took.
func took(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}

// moment writes a time as the clock on the wall shows it, with the zone, for what
// the controller itself says is in UTC, and with its day where
// that is not today.
func moment(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05 MST")
	}
	return t.Format("2006-01-02 15:04:05 MST")
}
