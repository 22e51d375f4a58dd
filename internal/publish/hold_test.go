package publish

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// A controller that is cut off, or does not see a site, would move DNS at a
// target that it happens to reach still: on the word of a reload, or over the
// hand of whoever helps himself there (E8).
func TestNothingIsSentWhileHeld(t *testing.T) {
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) {
			w.p.Want("router", names("app", a1, "old", a1))
			sleep(time.Minute)
			w.p.Hold("berlin", true)
			w.p.Hold("hamburg", false) // another's word is no word about this one
			calls, writes := w.d.count()
			w.p.Want("router", names("app", a2, "www", a1))
			w.p.Compare("berlin")
			w.use(func(t *Target) { t.DeleteGuard = 60 })
			w.d.hand(func() { w.d.entries[1].Addr = alien })
			sleep(time.Hour)
			if c, n := w.d.count(); c != calls || n != writes {
				t.Errorf("%d calls and %d writes while held", c-calls, n-writes)
			}
			if v := w.view(); v.State != OnHold {
				t.Errorf("%+v", v)
			}
			w.holds("app", a1)
			w.told()
			w.p.Hold("berlin", false)
			sleep(time.Minute)
			w.holds("app", a2)
			w.holds("www", a1)
		})
	}
}

// A push that was under way when the line was lost would go on, or leave a name
// without an address; what it left would never be caught up with. It ends before
// the next write, whichever that is.
func TestAPushEndsWhenItsSiteIsLost(t *testing.T) {
	before, after := Desired{}, Desired{}
	for i := range 6 {
		before.Records = append(before.Records, providers.Record{Name: fmt.Sprintf("n%d", i), Addr: a1})
		after.Records = append(after.Records, providers.Record{Name: fmt.Sprintf("n%d", i), Addr: a2})
	}
	for n := range 7 {
		bubble(t, n%2 == 0, func(w *world) {
			w.p.Want("router", before)
			sleep(time.Minute)
			written := 0
			w.d.hand(func() {
				w.d.written = func() {
					if written++; written == n {
						w.p.Hold("berlin", true)
					}
				}
			})
			if n == 0 {
				w.p.Hold("berlin", true)
			}
			w.p.Want("router", after)
			sleep(time.Hour)
			if written != n {
				t.Errorf("%d writes, and it is lost at the %d.", written, n)
			}
			for i, r := range after.Records {
				want := a1
				if i < n {
					want = a2
				}
				w.holds(r.Name, want)
			}
			w.p.Hold("berlin", false)
			sleep(time.Minute)
			for _, r := range after.Records {
				w.holds(r.Name, a2)
			}
			w.told()
		})
	}
}

// A line that comes and goes within a push would stop it for good, or have it
// made twice.
func TestASiteThatFlapsDuringAPush(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1, "www", a1, "api", a1))
		sleep(time.Minute)
		written := 0
		w.d.hand(func() {
			w.d.written = func() {
				written++
				w.p.Hold("berlin", true)
				if written != 2 {
					w.p.Hold("berlin", false)
				}
			}
		})
		w.p.Want("router", names("app", a2, "www", a2, "api", a2))
		sleep(time.Minute)
		if written != 2 {
			t.Errorf("%d writes", written)
		}
		w.p.Hold("berlin", false)
		sleep(time.Minute)
		for _, name := range []string{"app", "www", "api"} {
			w.holds(name, a2)
		}
		if written != 3 {
			t.Errorf("%d writes", written)
		}
		w.told()
	})
}

