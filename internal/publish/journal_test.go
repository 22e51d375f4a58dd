package publish

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// zone is a target that says what is ours and lists only the names it is asked for, as a
// server of RFC 2136 does.
type zone struct{ *device }

func (z zone) List(ctx context.Context, names []string) (providers.Listing, error) {
	l, err := z.device.List(ctx, names)
	l.Entries = slices.DeleteFunc(l.Entries, func(e providers.Entry) bool { return !slices.Contains(names, e.Name) })
	return l, err
}

// After the state was lost a name that leaves the configuration would stay at the server
// for ever, and a purge find nothing, though all bear our mark.
func TestAJournalThatIsLostIsMadeAnewFromMarks(t *testing.T) {
	for _, purge := range []bool{false, true} {
		bubble(t, false, func(w *world) {
			w.target.Servers = []Server{{Name: "192.0.2.1", Config: "zone", Connect: func() (providers.Provider, error) { return zone{w.d}, nil }}}
			if err := w.p.Use([]Target{w.target}); err != nil {
				t.Fatal(err)
			}
			w.d.hand(func() {
				w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: a1}, Marked: true})
				w.d.insert(providers.Entry{Record: providers.Record{Name: "www", Addr: a1}, Marked: true})
			})
			w.p.Want("router", names("app", a1, "www", a1))
			sleep(time.Minute)
			if purge {
				if found, err := w.p.Purge(context.Background(), "router", Order{}, true); err != nil || len(found) != 2 {
					t.Errorf("%v, %v", found, err)
				}
			} else {
				w.p.Want("router", names("www", a1))
			}
			sleep(time.Minute)
			w.holds("app")
		})
	}
}

// What two store at one moment would last in the wrong order: after a restart a target
// that an operator has disabled would be written to.
func TestWhatIsStoredLastIsTheNewest(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.s.mu.Lock()
		w.s.meanwhile = func() { // a round stores what is under way
			go func() {
				if err := w.p.Disable(context.Background(), "router", Order{By: "jo"}); err != nil {
					t.Error(err)
				}
			}()
			time.Sleep(time.Second)
		}
		w.s.mu.Unlock()
		w.p.Want("router", names("app", a2))
		sleep(time.Minute)
		if k := w.stored(); k.Disabled == nil || len(k.Flight) != 1 {
			t.Errorf("stored: %+v", k)
		}
	})
}
