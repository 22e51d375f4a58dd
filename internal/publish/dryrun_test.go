package publish

import (
	"context"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// Who takes records over at a target that is only looked at would be told that it is
// done, and nothing was; or what is ours would be taken away there, where nothing is to
// be sent.
func TestNothingIsOrderedInADryRun(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("www", a2))
		sleep(time.Second)
		w.use(func(t *Target) { t.DryRun = true })
		w.d.hand(func() { w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: a1}}) })
		w.p.Want("router", names("app", a1, "www", a2))
		sleep(time.Second)
		_, before := w.d.count()
		if found, err := w.p.Adopt(context.Background(), "router", "", false); err != nil || len(found) != 1 {
			t.Errorf("what could be taken over: %v, %v", found, err)
		}
		if _, err := w.p.Adopt(context.Background(), "router", "", true); err == nil {
			t.Error("it is said to be ours now")
		}
		if found, err := w.p.Purge(context.Background(), "router", Order{}, false); err != nil || len(found) != 1 {
			t.Errorf("what could be taken away: %v, %v", found, err)
		}
		if _, err := w.p.Purge(context.Background(), "router", Order{}, true); err == nil {
			t.Error("it is said to be taken away")
		}
		if _, after := w.d.count(); after != before || w.view().State == Disabled {
			t.Errorf("%d writes in a dry run, and the target is %s", after-before, w.view().State)
		}
	})
}
