package publish

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// An operator who works on a router would be written over, or what was missed
// never be caught up with; a restart would forget the word.
func TestDisable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := &device{marks: true}, newShelf()
		w := newWorld(t, d, s)
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		if err := w.p.Disable(w.t.Context(), "router", Order{By: "jo"}); err != nil {
			t.Fatal(err)
		}
		before, _ := d.count()
		w.p.Want("router", names("app", a2))
		sleep(time.Hour)
		w.close()
		w = newWorld(t, d, s)
		w.p.Want("router", names("app", a2))
		sleep(time.Hour)
		if calls, _ := d.count(); calls != before || w.view().State != Disabled {
			t.Errorf("a disabled target was spoken to: %d calls, %+v", calls-before, w.view())
		}
		w.holds("app", a1)
		if _, err := w.p.Enable(w.t.Context(), "router"); err != nil {
			t.Fatal(err)
		}
		sleep(time.Second)
		w.holds("app", a2)
		if err := w.p.Disable(w.t.Context(), "printer", Order{}); err == nil {
			t.Error("a target that is not there is disabled")
		}
		w.close()
	})
}

// A restart after a kill would push an answer older than the one at the target,
// as the store has not seen the newer one.
func TestWhatIsPushedIsStoredFirst(t *testing.T) {
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) {
			w.d.hand(func() {
				w.d.written = func() {
					if w.s.flushed == 0 {
						t.Error("a write comes before the store")
					}
				}
			})
			w.p.Want("router", names("app", a1))
			sleep(time.Second)
			w.holds("app", a1)
			// A store that fails keeps back only what cannot be told apart
			// without it.
			w.s.mu.Lock()
			w.s.fail = errDown
			w.s.mu.Unlock()
			w.p.Want("router", names("app", a2))
			sleep(time.Minute)
			if marks {
				w.holds("app", a2)
				return
			}
			w.holds("app", a1)
			w.told(sites.PublishFailed)
			w.s.mu.Lock()
			w.s.fail = nil
			w.s.mu.Unlock()
			sleep(time.Minute + time.Second)
			w.holds("app", a2)
		})
	}
}

// A kill in the middle of a push would leave a name without an address, or
// records that nobody removes any more.
func TestKilledAtEachCall(t *testing.T) {
	for _, marks := range []bool{true, false} {
		for _, after := range []bool{false, true} {
			for n := range 14 {
				synctest.Test(t, func(t *testing.T) {
					d, s := &device{marks: marks}, newShelf()
					d.insert(providers.Entry{Record: providers.Record{Name: "printer", Addr: alien}})
					w := newWorld(t, d, s)
					w.p.Want("router", names("app", a1, "www", a1, "gone", a1))
					sleep(time.Second)
					d.hand(func() {
						d.after = after
						d.calls = 0
						d.fail = func(call int) error {
							if call >= n {
								d.after = d.after && call == n
								return errDown
							}
							return nil
						}
						d.written = func() {
							if len(d.entries) < 4 && d.fail != nil {
								t.Error("a name is empty")
							}
						}
					})
					w.p.Want("router", names("app", a2, "www", a2, "new", a1))
					synctest.Wait()
					w.close()
					d.hand(func() { d.fail, d.written = nil, nil })
					w = newWorld(t, d, s)
					w.p.Want("router", names("app", a2, "www", a2, "new", a1))
					sleep(time.Minute)
					for name, want := range map[string][]netip.Addr{"app": {a2}, "www": {a2}, "new": {a1}, "gone": nil, "printer": {alien}} {
						w.holds(name, want...)
					}
					w.told() // what we wrote ourselves is nobody's hand
					w.close()
				})
			}
		}
	}
}

// A router that was replaced would stay as it is, or everything be removed
// elsewhere because one listing was empty.
func TestAReload(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		old := w.d
		w.d = &device{marks: true}
		w.use(func(t *Target) { t.Kind = "new" })
		sleep(time.Second)
		w.holds("app", a1)
		if old.closed != 1 {
			t.Error("the old session is left open")
		}
		if gone := w.p.Left(nil); len(gone) != 1 || gone[0].Title != "router" || gone[0].Stays {
			t.Errorf("%+v", gone)
		}
		if err := w.p.Use(nil); err != nil {
			t.Fatal(err)
		}
		sleep(time.Second)
		if w.d.closed != 1 || len(w.p.Views()) != 0 {
			t.Error("a target that left goes on")
		}
		w.holds("app", a1)
	})
}
