package webhook

import (
	"testing"
	"time"
)

// If this fails, a receiver that asks for time is asked again before it, or a header that
// it makes up turns the pause around.
func FuzzAfter(f *testing.F) {
	for _, text := range []string{"", "0", "-1", "120", "99999999999999999999", "Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "1e9", "1h"} {
		f.Add(text)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if d := after(text, now); d < 0 {
			t.Errorf("%q asks for a pause of %v", text, d)
		}
	})
}
