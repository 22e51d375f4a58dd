package publish

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// Whoever enables a target so that removals go that the guard holds would be told
// that it is caught up with, and nothing would have gone: a round that was under way
// knew nothing of the order.
func TestEnableDuringARound(t *testing.T) {
	bubble(t, true, func(w *world) {
		before := Desired{}
		for i := range 6 {
			before.Records = append(before.Records, providers.Record{Name: fmt.Sprintf("n%d", i), Addr: a1})
		}
		w.p.Want("router", before)
		sleep(time.Minute)
		w.p.Want("router", Desired{Records: before.Records[:1]})
		sleep(time.Minute)
		w.holds("n5", a1) // the guard holds it
		earlier, own := make(chan struct{}), make(chan struct{})
		w.d.hand(func() { w.d.hang = earlier })
		w.p.Compare("berlin")
		synctest.Wait()
		enabled := make(chan struct{})
		go func() {
			defer close(enabled)
			if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || later != "" {
				t.Error(later, err)
			}
		}()
		synctest.Wait()
		w.d.hand(func() { w.d.hang = own })
		close(earlier)
		synctest.Wait() // the earlier round has ended, that of the order is under way
		select {
		case <-enabled:
			t.Error("it is told that the target is caught up with while the round of the order is under way")
		default:
		}
		w.d.hand(func() { w.d.hang = nil })
		close(own)
		<-enabled
		w.holds("n5")
	})
}

// What an operator orders of a site that is held would wait for the site, because a
// round that was under way for an earlier order takes it for done.
func TestAnOrderDuringARound(t *testing.T) {
	bubble(t, true, func(w *world) {
		alone := w.target // a zone has nothing to settle beside its records
		alone.Kind = "zone"
		alone.Servers = []Server{{Name: "192.0.2.1:53", Connect: func() (providers.Provider, error) { return struct{ providers.Provider }{w.d}, nil }}}
		if err := w.p.Use([]Target{alone}); err != nil {
			t.Fatal(err)
		}
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.p.Hold("berlin", true)
		hang := make(chan struct{})
		w.d.hand(func() { w.d.written = func() { w.d.hang, w.d.written = hang, nil } })
		w.p.Want("router", names("app", a2))
		w.p.Order("berlin")
		synctest.Wait() // it is read back
		w.p.Want("router", names("app", netip.MustParseAddr("192.0.2.12")))
		w.p.Order("berlin")
		w.d.hand(func() { w.d.hang = nil })
		close(hang)
		sleep(time.Minute)
		w.holds("app", netip.MustParseAddr("192.0.2.12"))
	})
}

// Whoever mends a router and enables its target at once would be told that it could not
// be caught up with, for what an earlier round met there.
func TestEnableAfterARoundThatFails(t *testing.T) {
	t.Run("which was under way", func(t *testing.T) {
		bubble(t, true, func(w *world) {
			w.p.Want("router", names("app", a1))
			sleep(time.Minute)
			hang := make(chan struct{})
			w.d.hand(func() { w.d.hang, w.d.fail = hang, func(int) error { return errDown } })
			w.p.Want("router", names("app", a2))
			synctest.Wait() // it meets what it will say
			enabled := make(chan struct{})
			go func() {
				defer close(enabled)
				if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || later != "" {
					t.Error(later, err)
				}
			}()
			synctest.Wait()
			w.d.hand(func() { w.d.hang, w.d.fail = nil, nil })
			close(hang)
			<-enabled
			w.holds("app", a2)
		})
	})
	t.Run("before one that has something newer to push", func(t *testing.T) {
		bubble(t, true, func(w *world) {
			w.p.Want("router", names("app", a1))
			sleep(time.Minute)
			w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
			w.p.Want("router", names("app", a2, "www", a2))
			sleep(time.Minute)
			hang := make(chan struct{})
			w.d.hand(func() {
				w.d.fail = nil
				w.d.written = func() {
					w.d.hang, w.d.written = hang, nil
					w.p.Want("router", names("app", a2, "www", a1))
				}
			})
			go func() {
				time.Sleep(time.Second) // the round has ended for what is newer
				w.d.hand(func() { w.d.hang = nil })
				close(hang)
			}()
			if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || later != "" {
				t.Error(later, err)
			}
			w.holds("app", a2)
		})
	})
}

// Of two who enable a target one after the other the first would wait for what the
// second has ordered.
func TestTwoWhoEnable(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		earlier, own, later := make(chan struct{}), make(chan struct{}), make(chan struct{})
		enable := func() (told chan string) {
			told = make(chan string, 1)
			go func() {
				wait, err := w.p.Enable(w.t.Context(), "router")
				told <- fmt.Sprint(wait, err)
			}()
			synctest.Wait()
			return told
		}
		w.d.hand(func() { w.d.hang, w.d.fail = earlier, func(int) error { return errDown } })
		w.p.Compare("berlin")
		synctest.Wait() // a round is under way that has met the fault
		first := enable()
		w.d.hand(func() { w.d.fail, w.d.hang = nil, own })
		close(earlier)
		synctest.Wait()
		select {
		case said := <-first:
			t.Errorf("told of the earlier round: %s", said)
		default:
		}
		second := enable()
		w.d.hand(func() { w.d.hang = later })
		close(own)
		synctest.Wait()
		select {
		case said := <-first:
			if said != "<nil>" {
				t.Error(said)
			}
		default:
			t.Error("the first waits for the second")
		}
		w.d.hand(func() { w.d.hang = nil })
		close(later)
		if said := <-second; said != "<nil>" {
			t.Error(said)
		}
	})
}
