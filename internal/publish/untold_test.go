package publish

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// A kill in the moment in which a problem is told would have nobody told of it: it was
// kept as told, and its event was not stored. Or what came to bear the event's number
// would be said to be over.
func TestWhatWasNotStoredIsToldAgain(t *testing.T) {
	for _, noted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, &device{marks: true}, newShelf())
			w.p.Want("router", names("app", a1))
			sleep(time.Second)
			if !noted {
				w.p.deps.Tell = func(f func() (sites.Event, bool)) { _, _ = f() }
			}
			w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
			w.p.Want("router", names("app", a2))
			sleep(10 * time.Minute)
			w.close()
			w.s.last = 0
			again := newWorld(t, w.d, w.s)
			again.p.Want("router", names("app", a2))
			sleep(10 * time.Minute)
			again.told(sites.PublishFailed)
			w.d.hand(func() { w.d.fail = nil })
			sleep(10 * time.Minute)
			again.told(sites.PublishFailed, sites.PublishRecovered)
			again.close()
		})
	}
}

// A disk that is full would leave clients of a target that bears no marks at a node
// that is gone, though its record is ours already and is only to be taken away.
func TestAFullDiskKeepsNoDeadNode(t *testing.T) {
	bubble(t, false, func(w *world) {
		both := names("app", a1, "app", a2)
		w.p.Want("router", both)
		sleep(time.Minute)
		w.s.mu.Lock()
		w.s.fail = errDown
		w.s.mu.Unlock()
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.holds("app", a1)
		w.told()
		w.p.Want("router", names("app", alien)) // which must be in the journal first
		sleep(time.Minute)
		w.holds("app", a1)
		w.told(sites.PublishFailed)
	})
}
