package publish

import (
	"context"
	"testing"
	"time"
)

// On a disk that is full a target that is enabled would be left as it is for as long as
// nothing else moves, though the order is in force.
func TestATargetIsEnabledOnAFullDisk(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		if err := w.p.Disable(context.Background(), "router", Order{}); err != nil {
			t.Fatal(err)
		}
		w.p.Want("router", names("app", a2))
		sleep(time.Second)
		w.s.mu.Lock()
		w.s.fail = errDown
		w.s.mu.Unlock()
		if _, err := w.p.Enable(context.Background(), "router"); err == nil {
			t.Error("nobody is told that the order does not last")
		}
		sleep(time.Minute)
		w.holds("app", a2)
	})
}
