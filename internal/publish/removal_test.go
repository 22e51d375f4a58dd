package publish

import (
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// A pool that has nothing left and takes its records away (on_empty: remove) would have
// its clients stay at a dead node with a word that nobody is woken up by.
func TestARemovalThatFailsIsCritical(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Want("router", Desired{Emptied: []string{"app"}})
		sleep(10 * time.Minute)
		if e := w.last(); e.Kind != sites.PublishFailed || e.Severity != sites.Critical {
			t.Errorf("%+v", e)
		}
	})
}
