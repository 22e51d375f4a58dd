package publish

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
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

// On a disk that hangs an order would reach the first server of a target, and the second
// only once the order's time is over.
func TestAnOrderReachesAllServersAtOnce(t *testing.T) {
	bubble(t, true, func(w *world) {
		second := &device{marks: true}
		w.target.Servers = append(w.target.Servers, Server{Name: "192.0.2.2:8729", Connect: func() (providers.Provider, error) { return second, nil }})
		if err := w.p.Use([]Target{w.target}); err != nil {
			t.Fatal(err)
		}
		held := func(want string) {
			t.Helper()
			for i, d := range []*device{w.d, second} {
				if got := d.answers("app"); len(got) != 1 || got[0].String() != want {
					t.Errorf("server %d holds %v, want %s", i+1, got, want)
				}
			}
		}
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		held("192.0.2.10")
		w.s.mu.Lock()
		w.s.stalls = true
		w.s.mu.Unlock()
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		go func() { _ = w.p.Disable(ctx, "router", Order{By: "jo"}) }() // it tells that nothing lasts
		synctest.Wait()
		w.p.Want("router", names("app", a2))
		sleep(10 * time.Second)
		held("192.0.2.10")
		sleep(time.Minute)
		go func() { _, _ = w.p.Enable(ctx, "router") }() // as above
		sleep(10 * time.Second)
		held("192.0.2.11")
	})
}

// Whoever enables a target that is only looked at would be told that it is caught up with,
// where nothing was sent to it.
func TestATargetThatIsOnlyLookedAtIsEnabled(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.use(func(target *Target) { target.DryRun = true })
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || !strings.Contains(later, "dry_run") {
			t.Error(later, err)
		}
	})
}

// A person would read that a target is tried again which is left alone, or held.
func TestWhatIsLeftAloneIsNotTriedAgain(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.hand(func() {
			w.d.fail = func(int) error { return &providers.Error{Class: providers.Permanent, Err: errDown} }
		})
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		if v := w.view(); v.State != Failing || v.Retry.IsZero() {
			t.Errorf("%s, tried again at %s", v.State, v.Retry)
		}
		w.p.Hold("berlin", true)
		if v := w.view(); v.State != OnHold || !v.Retry.IsZero() {
			t.Errorf("%s, tried again at %s", v.State, v.Retry)
		}
		w.p.Hold("berlin", false)
		if err := w.p.Disable(w.t.Context(), "router", Order{By: "jo"}); err != nil {
			t.Error(err)
		}
		if v := w.view(); v.State != Disabled || !v.Retry.IsZero() {
			t.Errorf("%s, tried again at %s", v.State, v.Retry)
		}
	})
}

// People would wait for a try five minutes from now of a target that wants to be left alone
// until tomorrow, or for one today.
func TestWhenDeniedCredentialsAreTriedAgain(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.hand(func() {
			w.d.fail = func(int) error {
				return &providers.Error{Class: providers.Denied, After: 20 * time.Hour, Err: errors.New("too many wrong tries")}
			}
		})
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		at := w.view().Retry.UTC().Format("2006-01-02 15:04:05 UTC")
		if e := w.last(); !strings.Contains(e.Text, "It is tried again at "+at) {
			t.Errorf("%+v", e)
		}
		if _, err := w.p.Enable(w.t.Context(), "router"); err == nil || !strings.Contains(err.Error(), "tried again at "+at) {
			t.Errorf("told %v", err)
		}
	})
}
