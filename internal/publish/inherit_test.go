package publish

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// silent does not tell of itself.
type silent struct{ *device }

func (silent) Inspect(ctx context.Context) (providers.Inspection, error) {
	<-ctx.Done()
	return providers.Inspection{}, ctx.Err()
}

// stubborn takes its time to tell of itself, whatever happens meanwhile.
type stubborn struct{ *device }

func (stubborn) Inspect(context.Context) (providers.Inspection, error) {
	time.Sleep(10 * time.Second)
	return providers.Inspection{}, errDown
}

// replaced has a target that a reload gave another provider while the one before is
// still about its work, for some seconds more.
func (w *world) replaced() {
	w.t.Helper()
	slow := w.target
	slow.Kind = "slow"
	slow.Servers = []Server{{Name: "192.0.2.1:8729", Connect: func() (providers.Provider, error) { return stubborn{w.d}, nil }}}
	if err := w.p.Use([]Target{slow}); err != nil {
		w.t.Fatal(err)
	}
	w.p.Want("router", names("app", a1))
	synctest.Wait() // it is asked to tell of itself
	w.use(func(*Target) {})
	synctest.Wait()
}

// stored gives what would survive a kill now.
func (w *world) stored() (k kept) {
	w.t.Helper()
	if err := json.Unmarshal(w.s.Get()["router 192.0.2.1:8729"], &k); err != nil {
		w.t.Fatal(err)
	}
	return k
}

// An operator would be told that nothing is sent to a target any more, and it would be
// written to a few seconds later, because a reload had just given it another password;
// a kill meanwhile would lose the journal of what is ours there.
func TestDisabledWhileReplaced(t *testing.T) {
	bubble(t, false, func(w *world) {
		w.replaced()
		if err := w.p.Disable(w.t.Context(), "router", Order{By: "jo"}); err != nil {
			t.Fatal(err)
		}
		if k := w.stored(); k.Disabled == nil || len(k.Owned) != 1 {
			t.Errorf("stored while it is replaced: %+v", k)
		}
		sleep(time.Minute)
		w.p.Want("router", names("app", a2))
		sleep(time.Minute)
		w.holds("app", a1)
		if v := w.view(); v.State != Disabled {
			t.Errorf("%s", v.State)
		}
		if k := w.stored(); k.Disabled == nil || len(k.Owned) != 1 {
			t.Errorf("stored: %+v", k)
		}
	})
	bubble(t, false, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		if err := w.p.Disable(w.t.Context(), "router", Order{By: "jo"}); err != nil {
			t.Fatal(err)
		}
		w.use(func(t *Target) { t.Kind = "another" })
		if v := w.view(); v.State != Disabled {
			t.Errorf("%s right after a reload", v.State)
		}
	})
}

// What one has told of that another takes the place of would stay open for ever, or
// would take away what the other has stored since.
func TestToldWhileReplaced(t *testing.T) {
	bubble(t, false, func(w *world) {
		w.d.hand(func() { w.d.insert(providers.Entry{Record: providers.Record{Name: "www", Addr: alien}}) })
		var later []func()
		tell := w.p.deps.Tell
		w.p.deps.Tell = func(f func() (sites.Event, bool)) { later = append(later, func() { tell(f) }) }
		w.p.Want("router", names("app", a1, "www", a1))
		sleep(time.Second)
		w.use(func(t *Target) { t.Kind = "another" })
		synctest.Wait()
		w.p.Want("router", names("app", a2, "www", a1))
		sleep(time.Second)
		before := w.stored()
		w.p.deps.Tell = tell
		for _, f := range later {
			f()
		}
		if now := w.stored(); len(now.Owned) != len(before.Owned) || now.Last[0] != before.Last[0] {
			t.Errorf("%+v is stored, and %+v was", now, before)
		}
		w.told(sites.Drift)
		w.d.hand(func() { w.d.entries = w.d.entries[1:] })
		sleep(10 * time.Minute)
		w.told(sites.Drift, sites.DriftRepaired)
	})
}

// Whoever orders something of a site that cannot be seen, or sets removals free, and then
// mends the target's password in the configuration, would have to order it once more.
func TestAnOrderOutlivesAReload(t *testing.T) {
	t.Run("of a site that is held", func(t *testing.T) {
		bubble(t, true, func(w *world) {
			w.p.Want("router", names("app", a1))
			sleep(time.Second)
			w.p.Hold("berlin", true)
			w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
			w.p.Want("router", names("app", a2))
			w.p.Order("berlin")
			sleep(time.Minute)
			w.holds("app", a1)
			w.d.hand(func() { w.d.fail = nil })
			w.use(func(t *Target) { t.Kind = "another" })
			sleep(time.Minute)
			w.holds("app", a2)
			// It was carried out: nothing more is sent by itself.
			w.p.Want("router", names("app", a1))
			sleep(time.Minute)
			w.holds("app", a2)
		})
	})
	t.Run("to let removals go", func(t *testing.T) {
		bubble(t, true, func(w *world) {
			w.p.Want("router", names("app", a1, "one", a1, "two", a1, "three", a1))
			sleep(time.Second)
			w.p.Want("router", names("app", a1))
			sleep(time.Second)
			w.holds("one", a1)
			w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
			if _, err := w.p.Enable(w.t.Context(), "router"); err == nil {
				t.Error("no error")
			}
			w.d.hand(func() { w.d.fail = nil })
			w.use(func(t *Target) { t.Kind = "another" })
			sleep(time.Minute)
			w.holds("one")
		})
	})
}

// A record that is taken over right after a reload that has changed the target would be
// somebody else's again a few seconds later, without failover.
func TestTakenOverWhileReplaced(t *testing.T) {
	bubble(t, false, func(w *world) {
		w.d.hand(func() { w.d.insert(providers.Entry{Record: providers.Record{Name: "www", Addr: a2}}) })
		w.replaced()
		w.p.Want("router", names("app", a1, "www", a1))
		if found, err := w.p.Adopt(w.t.Context(), "router", "www", true); err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		sleep(time.Minute)
		w.holds("www", a1)
		if k := w.stored(); len(k.Owned) != 2 {
			t.Errorf("stored: %+v", k)
		}
		w.p.Want("router", names("app", a1, "www", a2))
		sleep(time.Minute)
		w.holds("www", a2)
	})
}

// A kill just after a reload that has changed a target would lose what was ordered of it, or
// the journal: what the one before it stores while it ends, and what the one in its place is
// told, would take each other away.
func TestStoredWhileReplaced(t *testing.T) {
	bubble(t, false, func(w *world) {
		w.replaced()
		m := w.p.find("router")[0]
		tell := func(k *kept) { k.Open = map[slot]open{slotFailed: {Text: "it fails"}} }
		m.before().save(tell)
		m.save(tell)
		m.disable(Order{By: "jo"})
		m.before().save(func(k *kept) { k.Drifts = 7 })
		w.p.Note([]sites.Event{{ID: 9, Kind: sites.PublishFailed, Target: "router", Text: "it fails"}})
		if k := w.stored(); k.Disabled == nil || k.Drifts != 7 || k.Open[slotFailed].ID != 9 {
			t.Errorf("stored: %+v", k)
		}
		sleep(time.Minute) // the one before it has ended
		if k := w.stored(); k.Disabled == nil || k.Drifts != 7 || k.Open[slotFailed].ID != 9 {
			t.Errorf("stored: %+v", k)
		}
	})
}
