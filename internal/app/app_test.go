package app

import (
	"context"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, clients are sent to a node that is dead, or not back to one
// that lives again.
func TestNodeDiesAndReturns(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	r := w.start()
	berlin := w.sites[0]
	r.settled()
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(11, 12); got != want {
		t.Fatalf("while all is well: %q, want %q", got, want)
	}
	berlin.nodes["a"].off()
	r.await("failover_outage berlin/a")
	// The event is told after the answer is in place.
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(12); got != want {
		t.Errorf("after the outage: %q, want %q", got, want)
	}
	if got, want := r.asks(w.sites[1], "app.example.lan"), w.sites[1].all(11, 12); got != want {
		t.Errorf("at the other site: %q, want %q", got, want)
	}
	berlin.nodes["a"].on(t)
	r.await("failover_failback berlin/a")
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(11, 12); got != want {
		t.Errorf("after the return: %q, want %q", got, want)
	}
}

// If this fails, a line that is cut takes healthy nodes out of DNS.
func TestSiteIsCut(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	r := w.start()
	r.settled()
	berlin := w.sites[0]
	berlin.cut.Store(true)
	r.await("site_down berlin")
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(11, 12); got != want {
		t.Errorf("while the site cannot be seen: %q, want %q", got, want)
	}
	berlin.cut.Store(false)
	r.await("site_up berlin")
	r.settled()
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(11, 12); got != want {
		t.Errorf("after that: %q, want %q", got, want)
	}
	for _, e := range r.seen {
		if e.Kind == sites.FailoverOutage || e.Kind == sites.NodeOffline {
			t.Errorf("a cut line was taken for an outage: %s", e.Text)
		}
	}
}

// If this fails, a restart answers with nodes that were out, or waits for probes
// before it answers.
func TestRestart(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	r := w.start()
	r.settled()
	berlin := w.sites[0]
	berlin.nodes["a"].off()
	out := r.await("failover_outage berlin/a")
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	berlin.cut.Store(true) // so no probe can say anything
	r = w.start()
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(12); got != want {
		t.Errorf("before the first probe: %q, want %q", got, want)
	}
	berlin.cut.Store(false)
	berlin.nodes["a"].on(t)
	back := r.await("failover_failback berlin/a")
	if back.Resolves != out.ID {
		t.Errorf("the return resolves event %d, and the outage was %d", back.Resolves, out.ID)
	}
	n := 0
	for _, e := range r.seen {
		if e.Kind == sites.FailoverOutage {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the outage was told %d times: %v", n, r.kinds())
	}
}

// If this fails, a follower of events misses some or gets some twice, just when
// it passes from those that are stored to those that come.
func TestFollowWithoutSeam(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	const count = 400
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range count {
			if err := r.loop.do(context.Background(), func() { r.loop.happened(sites.Event{Kind: sites.ConfigReloaded, Text: "again"}) }); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		events, err := r.Follow(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		last := uint64(0)
		for last < 50 {
			e := <-events
			if e.ID != last+1 {
				t.Fatalf("event %d after %d", e.ID, last)
			}
			last = e.ID
		}
		cancel()
		for range events { // to its end
		}
	}
	<-done
}

// If this fails, an operator is told that something is done which a restart
// forgets.
func TestCommandIsStored(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	reply, err := r.Command(t.Context(), sites.Command{Verb: sites.Maintenance, Site: "berlin", Node: "a", By: "test"})
	if err != nil || reply.Refused {
		t.Fatal(reply, err)
	}
	state, err := r.store.Load()
	if err != nil || !strings.Contains(string(state.Sites["berlin"]), "maintenance") {
		t.Errorf("stored after the reply: %s, %v", state.Sites["berlin"], err)
	}
	if got, want := r.asks(w.sites[0], "app.example.lan"), w.sites[0].all(12); got != want {
		t.Errorf("answered after the reply: %q, want %q", got, want)
	}
	// A clock that jumps back from here is not believed (O6).
	if got := r.judge.Earliest(); state.Wall.IsZero() || got.Before(state.Wall) {
		t.Errorf("the clock is held against %v, and %v is stored", got, state.Wall)
	}
}

// If this fails, a person who asks for one probe gets nothing, or the probe of
// a node that is not there.
func TestProbe(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	report, err := r.Probe(t.Context(), "berlin", "a")
	if err != nil || len(report.Lines) != 1 || len(report.Lines[0].Checks) != 1 || report.Lines[0].Checks[0].Outcome != "up" {
		t.Fatalf("%+v, %v", report, err)
	}
	seen := report.Lines[0].Checks[0].Detail
	if seen.Address != w.sites[0].nodes["a"].at.String() || len(seen.Steps) == 0 || seen.HTTP == nil || seen.HTTP.Status != "HTTP/1.1 200 OK" {
		t.Errorf("its detail: %+v", seen)
	}
	if _, err := r.Probe(t.Context(), "berlin", "x"); err == nil || !strings.Contains(err.Error(), "berlin/x") {
		t.Errorf("a node that is not there: %v", err)
	}
}
