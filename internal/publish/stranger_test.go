package publish

import (
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

// Two controllers with one name would undo each other's work unnoticed. The other
// writes back within seconds; it is told within a minute of the first sight.
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
