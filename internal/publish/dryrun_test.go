package publish

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
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

// Who has a target only looked at from now on would have it written to until the push that
// is under way has ended, which may take a minute.
func TestAReloadEndsAPushUnderWay(t *testing.T) {
	bubble(t, true, func(w *world) {
		slow := w.target
		server := Server{Name: "192.0.2.1:8729", Connect: func() (providers.Provider, error) { return plodding{w.d, time.Second}, nil }}
		slow.Servers = []Server{server}
		if err := w.p.Use([]Target{slow}); err != nil {
			t.Fatal(err)
		}
		var d Desired
		for i := range 100 {
			d.Records = append(d.Records, providers.Record{Name: fmt.Sprintf("h%d", i), Addr: a1})
		}
		w.p.Want("router", d)
		sleep(10*time.Second + time.Millisecond)
		slow.DryRun = true
		if err := w.p.Use([]Target{slow}); err != nil {
			t.Fatal(err)
		}
		_, before := w.d.count()
		sleep(time.Minute)
		if _, after := w.d.count(); after > before+1 { // that one was under way
			t.Errorf("%d writes after the reload", after-before)
		}
		if v := w.view(); v.State != DryRun || v.Pending == 0 {
			t.Errorf("%s, %d pending", v.State, v.Pending)
		}
	})
}

// An operator would be told that nothing is sent to a target any more, and what another one
// had just ordered to take over would be written to a moment later.
func TestWhatIsTakenOverWaitsForNoOrderAgainstIt(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.hand(func() { w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: a2}}) })
		w.p.Want("router", names("www", a1))
		sleep(time.Second)
		m := w.p.find("router")[0]
		hang := make(chan struct{})
		w.d.hand(func() { w.d.hang = hang })
		w.p.Compare("berlin")
		synctest.Wait()
		done := make(chan error)
		go func() { // it was found that the record can be taken over
			done <- m.special(w.t.Context(), m.leftAlone, func(r *providers.Round) {
				r.Adopt = []providers.Record{{Name: "app", Addr: a2}}
			})
		}()
		synctest.Wait()
		m.disable(Order{By: "jo"})
		if err := <-done; err == nil || !strings.Contains(err.Error(), "is disabled") {
			t.Error(err)
		}
		close(hang)
	})
}
