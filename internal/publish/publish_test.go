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
		if v := w.view(); v.State != Failing || v.Error == nil || !v.Wrong {
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
		if w.last().Severity != sites.Warning || w.view().Wrong {
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
		if later, err := w.p.Enable(w.t.Context(), "router"); err != nil || later != "" {
			t.Fatal(later, err)
		}
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

// A fault in what speaks to one kind of device would end the controller, and with it
// the answers of all sites.
func TestAPanicStaysItsTargets(t *testing.T) {
	for _, at := range []int{0, 1, 2} { // the listing, the write, the listing after it
		bubble(t, true, func(w *world) {
			w.d.hand(func() {
				w.d.fail = func(call int) error {
					if call == at {
						panic("out of cheese")
					}
					return nil
				}
			})
			w.p.Want("router", names("app", a1))
			sleep(time.Second)
			w.told(sites.PublishFailed)
			if e := w.last(); !strings.Contains(e.Text, "a fault in dnsteer itself: a string") || strings.Contains(e.Text, "cheese") {
				t.Errorf("%+v", e)
			}
			if _, err := w.p.Plan(w.t.Context(), "router"); err != nil {
				t.Error(err)
			}
			sleep(6 * time.Minute)
			w.holds("app", a1)
			w.told(sites.PublishFailed, sites.PublishRecovered)
		})
	}
}
