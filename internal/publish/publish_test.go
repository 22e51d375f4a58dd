package publish

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs f with a world in a bubble of its own time.
func bubble(t *testing.T, marks bool, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &device{marks: marks}, newShelf())
		f(w)
		w.close()
	})
}

func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A router's flash would wear, and its log fill, though nothing happens.
func TestADayWithoutChangesWritesNothing(t *testing.T) {
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) {
			w.p.Want("router", names("app", a1, "www", a2))
			sleep(time.Minute)
			_, before := w.d.count()
			flushed, calls := w.s.flushed, w.d.calls
			for range 24 * 60 {
				w.p.Want("router", names("app", a1, "www", a2))
				sleep(time.Minute)
			}
			if _, after := w.d.count(); after != before || w.s.flushed != flushed {
				t.Errorf("%d writes to the target and %d to the store within an idle day", after-before, w.s.flushed-flushed)
			}
			if n := w.d.calls - calls; n != 288 {
				t.Errorf("it was compared %d times within a day, want 288", n)
			}
			w.told()
			if v := w.view(); v.State != Current || v.Inspection.Product != "a device" {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A push that fails would go unnoticed, be told again and again, or never be
// tried again.
func TestAFailingTargetIsToldOnceAndCaughtUpWith(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Want("router", names("app", a2))
		sleep(10 * time.Minute)
		w.told(sites.PublishFailed)
		e := w.last()
		if e.Severity != sites.Critical || !strings.Contains(e.Text, "192.0.2.10 for app") || e.Target != "router" {
			t.Errorf("the event does not say what clients get: %+v", e)
		}
		calls, _ := w.d.count()
		if calls > 30 || calls < 10 {
			t.Errorf("%d tries within ten minutes", calls)
		}
		if v := w.view(); v.State != Failing || v.Error == nil {
			t.Errorf("%+v", v)
		}
		w.d.hand(func() { w.d.fail = nil })
		sleep(time.Minute + time.Second)
		w.holds("app", a2)
		w.told(sites.PublishFailed, sites.PublishRecovered)
		if w.last().Resolves != e.ID {
			t.Errorf("the end resolves %d", w.last().Resolves)
		}
	})
}

// An outage of a target where nothing is to be moved would wake somebody at
// night.
func TestAFailingComparisonIsAWarning(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		sleep(10 * time.Minute)
		w.told(sites.PublishFailed)
		if w.last().Severity != sites.Warning {
			t.Errorf("%+v", w.last())
		}
		w.p.Want("router", names("app", a2))
		sleep(2 * time.Minute)
		w.told(sites.PublishFailed, sites.PublishFailed)
		if w.last().Severity != sites.Critical || w.last().Resolves != 1 {
			t.Errorf("a move that fails is not raised: %+v", w.last())
		}
	})
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Seen("berlin", false)
		sleep(time.Hour)
		w.told() // the site's outage was told
	})
}

// AdGuard Home would lock out the human whose browser shares our address.
func TestRefusedCredentialsAreTriedThreeTimes(t *testing.T) {
	bubble(t, true, func(w *world) {
		denied := &providers.Error{Class: providers.Denied, Err: fmt.Errorf("invalid user name or password")}
		w.d.hand(func() { w.d.fail = func(int) error { return denied } })
		w.p.Want("router", names("app", a1))
		sleep(24 * time.Hour)
		w.p.Want("router", names("app", a2))
		w.p.Compare("berlin")
		sleep(24 * time.Hour)
		if calls, _ := w.d.count(); calls != 3 {
			t.Errorf("%d tries", calls)
		}
		w.told(sites.PublishFailed)
		if w.view().State != Denied {
			t.Errorf("%+v", w.view())
		}
		w.d.hand(func() { w.d.fail = nil })
		if err := w.p.Enable(w.t.Context(), "router"); err != nil {
			t.Fatal(err)
		}
		sleep(time.Second)
		w.holds("app", a2)
		w.told(sites.PublishFailed, sites.PublishRecovered)
	})
}

// A target that takes one thing after another would be pushed what is past.
func TestOnlyTheNewestStateCounts(t *testing.T) {
	bubble(t, true, func(w *world) {
		hang := make(chan struct{})
		w.d.hand(func() { w.d.hang = hang })
		for i := range 100 {
			w.p.Want("router", names("app", netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})))
		}
		w.p.Want("router", names("app", a2))
		synctest.Wait()
		w.d.hand(func() { w.d.hang = nil })
		close(hang)
		sleep(time.Second)
		w.holds("app", a2)
		if _, writes := w.d.count(); writes != 1 {
			t.Errorf("%d writes", writes)
		}
	})
}

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
		if err := w.p.Enable(w.t.Context(), "router"); err != nil {
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

// A router that hangs would delay a decision, a reload or the stop.
func TestAHangingTargetDelaysNobody(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.hand(func() { w.d.hang = make(chan struct{}) })
		start := time.Now()
		w.p.Want("router", names("app", a1))
		synctest.Wait()
		w.p.Compare("berlin")
		w.p.Seen("berlin", true)
		w.view()
		w.use(func(t *Target) { t.Drift = Report })
		w.use(func(t *Target) { t.Kind = "another" })
		w.p.Want("router", names("app", a2))
		w.close()
		if took := time.Since(start); took > 0 {
			t.Errorf("it took %s", took)
		}
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
					w.close()
				})
			}
		}
	}
}

