package publish

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// What an operator takes over just as a reload replaces the target would be written by the
// one that was replaced, past the one in its place: it would be nobody's, without failover.
func TestReplacedWhileTakenOver(t *testing.T) {
	bubble(t, false, func(w *world) {
		w.d.hand(func() { w.d.insert(providers.Entry{Record: providers.Record{Name: "www", Addr: a2}}) })
		w.p.Want("router", names("app", a1, "www", a1))
		sleep(time.Minute)
		w.s.meanwhile = func() {
			w.use(func(t *Target) { t.Kind = "another" })
			synctest.Wait()
		}
		_, err := w.p.Adopt(w.t.Context(), "router", "www", true)
		if err == nil || !strings.Contains(err.Error(), "configuration") {
			t.Errorf("told %v", err)
		}
		w.holds("www", a2)
		if _, err := w.p.Adopt(w.t.Context(), "router", "www", true); err != nil {
			t.Error(err)
		}
		sleep(time.Minute)
		w.holds("www", a1)
		if k := w.stored(); len(k.Owned) != 2 {
			t.Errorf("stored: %+v", k)
		}
	})
}

// A target that a reload replaces would wait for a minute for whoever looks at the one
// before it, which hangs.
func TestReplacedWhileLookedAt(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.d.hand(func() { w.d.hang = make(chan struct{}) })
		planned := make(chan error, 1)
		go func() {
			list, err := w.p.Plan(w.t.Context(), "router")
			planned <- errors.Join(err, list[0].Err)
		}()
		synctest.Wait()
		w.d.hand(func() { w.d.hang = nil })
		w.use(func(t *Target) { t.Kind = "another" })
		w.p.Want("router", names("app", a2))
		synctest.Wait()
		w.holds("app", a2)
		if err := <-planned; err == nil || !strings.Contains(err.Error(), "configuration") {
			t.Errorf("told %v", err)
		}
	})
}

// Whoever enables a target just as a reload replaces it would wait in vain for the one
// that was replaced.
func TestReplacedWhileEnabled(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.d.hand(func() { w.d.hang = make(chan struct{}) })
		start, told := time.Now(), make(chan string, 1)
		go func() {
			later, err := w.p.Enable(w.t.Context(), "router")
			told <- later
			if err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		w.use(func(t *Target) { t.Kind = "another" })
		if said := <-told; !strings.Contains(said, "is enabled") || time.Since(start) > 0 {
			t.Errorf("told %q after %s", said, time.Since(start))
		}
	})
}

// A push that ends because its target is disabled, which is enabled again at once, would be
// told as a failure of the target.
func TestEnabledBeforeWhatIsUnderWayHasEnded(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		hang := make(chan struct{})
		w.d.hand(func() {
			w.d.written = func() {
				w.d.hang, w.d.written = hang, nil
				m := w.p.find("router")[0]
				m.disable(Order{By: "jo"})
				m.enable()
			}
		})
		w.p.Want("router", names("app", a2))
		synctest.Wait()
		if v := w.view(); v.Error != nil {
			t.Errorf("it fails: %v", v.Error)
		}
		w.d.hand(func() { w.d.hang = nil })
		close(hang)
		synctest.Wait()
		w.holds("app", a2)
		w.told()
	})
}

// Whoever has a target left alone while it is written to would count a failure of it.
func TestDisabledCountsNoFailure(t *testing.T) {
	bubble(t, true, func(w *world) {
		counted := &counter{}
		w.p.deps.Meter = counted
		w.d.hand(func() { w.d.hang = make(chan struct{}) })
		w.p.Want("router", names("app", a1))
		synctest.Wait()
		if err := w.p.Disable(w.t.Context(), "router", Order{By: "jo"}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(counted.results) != 1 || counted.results[0] != Superseded {
			t.Errorf("counted %v", counted.results)
		}
	})
}

// counter is a meter that keeps how rounds ended.
type counter struct {
	unmetered
	results []Result
}

func (c *counter) Synced(_, _ string, result Result, _ time.Duration) {
	c.results = append(c.results, result)
}
