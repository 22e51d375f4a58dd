package publish

import (
	"net/netip"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// A push whose answer was lost would never be looked for: that clients do not get it would
// be told to nobody.
func TestAPushThatIsCutOffIsLookedFor(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.mu.Lock()
		w.ask = func(string) []netip.Addr { return []netip.Addr{a1} }
		w.mu.Unlock()
		w.d.hand(func() { cutReading(w) })
		w.p.Want("router", names("app", a2))
		sleep(time.Minute)
		w.holds("app", a2)
		w.told(sites.PublishNotVisible)
	})
}

// cutReading has the reading back of the next write fail.
func cutReading(w *world) {
	w.d.written = func() {
		w.d.written = nil
		left := 1
		w.d.fail = func(int) error {
			if left--; left >= 0 {
				return errDown
			}
			return nil
		}
	}
}

// What a hand has changed would be told to nobody, where the line is cut just as it is put
// right, or a move comes: the next round takes it for its own.
func TestDriftIsToldThoughItsRoundDoesNotEnd(t *testing.T) {
	for name, cut := range map[string]func(w *world){
		"cut off": cutReading,
		"a reload": func(w *world) {
			w.d.written = func() {
				w.d.written = nil
				w.use(func(t *Target) { t.Kind = "another" })
			}
		},
		"a move": func(w *world) {
			w.d.written = func() {
				w.d.written = nil
				w.p.Want("router", names("app", a2, "www", a2))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, true, func(w *world) {
				w.p.Want("router", names("app", a1, "www", a1))
				sleep(time.Minute)
				w.d.hand(func() {
					for i := range w.d.entries {
						w.d.entries[i].Addr = alien
					}
					cut(w)
				})
				w.p.Compare("berlin")
				sleep(time.Minute)
				w.told(sites.Drift, sites.DriftRepaired)
				if v := w.view(); v.Drifts != 2 {
					t.Errorf("%d were put right", v.Drifts)
				}
			})
		})
	}
}