// Two who both mean well would fight over a record for ever, or a hand's slip
// would stay.
func TestDriftIsRepairedWithinLimits(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		remove := func() { w.d.hand(func() { w.d.entries = nil }) }
		remove()
		sleep(5 * time.Minute)
		w.holds("app", a1)
		w.told(sites.Drift, sites.DriftRepaired)
		// At once again: not before a minute has passed.
		remove()
		w.p.Compare("berlin")
		sleep(time.Second)
		if len(w.d.answers("app")) != 0 && time.Since(w.view().Changed) < time.Minute {
			t.Error("it is repaired twice within a minute")
		}
		sleep(time.Minute)
		w.holds("app", a1)
		remove()
		w.p.Compare("berlin")
		sleep(2 * time.Minute)
		w.holds("app", a1)
		remove() // the fourth time within the hour
		sleep(30 * time.Minute)
		w.holds("app")
		if w.last().Kind != sites.Drift || !strings.Contains(w.last().Text, "3 times an hour") {
			t.Errorf("%+v", w.last())
		}
		sleep(time.Hour)
		w.holds("app", a1)
		if w.last().Kind != sites.DriftRepaired {
			t.Errorf("%+v", w.last())
		}
	})
}

// What a hand has changed would be put back against the operator's word, or
// stand for ever.
func TestDriftThatStands(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.use(func(t *Target) { t.Drift = Accept })
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.entries[0].Addr = alien })
		sleep(12 * time.Hour)
		w.holds("app", alien)
		w.told(sites.Drift)
		w.p.Want("router", names("app", a2))
		sleep(time.Second)
		w.holds("app", a2)
		sleep(5 * time.Minute)
		w.told(sites.Drift, sites.DriftRepaired)
	})
}

// A name without failover would look like any other.
func TestAConflictIsTold(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: alien}})
		w.p.Want("router", names("app", a1, "www", a1))
		sleep(time.Hour)
		w.holds("app", alien)
		w.holds("www", a1)
		w.told(sites.Drift)
		if v := w.view(); len(v.Plan.Conflicts) != 1 || len(v.Problems) != 1 {
			t.Errorf("%+v", v)
		}
		w.d.hand(func() { w.d.entries = w.d.entries[1:] })
		sleep(5 * time.Minute)
		w.holds("app", a1)
		w.told(sites.Drift, sites.DriftRepaired)
	})
}

// Two controllers with one name would undo each other's work unnoticed.
func TestASecondInstanceIsNoticed(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		for range 4 {
			w.d.hand(func() {
				w.d.insert(providers.Entry{Record: providers.Record{Name: "other", Addr: a2}, Marked: true})
			})
			sleep(5 * time.Minute)
		}
		seen := 0
		for _, k := range w.kinds() {
			if k == sites.InstanceConflict {
				seen++
			}
		}
		if seen != 1 {
			t.Errorf("told %d times: %v", seen, w.kinds())
		}
		w.d.hand(func() { w.d.entries = w.d.entries[:1] })
		sleep(2 * time.Hour)
		if w.last().Kind != sites.InstanceConflictEnded {
			t.Errorf("%v", w.kinds())
		}
	})
}

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
		if gone := w.p.Left(nil); len(gone) != 1 || gone[0] != "router" {
			t.Errorf("%q", gone)
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

// One large change would take the loop's time, or be pushed record by record.
func TestAThousandRecords(t *testing.T) {
	bubble(t, true, func(w *world) {
		make1000 := func(a netip.Addr) (d Desired) {
			for i := range 1000 {
				d.Records = append(d.Records, providers.Record{Name: fmt.Sprintf("h%d", i), Addr: a})
			}
			return d
		}
		w.p.Want("router", make1000(a1))
		sleep(time.Second)
		w.p.Want("router", make1000(a2))
		sleep(10 * time.Second) // some are looked for, at most two a second
		if _, writes := w.d.count(); writes != 2000 {
			t.Errorf("%d writes", writes)
		}
		w.holds("h999", a2)
		w.d.hand(func() { w.d.entries = nil })
		sleep(5 * time.Minute)
		w.holds("h999", a2)
		w.told(sites.Drift, sites.DriftRepaired)
	})
}
