package publish

import (
	"testing"
	"time"
)

// A controller that is cut off would move DNS at a target that it happens to
// reach still, on the word of a reload or a command (E8, N4).
func TestNothingIsSentWhileIsolated(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.p.Hold(true)
		calls, writes := w.d.count()
		w.p.Want("router", names("app", a2, "www", a1))
		w.p.Compare(w.p.targets[0].Site)
		sleep(time.Hour)
		if c, n := w.d.count(); c != calls || n != writes {
			t.Errorf("%d calls and %d writes while isolated", c-calls, n-writes)
		}
		w.holds("app", a1)
		w.p.Hold(false)
		sleep(time.Minute)
		w.holds("app", a2)
		w.holds("www", a1)
	})
}
