package publish

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// A resolver would be asked for a name that has left for as long as the controller
// runs, and somebody be told that it cannot be seen; or what was told of it would
// stay open.
func TestWhatHasLeftIsNotLookedFor(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration // that it was pushed
		told  []sites.Kind
	}{
		{5 * time.Second, nil},
		{time.Minute, []sites.Kind{sites.PublishNotVisible, sites.PublishVisible}},
	} {
		bubble(t, true, func(w *world) {
			w.mu.Lock()
			w.ask = func(name string) []netip.Addr {
				if name == "app" {
					return nil
				}
				return []netip.Addr{a1}
			}
			w.mu.Unlock()
			w.p.Want("router", names("app", a1, "www", a1))
			sleep(tt.after)
			w.p.Want("router", names("www", a1))
			sleep(10 * time.Second) // the pause of one that is late
			w.holds("app")
			w.mu.Lock()
			before := w.asked
			w.mu.Unlock()
			sleep(time.Hour)
			w.told(tt.told...)
			w.mu.Lock()
			defer w.mu.Unlock()
			if n := w.asked - before; n > 0 {
				t.Errorf("asked %d times for what has left", n)
			}
		})
	}
}

// What cannot be seen would be said to be seen as soon as something else is, or never be
// told of, where another name moves soon after it.
func TestWhatCannotBeSeenIsLookedForOn(t *testing.T) {
	for _, after := range []time.Duration{5 * time.Second, time.Minute} { // that it was pushed
		bubble(t, true, func(w *world) {
			hidden := true
			w.mu.Lock()
			w.ask = func(name string) []netip.Addr { // with w.mu unlocked
				w.mu.Lock()
				defer w.mu.Unlock()
				if name == "app" && hidden {
					return []netip.Addr{alien}
				}
				return w.d.answers(name)
			}
			w.mu.Unlock()
			w.p.Want("router", names("app", a1, "www", a1))
			sleep(after)
			w.p.Want("router", names("app", a1, "www", a2))
			sleep(time.Minute)
			w.told(sites.PublishNotVisible)
			w.mu.Lock()
			hidden = false
			w.mu.Unlock()
			sleep(time.Minute)
			w.told(sites.PublishNotVisible, sites.PublishVisible)
		})
	}
}

// What cannot be seen would be said to be seen once as many other names have moved as are
// looked for.
func TestWhatCannotBeSeenIsLookedForBesideMany(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.mu.Lock()
		w.ask = func(name string) []netip.Addr {
			if name == "app" {
				return []netip.Addr{alien}
			}
			return w.d.answers(name)
		}
		w.mu.Unlock()
		pairs := []any{"app", a1}
		w.p.Want("router", names(pairs...))
		sleep(time.Minute)
		w.told(sites.PublishNotVisible)
		for i := range 2 * askMost {
			pairs = append(pairs, fmt.Sprintf("h%d", i), a1)
			if i%askMost == askMost-1 {
				w.p.Want("router", names(pairs...))
				sleep(time.Minute)
				w.told(sites.PublishNotVisible)
			}
		}
	})
}
