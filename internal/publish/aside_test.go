package publish

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// A failover would wait for a target that hangs when it is asked what it says of itself,
// which it is once an hour.
func TestAMoveWaitsForNoInspection(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.target.Servers = []Server{{Name: "192.0.2.1:8729", Config: "silent", Connect: func() (providers.Provider, error) { return silent{w.d}, nil }}}
		if err := w.p.Use([]Target{w.target}); err != nil {
			t.Fatal(err)
		}
		w.p.Want("router", names("app", a1))
		synctest.Wait() // it is asked
		w.p.Want("router", names("app", a2))
		synctest.Wait()
		w.holds("app", a2)
		sleep(time.Minute)
		if w.view().Compared.Before(time.Now().Add(-time.Minute)) {
			t.Error("it was not compared any more")
		}
	})
}

// A failover would wait for a target that was read while its site could not be seen, and
// hung then.
func TestAMoveWaitsForNoGlance(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		proof, ok := w.p.Proof("berlin", netip.MustParseAddr("192.0.2.53"))
		if !ok {
			t.Fatal("no proof")
		}
		w.p.Hold("berlin", true)
		sleep(time.Minute)
		before, _ := w.d.count()
		w.d.hand(func() { w.d.hang = make(chan struct{}) })
		proof.Heard([]netip.Addr{alien})
		synctest.Wait()
		if now, _ := w.d.count(); now != before+1 {
			t.Fatal("it is not read")
		}
		w.d.hand(func() { w.d.hang = nil })
		w.p.Want("router", names("app", a2)) // this waits for the site
		synctest.Wait()
		w.holds("app", a1)
		w.p.Hold("berlin", false)
		synctest.Wait()
		w.holds("app", a2)
	})
}

// A failover would wait for a target that hangs when it is asked for what it has beside its
// records; and what was put right there before would be told to nobody.
func TestAMoveWaitsForNoSetting(t *testing.T) {
	bubble(t, false, func(w *world) {
		w.p.Want("router", names("app", a1, "www", a1))
		sleep(time.Minute)
		w.d.hand(func() {
			w.d.silent = make(chan struct{})
			w.d.entries = slices.DeleteFunc(w.d.entries, func(e providers.Entry) bool { return e.Name == "www" })
		})
		w.p.Compare("berlin")
		synctest.Wait()
		w.holds("www", a1)
		w.told()
		w.p.Want("router", names("app", a2, "www", a1))
		synctest.Wait()
		w.holds("app", a2)
		w.told(sites.Drift, sites.DriftRepaired)
		if v := w.view(); v.Drifts != 1 {
			t.Errorf("%+v", v)
		}
		sleep(time.Minute)
		w.told(sites.Drift, sites.DriftRepaired, sites.PublishFailed)
	})
}

// A failover would wait for whoever looks at what a push would change, where the target hung
// as that began.
func TestAMoveWaitsForNoPlan(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		for _, look := range []func() error{
			func() error {
				list, err := w.p.Plan(w.t.Context(), "router")
				return errors.Join(err, list[0].Err)
			},
			func() error {
				_, err := w.p.Adopt(w.t.Context(), "router", "", false)
				return err
			},
			func() error {
				_, err := w.p.Purge(w.t.Context(), "router", Order{}, false)
				return err
			},
		} {
			w.d.hand(func() { w.d.hang = make(chan struct{}) })
			looked := make(chan error, 1)
			go func() { looked <- look() }()
			synctest.Wait()
			w.d.hand(func() { w.d.hang = nil })
			w.p.Want("router", names("app", a2))
			synctest.Wait()
			w.holds("app", a2)
			if err := <-looked; err != nil {
				t.Error(err)
			}
			w.p.Want("router", names("app", a1))
			sleep(time.Minute)
		}
	})
}
