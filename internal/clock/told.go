package clock

import "time"

// Told writes a moment for people who read it at now: by the wall clock in UTC, with the
// day where that is not plain. It is what sites does with moments of its own.
func Told(t, now time.Time) string {
	if t.Sub(now).Abs() > 12*time.Hour {
		return t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return t.UTC().Format("15:04:05 UTC")
}
