package publish

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// People would be reminded for ever of a target that they have taken out of the
// configuration, and not be told when it fails after they have put it back.
func TestWhatWasToldEndsWithItsTarget(t *testing.T) {
	fails := func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Want("router", names("app", a2))
		sleep(10 * time.Minute)
	}
	told := []sites.Kind{sites.PublishFailed, sites.PublishRecovered}
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) { // by a reload
			fails(w)
			id := w.last().ID
			if err := w.p.Use(nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			w.told(told...)
			if e := w.last(); e.Resolves != id || e.Target != "router" {
				t.Errorf("%+v", e)
			}
			w.use(func(*Target) {})
			w.p.Want("router", names("app", a2))
			sleep(10 * time.Minute)
			w.told(append(told, sites.PublishFailed)...)
		})
		synctest.Test(t, func(t *testing.T) { // and by a restart
			w := newWorld(t, &device{marks: marks}, newShelf())
			fails(w)
			id := w.last().ID
			w.close()
			without := func() *world {
				again := newWorldWithout(t, w.d, w.s)
				if err := again.p.Use(nil); err != nil {
					t.Fatal(err)
				}
				return again
			}
			again := without()
			again.told(sites.PublishRecovered)
			if e := again.last(); e.Resolves != id {
				t.Errorf("%+v", e)
			}
			again.close()
			again = without()
			again.told()
			again.use(func(*Target) {})
			again.p.Want("router", names("app", a2))
			sleep(10 * time.Minute)
			again.told(sites.PublishFailed)
			again.close()
		})
	}
}

// Whoever writes https:// in place of http:// would be told that the target has left the
// configuration, and not that its records have no failover until they are taken over.
func TestAServerWithAnotherAddress(t *testing.T) {
	bubble(t, false, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		other := w.target
		other.Servers = []Server{{Name: "192.0.2.1:443"}}
		want := Gone{Target: "router", Server: "192.0.2.1:8729", Title: "router", Stays: true}
		if gone := w.p.Left([]Target{other}); len(gone) != 1 || gone[0] != want {
			t.Errorf("%+v, want %+v", gone, want)
		}
	})
}