// What an operator orders of a site that cannot be seen would wait for ever, or
// open the way for all that comes after it.
func TestAnOrderGoesThrough(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.p.Order("berlin") // of a site that is seen: nothing that lasts
		w.p.Hold("berlin", true)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Want("router", names("app", a2))
		sleep(time.Minute)
		w.holds("app", a1)
		w.p.Order("hamburg")
		w.p.Order("berlin")
		sleep(time.Minute)
		w.holds("app", a1)
		w.d.hand(func() { w.d.fail = nil })
		sleep(2 * time.Minute)
		w.holds("app", a2) // it was tried until it was done
		w.p.Want("router", names("app", a1))
		sleep(time.Hour)
		w.holds("app", a2)
		if _, err := w.p.Enable(w.t.Context(), "router"); err != nil {
			t.Fatal(err)
		}
		sleep(time.Second)
		w.holds("app", a1) // the target's own order is one as well
		w.d.hand(func() { w.d.insert(providers.Entry{Record: providers.Record{Name: "www", Addr: a2}}) })
		w.p.Want("router", names("app", a1, "www", a1))
		if _, err := w.p.Adopt(w.t.Context(), "router", "www", true); err != nil {
			t.Fatal(err)
		}
		w.holds("www", a1)
		if _, err := w.p.Purge(w.t.Context(), "router", Order{}, true); err != nil {
			t.Fatal(err)
		}
		w.holds("app")
		w.holds("www")
	})
}

// An order that was not done when the site came back would let through what
// comes after the next cut.
func TestAnOrderEndsWithTheHold(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Hold("berlin", true)
		w.p.Order("berlin")
		sleep(time.Minute)
		w.p.Hold("berlin", false)
		w.p.Hold("berlin", true)
		w.d.hand(func() { w.d.fail = nil })
		w.p.Want("router", names("app", a2))
		sleep(time.Hour)
		w.holds("app", a1)
	})
}

// A restart while the controller is cut off would push what had waited.
func TestHeldAcrossARestart(t *testing.T) {
	for _, marks := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d, s := &device{marks: marks}, newShelf()
			w := newWorld(t, d, s)
			w.p.Want("router", names("app", a1))
			sleep(time.Minute)
			w.p.Hold("berlin", true)
			w.p.Want("router", names("app", a2))
			sleep(time.Minute)
			w.close()
			w = newWorld(t, d, s)
			w.p.Hold("berlin", true)
			w.p.Want("router", names("app", a2))
			d.hand(func() { d.entries[0].Addr = alien })
			sleep(time.Hour)
			w.holds("app", alien)
			w.told()
			w.p.Hold("berlin", false)
			sleep(2 * time.Minute)
			w.holds("app", map[bool][]netip.Addr{true: {a2}, false: {a2, alien}}[marks]...)
			w.close()
		})
	}
}

// A reload that makes a target anew would let it go while its site is held.
func TestHeldAcrossAReload(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.p.Hold("berlin", true)
		old := w.d
		w.d = &device{marks: true}
		w.use(func(t *Target) { t.Kind = "new" })
		w.p.Want("router", names("app", a2))
		sleep(time.Hour)
		if calls, _ := w.d.count(); calls != 0 {
			t.Errorf("%d calls", calls)
		}
		w.p.Hold("berlin", false)
		sleep(time.Minute)
		w.holds("app", a2)
		if got := old.answers("app"); len(got) != 1 || got[0] != a1 {
			t.Errorf("the old one answers %v", got)
		}
	})
}

// A setting beside the records would be written though the site was lost while
// they were compared.
func TestNothingIsSettledWhileHeld(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		settled := w.d.settled
		w.d.hand(func() { w.d.fail = func(int) error { w.p.Hold("berlin", true); return nil } })
		w.p.Compare("berlin")
		sleep(time.Hour)
		if n := w.d.settled - settled; n != 0 {
			t.Errorf("settled %d times", n)
		}
	})
}

// That a target of a site without a view fails would be told though nobody can
// do anything; once the site is seen it must be.
func TestSeenIsSaidOfTheSiteAlone(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Seen("berlin", false)
		w.p.Seen("hamburg", true)
		sleep(time.Hour)
		w.told()
		w.p.Seen("berlin", true)
		sleep(20 * time.Minute)
		w.told(sites.PublishFailed)
	})
}
