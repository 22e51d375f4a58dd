package publish

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// A TTL that somebody has changed at AdGuard Home would stay so until a record
// moves; or it would be changed in a dry run.
func TestSettingsAreLookedAtWhenNothingMoves(t *testing.T) {
	for _, dry := range []bool{false, true} {
		bubble(t, false, func(w *world) {
			w.use(func(target *Target) { target.DryRun = dry })
			w.p.Want("router", names("app", a1))
			sleep(time.Minute)
			_, writes := w.d.count()
			sleep(11 * time.Minute)
			if _, now := w.d.count(); now != writes {
				t.Errorf("%d records were written", now-writes)
			}
			w.d.mu.Lock()
			defer w.d.mu.Unlock()
			if got := w.d.settled; dry && got != 0 || !dry && got < 3 {
				t.Errorf("dry run %v: the settings were looked at %d times", dry, got)
			}
		})
	}
}

// An AdGuard Home that will not have its TTL set would have moves wait for five minutes,
// people told that clients still get an address that has left, and nobody told of what a
// hand changes there.
func TestASettingIsRefused(t *testing.T) {
	for _, class := range []providers.Class{providers.Permanent, providers.Transient, providers.Declined} {
		bubble(t, false, func(w *world) {
			w.p.Want("router", names("app", a1, "www", a1))
			sleep(time.Minute)
			w.d.hand(func() { w.d.unset = &providers.Error{Class: class, Err: errors.New("the TTL cannot be set")} })
			for i := range 5 { // each at once
				to := a1
				if i%2 == 0 {
					to = a2
				}
				w.p.Want("router", names("app", to, "www", a1))
				synctest.Wait()
				w.holds("app", to)
			}
			sleep(10 * time.Minute)
			w.told(sites.PublishFailed)
			if e := w.last(); e.Severity != sites.Warning || !strings.Contains(e.Text, "the TTL cannot be set") || strings.Contains(e.Text, "clients get") {
				t.Errorf("%+v", e)
			}
			if v := w.view(); v.State != Failing || v.Wrong || v.Pending != 0 || v.Sets[0].Visible == nil || !*v.Sets[0].Visible {
				t.Errorf("%+v", v)
			}
			if k := w.stored(); len(k.Flight) != 0 || len(k.Last) != 2 {
				t.Errorf("stored: %+v", k)
			}
			// What a hand does there is still seen and put right.
			w.d.hand(func() {
				w.d.entries = slices.DeleteFunc(w.d.entries, func(e providers.Entry) bool { return e.Name == "www" })
			})
			sleep(6 * time.Minute)
			w.holds("www", a1)
			w.told(sites.PublishFailed, sites.Drift, sites.DriftRepaired)
			w.d.hand(func() { w.d.unset = nil })
			sleep(6 * time.Minute)
			w.told(sites.PublishFailed, sites.Drift, sites.DriftRepaired, sites.PublishRecovered)
		})
	}
}

// If this fails, a target whose clients get what they should would be told to give them an
// address that has left, for as long as it will not have a setting.
func TestAMoveComesThereAndASettingDoesNot(t *testing.T) {
	bubble(t, false, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Want("router", names("app", a2))
		sleep(time.Minute)
		w.told(sites.PublishFailed)
		if e := w.last(); e.Severity != sites.Critical {
			t.Errorf("%+v", e)
		}
		w.d.hand(func() {
			w.d.fail = nil
			w.d.unset = &providers.Error{Class: providers.Permanent, Err: errors.New("the TTL cannot be set")}
		})
		sleep(10 * time.Minute)
		w.holds("app", a2)
		w.told(sites.PublishFailed, sites.PublishFailed)
		if e := w.last(); e.Severity != sites.Warning || e.Resolves != 1 || strings.Contains(e.Text, "clients get") {
			t.Errorf("%+v", e)
		}
	})
}
