package publish

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// A push that no client sees would pass for one that helped.
func TestVisibility(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.mu.Lock()
		w.ask = func(string) []netip.Addr { return []netip.Addr{alien} }
		w.mu.Unlock()
		w.p.Want("router", names("app", a1))
		sleep(29 * time.Second)
		if w.asked > 60 {
			t.Errorf("asked %d times within 29 s", w.asked)
		}
		w.told()
		resolver := netip.MustParseAddr("192.0.2.53")
		if _, ok := w.p.Proof("berlin", resolver); ok {
			t.Error("what was never seen is a proof")
		}
		sleep(time.Minute)
		w.told(sites.PublishNotVisible)
		w.mu.Lock()
		w.ask = nil
		w.mu.Unlock()
		sleep(10 * time.Second)
		w.told(sites.PublishNotVisible, sites.PublishVisible)
		p, ok := w.p.Proof("berlin", resolver)
		if !ok || p.Name != "app" || len(p.Expect) != 2 {
			t.Errorf("%+v %v", p, ok)
		}
		if _, ok := w.p.Proof("berlin", alien); ok {
			t.Error("a resolver that was not asked is proven")
		}
		// While an address is in flight the proof stands.
		w.p.Want("router", names("app", a2))
		if p, ok = w.p.Proof("berlin", resolver); !ok || len(p.Expect) != 2 {
			t.Errorf("%+v %v", p, ok)
		}
		sleep(time.Second)
		if w.view().Visible > time.Second {
			t.Errorf("visible after %s", w.view().Visible)
		}
		w.p.Want("router", Desired{Emptied: []string{"app"}})
		if _, ok = w.p.Proof("berlin", resolver); ok {
			t.Error("what is taken away is asked for")
		}
	})
}

// The first who uses this would have to delete his records by hand, and a
// target could not be left clean.
func TestAdoptAndPurge(t *testing.T) {
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) {
			w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: a2}})
			w.d.insert(providers.Entry{Record: providers.Record{Name: "printer", Addr: alien}})
			w.p.Want("router", names("app", a1))
			sleep(time.Second)
			found, err := w.p.Adopt(w.t.Context(), "router", "", false)
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			w.holds("app", a2)
			if _, err := w.p.Adopt(w.t.Context(), "router", "app", true); err != nil {
				t.Fatal(err)
			}
			sleep(time.Second)
			w.holds("app", a1)
			if found, err = w.p.Purge(w.t.Context(), "router", Order{}, false); err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			w.holds("app", a1)
			if _, err = w.p.Purge(w.t.Context(), "router", Order{By: "jo"}, true); err != nil {
				t.Fatal(err)
			}
			sleep(time.Hour)
			w.holds("app")
			w.holds("printer", alien)
		})
	}
}

// An operator would be told that a target is caught up with that refuses the log-in,
// and whoever looks or asks again would have it lock everybody out.
func TestRefusedCredentialsAreNotTriedByCommands(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.hand(func() {
			w.d.fail = func(int) error { return &providers.Error{Class: providers.Denied, Err: fmt.Errorf("wrong password")} }
		})
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		for range 20 {
			if list, err := w.p.Plan(w.t.Context(), ""); err != nil || list[0].Err == nil || !strings.Contains(list[0].Err.Error(), "nothing was tried") {
				t.Fatalf("%+v %v", list, err)
			}
			for _, do := range []bool{false, true} {
				if _, err := w.p.Adopt(w.t.Context(), "router", "", do); err == nil {
					t.Fatal("a target that refuses us is adopted from")
				}
			}
			if _, err := w.p.Enable(w.t.Context(), "router"); err == nil || !strings.Contains(err.Error(), "not caught up with") {
				t.Fatal(err)
			}
		}
		if calls, _ := w.d.count(); calls != 1 {
			t.Errorf("%d tries", calls)
		}
		sleep(4 * time.Minute) // it was tried again by itself
		if _, err := w.p.Enable(w.t.Context(), "router"); err == nil || !strings.Contains(err.Error(), "router is enabled, but not caught up with: wrong password") {
			t.Error(err)
		}
		if calls, _ := w.d.count(); calls != 3 {
			t.Errorf("%d tries", calls)
		}
		w.told(sites.PublishFailed)
	})
}

// "Is caught up with" would be said of a target that nothing was sent to.
func TestEnableBeforeTheSiteIsSeen(t *testing.T) {
	bubble(t, true, func(w *world) {
		if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || !strings.Contains(later, "when its site was seen") {
			t.Error(later, err)
		}
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		hang := make(chan struct{})
		w.d.hand(func() { w.d.hang = hang })
		start := time.Now()
		if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || !strings.Contains(later, "takes longer") || time.Since(start) > time.Minute {
			t.Error(later, err)
		}
		close(hang)
	})
}

// Who enables a target of a site that is cut off would be told that a context's
// deadline was exceeded, as if the order had failed.
func TestEnableWhileTheSiteIsCutOff(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		hang := make(chan struct{})
		w.d.hand(func() { w.d.hang = hang })
		w.p.Seen("berlin", false)
		if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || !strings.Contains(later, "nothing of berlin can be seen") {
			t.Error(later, err)
		}
		close(hang)
		w.d.hand(func() { w.d.hang, w.d.fail = nil, func(int) error { return context.DeadlineExceeded } })
		sleep(time.Minute)
		if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || !strings.Contains(later, "nothing of berlin can be seen") {
			t.Error(later, err)
		}
		w.p.Seen("berlin", true)
		w.d.hand(func() { w.d.fail = nil })
		sleep(time.Minute)
		if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || later != "" {
			t.Error(later, err)
		}
	})
}

// At a site that cannot be seen a plan of all targets would wait for one router after
// the other, for minutes.
func TestAPlanWaitsForAllSilentTargetsAtOnce(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.hang = make(chan struct{})
		var list []Target
		for _, name := range []string{"one", "two", "three", "four"} {
			target := w.target
			target.Name = name
			target.Servers = []Server{{Name: "192.0.2.1:8729", Connect: func() (providers.Provider, error) { return w.d, nil }}}
			list = append(list, target)
		}
		if err := w.p.Use(list); err != nil {
			t.Fatal(err)
		}
		for _, target := range list {
			w.p.Want(target.Name, names("app", a1))
		}
		start := time.Now()
		plans, err := w.p.Plan(context.Background(), "")
		if took := time.Since(start); err != nil || len(plans) != 4 || took > listWithin {
			t.Errorf("%d plans after %s, %v", len(plans), took, err)
		}
		for i, plan := range plans {
			if plan.Name != list[i].Name || plan.Err == nil {
				t.Errorf("%+v", plan)
			}
		}
	})
}

// A person would read of a target that was emptied that it holds its records still.
func TestPurgedIsReadSo(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		if _, err := w.p.Purge(w.t.Context(), "router", Order{By: "jo"}, true); err != nil {
			t.Fatal(err)
		}
		sleep(time.Minute)
		w.holds("app")
		if v := w.view(); len(v.Sets[0].Actual) > 0 || v.Writes != 2 {
			t.Errorf("%+v", v)
		}
	})
}

// Whoever purges a target would have it emptied, though another has enabled it meanwhile.
func TestEnabledWhilePurged(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.d.hand(func() {
			w.d.fail = func(int) error { // it is looked at
				w.d.fail = nil
				w.p.find("router")[0].enable()
				return nil
			}
		})
		if _, err := w.p.Purge(w.t.Context(), "router", Order{By: "jo"}, true); err == nil || !strings.Contains(err.Error(), "enabled") {
			t.Errorf("told %v", err)
		}
		w.holds("app", a1)
	})
}
