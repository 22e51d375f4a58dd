package publish

import (
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// count says how often a kind was told.
func (w *world) count(k sites.Kind) (n int) {
	for _, x := range w.kinds() {
		if x == k {
			n++
		}
	}
	return n
}

// Somebody who edits a record, finds it put right and edits it once more would be told
// that a second controller writes there, and look for one.
func TestTwoEditsByHandAreNoSecondInstance(t *testing.T) {
	for _, marks := range []bool{true, false} {
		for _, drift := range []Drift{Repair, Report, Accept} {
			for _, other := range []string{"app", "www"} {
				bubble(t, marks, func(w *world) {
					w.use(func(t *Target) { t.Drift = drift })
					w.p.Want("router", names("app", a1, "www", a1))
					sleep(5 * time.Minute)
					for i, name := range []string{"app", other} {
						w.d.hand(func() {
							at := slices.IndexFunc(w.d.entries, func(e providers.Entry) bool { return e.Name == name })
							w.d.entries[at].Addr = []netip.Addr{a2, alien}[i]
						})
						w.p.Compare("berlin")
						sleep(20 * time.Second)
					}
					sleep(time.Hour)
					if n := w.count(sites.InstanceConflict); n != 0 {
						t.Errorf("marks %v, drift %d, app and %s: %v", marks, drift, other, w.kinds())
					}
				})
			}
		}
	}
}

// Two controllers with one name would undo each other's work unnoticed. The other
// writes back within seconds; it is told within half a minute of the second repair
// that it undoes.
func TestASecondInstanceIsNoticed(t *testing.T) {
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) {
			w.p.Want("router", names("app", a1))
			sleep(5 * time.Minute)
			other := func() {
				w.d.hand(func() {
					w.d.entries = nil
					w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: a2}, Marked: marks})
				})
			}
			other()
			sleep(5 * time.Minute)
			if n := w.count(sites.InstanceConflict); n != 0 {
				t.Errorf("%v: one change is told as another controller's", marks)
			}
			other()
			w.p.Compare("berlin") // as the witness's answer does
			sleep(15 * time.Second)
			if n := w.count(sites.InstanceConflict); n != 0 {
				t.Errorf("%v: two changes are told as another controller's", marks)
			}
			sleep(time.Minute)
			if !slices.Contains(w.d.answers("app"), a1) {
				t.Errorf("%v: it was not put right for the second time", marks)
			}
			other()
			sleep(15 * time.Second)
			if n := w.count(sites.InstanceConflict); n != 1 {
				t.Errorf("%v: told %d times: %v", marks, n, w.kinds())
			}
			for range 20 {
				other()
				sleep(time.Minute)
			}
			if n := w.count(sites.InstanceConflict); n != 1 {
				t.Errorf("%v: told %d times: %v", marks, n, w.kinds())
			}
			w.d.hand(func() { w.d.entries = nil })
			sleep(4 * time.Hour)
			if n := w.count(sites.InstanceConflictEnded); n != 1 {
				t.Errorf("%v: %v", marks, w.kinds())
			}
		})
	}
}

// The other one writes as soon as it sees our repair: the target has to be looked
// at again by itself.
func TestATargetThatWasChangedIsLookedAtAgain(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		before, _ := w.d.count()
		w.d.hand(func() { w.d.entries[0].Addr = a2 })
		sleep(4*time.Minute + time.Second) // the comparison of the full five minutes
		w.holds("app", a1)
		w.d.hand(func() { w.d.entries[0].Addr = a2 })
		sleep(61 * time.Second) // the second repair, which is a minute after the first
		w.holds("app", a1)
		w.d.hand(func() { w.d.entries[0].Addr = a2 })
		sleep(11 * time.Second)
		if n := w.count(sites.InstanceConflict); n != 1 {
			t.Errorf("told %d times: %v", n, w.kinds())
		}
		sleep(3 * time.Hour)
		calls, _ := w.d.count()
		if calls -= before; calls > 36+30 {
			t.Errorf("%d calls within three hours", calls)
		}
	})
}

// A restart would end the alarm by itself at its first comparison.
func TestAStrangerIsNotForgottenByARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := &device{marks: true}, newShelf()
		w := newWorld(t, d, s)
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		for range 3 {
			d.hand(func() { d.insert(providers.Entry{Record: providers.Record{Name: "other", Addr: a2}, Marked: true}) })
			w.p.Compare("berlin")
			sleep(time.Minute)
		}
		if w.count(sites.InstanceConflict) != 1 {
			t.Errorf("%v", w.kinds())
		}
		w.close()
		w = newWorld(t, d, s)
		w.p.Want("router", names("app", a1))
		sleep(50 * time.Minute)
		if slices.Contains(w.kinds(), sites.InstanceConflictEnded) {
			t.Error("it is over though nothing is known")
		}
		sleep(20 * time.Minute)
		if !slices.Contains(w.kinds(), sites.InstanceConflictEnded) {
			t.Error("it never ends")
		}
		w.close()
	})
}
