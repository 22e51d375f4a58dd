package app

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/sdnotify"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, a disk that takes nothing stops decisions or answers, keeps
// events from those who follow them, or is an alert that never ends.
func TestStoreFails(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	berlin := w.sites[0]
	state, away := filepath.Join(w.dir, "state"), filepath.Join(w.dir, "away")
	if err := os.Rename(state, away); err != nil { // nothing can be stored any more
		t.Fatal(err)
	}
	berlin.nodes["a"].off()
	failed := r.await("store_failed")
	if e := r.first("failover_outage berlin/a"); e.ID == 0 {
		r.await("failover_outage berlin/a")
	}
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(12); got != want {
		t.Errorf("the decision while nothing can be stored: %q, want %q", got, want)
	}
	reply, err := r.Command(t.Context(), sites.Command{Verb: sites.Maintenance, Site: "berlin", Node: "a"})
	if err != nil || !strings.Contains(reply.Text, "could not be stored") {
		t.Errorf("a command is confirmed without a word of the store: %q, %v", reply.Text, err)
	}
	st, err := r.Status(t.Context())
	if err != nil || st.Store.Error == "" {
		t.Errorf("the status says nothing of it: %q, %v", st.Store.Error, err)
	}
	// What is not stored can be read all the same, by lists and by followers.
	list, err := r.Events(t.Context(), api.EventQuery{Kinds: []sites.Kind{sites.FailoverOutage}, Limit: 5})
	if err != nil || len(list) != 1 || list[0].Node != "a" {
		t.Errorf("events while nothing can be stored: %v, %v", list, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := r.Follow(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	for last := uint64(0); last < failed.ID; {
		e := <-events
		if e.ID != last+1 {
			t.Fatalf("a new follower gets event %d after %d", e.ID, last)
		}
		last = e.ID
	}
	if err := os.Rename(away, state); err != nil {
		t.Fatal(err)
	}
	if e := r.await("store_recovered"); e.Resolves != failed.ID {
		t.Errorf("the end resolves %d, want %d", e.Resolves, failed.ID)
	}
	if n := count(r.seen, sites.StoreFailed); n != 1 {
		t.Errorf("it was told %d times", n)
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	if got := r.asks(berlin, "app.example.lan"); got != berlin.all(12) {
		t.Errorf("after a restart: %q", got)
	}
	if st, err := r.Status(t.Context()); err != nil || st.Sites[0].Nodes[0].Word != sites.WordMaintenance {
		t.Errorf("the command was forgotten: %v", st.Sites[0].Nodes[0].Word)
	}
}

// first gives the first such event among those that were read.
func (r *running) first(what string) (e sites.Event) {
	kind, subject, _ := strings.Cut(what, " ")
	for _, e := range r.seen {
		if string(e.Kind) == kind && e.Subject() == subject {
			return e
		}
	}
	return e
}

// If this fails, a disk that hangs, or probes that wait for a black hole, keep
// the service manager waiting until it kills the controller, or names are not
// answered until the end. TestStopWhileEverythingHangs holds the time that it takes.
func TestStopWhileThingsHang(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	var hang atomic.Bool
	release := make(chan struct{})
	var commits sync.RWMutex
	t.Cleanup(func() { // what hangs has ended before the folder goes
		close(release)
		commits.Lock()
		defer commits.Unlock()
	})
	w.opt.disk = func(b store.Batch, commit func(store.Batch) error) error {
		if hang.Load() {
			commits.RLock()
			defer commits.RUnlock()
			<-release
		}
		return commit(b)
	}
	r := w.start()
	r.settled()
	for _, p := range w.sites {
		p.cut.Store(true)
	}
	hang.Store(true)
	if err := r.loop.do(t.Context(), func() { r.loop.happened(sites.Event{Kind: sites.ConfigReloaded, Text: "to be stored"}) }); err != nil {
		t.Fatal(err)
	}
	probed := make(chan struct{})
	go func() { // a request that waits for the black hole
		defer close(probed)
		_, _ = r.Probe(context.Background(), "berlin", "a")
	}()
	r.stopIt()
	<-r.life.Done()
	<-r.loop.stopped
	if got, want := r.asks(w.sites[0], "app.example.lan"), w.sites[0].all(11, 12); got != want {
		t.Errorf("while the stop waits for the disk: %q, want %q", got, want)
	}
	err := r.stopped()
	if err == nil || !strings.Contains(err.Error(), "store the last changes") {
		t.Errorf("what could not be stored is not told: %v", err)
	}
	<-probed
}

// If this fails, the service manager ends a controller that works, or keeps one
// whose decisions hang, or names are not answered meanwhile.
func TestWatchdogIsFedByTheLoop(t *testing.T) {
	w := newWorld(t, "berlin")
	path := filepath.Join(w.dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	env := map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"}
	w.opt.Notify, err = sdnotify.New(func(k string) string { return env[k] }, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 10_000) // all of it is read: a queue that is full takes nothing more
	go func() {
		for buf := make([]byte, 512); ; {
			n, err := conn.Read(buf)
			if err != nil {
				return // it is closed
			}
			heard <- string(buf[:n])
		}
	}()
	said := func(what string, within time.Duration) bool {
		for limit := time.After(within); ; {
			select {
			case text := <-heard:
				if strings.Contains(text, what) {
					return true
				}
			case <-limit:
				return false
			}
		}
	}
	r := w.start()
	for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		if !said(want, patience) {
			t.Fatalf("%s was not said", want)
		}
	}
	begun, blocked := make(chan struct{}), make(chan struct{})
	go func() { _ = r.loop.do(context.Background(), func() { close(begun); <-blocked }) }()
	<-begun
	quiet := false
	for range 5 { // what was on its way may still come
		quiet = quiet || !said("WATCHDOG=1", time.Second)
	}
	if !quiet {
		t.Error("the watchdog is fed while the loop hangs")
	}
	if got, want := r.asks(w.sites[0], "app.example.lan"), w.sites[0].all(11, 12); got != want {
		t.Errorf("while the loop hangs: %q, want %q", got, want)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := r.Healthy(ctx); err == nil {
		t.Error("a controller whose loop hangs says that it is healthy")
	}
	close(blocked)
	if !said("WATCHDOG=1", patience) {
		t.Error("the watchdog is not fed after the loop goes on")
	}
	if err := r.stopped(); err != nil {
		t.Error(err)
	}
	if !said("STOPPING=1", patience) {
		t.Error("the stop was not said")
	}
}

// panicking is a probe with a fault of its own.
type panicking struct{}

func (panicking) Probe(context.Context, netip.Addr) sites.Check { panic("on purpose") }

// If this fails, one faulty probe that is asked for by hand ends the controller.
func TestProbeThatPanics(t *testing.T) {
	a := &App{log: logTo(t)}
	got := a.probeOnce(t.Context(), []probes.Prober{panicking{}}, sites.Target{Timeout: time.Second})
	if len(got) != 1 || got[0].check.Outcome != sites.Unknown || got[0].check.Cause != string(probes.CausePanic) {
		t.Errorf("%+v", got)
	}
}
