package publish

import (
	"context"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// Whoever takes over what a hand has put in the place of a record of ours, where that
// stands, would be told that it is ours, and it would still have no failover.
func TestWhatAHandHasPutInItsPlaceIsTakenOver(t *testing.T) {
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) {
			w.use(func(t *Target) { t.Drift = Report })
			w.p.Want("router", names("app", a1))
			sleep(time.Second)
			w.d.hand(func() {
				w.d.entries = nil
				w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: a2}})
			})
			w.p.Compare("berlin")
			sleep(time.Second)
			w.holds("app", a2)
			found, err := w.p.Adopt(context.Background(), "router", "", true)
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			sleep(time.Second)
			w.holds("app", a1)
		})
	}
}
