package app

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// bench is a loop with a world around it, in virtual time: what is probed
// answers at once, unless it is down.
type bench struct {
	*loop
	stop   context.CancelFunc
	start  time.Time
	hub    *hub
	turns  atomic.Int64
	blind  atomic.Int64
	down   atomic.Bool // berlin/a refuses
	answer atomic.Pointer[sites.Answer]
	moved  atomic.Int64 // when the answer last changed, ns since start
}

const interval = time.Second

func loopConfig() *sites.Config {
	node := func(name, addr string) sites.Node {
		return sites.Node{
			Name: name, Addresses: []netip.Addr{netip.MustParseAddr(addr)}, Threshold: 10 * time.Second, Grace: time.Minute, Rise: 2,
			Interval: interval, Timeout: interval / 2, Failover: true, Probes: []sites.Probe{{Name: "tcp", Key: "tcp", Steer: true}},
		}
	}
	return &sites.Config{Sites: []sites.Site{{
		Name: "berlin", Threshold: 10 * time.Second, Interval: interval, Timeout: interval / 2, TTL: time.Minute, TTLUnsettled: time.Second,
		Witnesses: []sites.Witness{{Name: "resolver", Addr: netip.MustParseAddr("10.1.0.1")}},
		Nodes:     []sites.Node{node("a", "10.1.0.11"), node("b", "10.1.0.12")},
		Pools:     []sites.Pool{{Name: sites.DefaultPool, Nodes: []int{0, 1}}},
	}}}
}

// newBench makes one inside of a bubble, and begins it.
func newBench(t *testing.T) *bench {
	b := &bench{start: time.Now(), hub: newHub()}
	ctx, stop := context.WithCancel(t.Context())
	b.stop = stop
	now := func() sites.Instant { return sites.Instant{Boot: time.Since(b.start) + time.Hour, Wall: time.Now()} }
	b.loop = (&loop{
		now: now, tell: b.hub.send, alive: func() { b.turns.Add(1) },
		learn: func(sites.Instant, []engine.Finished, bool) {},
		record: func(_ *sites.Machine, _ sites.Instant, fx sites.Effects) {
			if fx.Blind {
				b.blind.Add(1)
			}
		},
		publish: func(m *sites.Machine, touched []sites.PoolID) {
			if len(touched) == 0 {
				return
			}
			a := m.Answer(sites.PoolID{})
			if old := b.answer.Swap(&a); old == nil || !old.SameRecords(a) {
				b.moved.Store(int64(time.Since(b.start)))
			}
		},
	}).ready()
	b.loop.start = func(run probes.Run) {
		go func() {
			at := now().Boot
			outcome := sites.Up
			if run.Subject.Node == "a" && b.down.Load() {
				outcome = sites.Down
			}
			time.Sleep(time.Millisecond)
			b.deliver(run, sites.Result{Subject: run.Subject, Start: at, Finish: now().Boot, Checks: []sites.Check{{Outcome: outcome, Cause: "refused"}}})
		}()
	}
	b.engine = engine.New(now(), loopConfig(), sites.Saved{}, 1)
	t.Cleanup(func() {
		stop()
		if err := b.end(context.Background()); err != nil {
			t.Error(err)
		}
		time.Sleep(interval) // virtual: what is under way ends
	})
	for _, run := range b.first(engine.Input{}) {
		b.loop.start(run)
	}
	b.loop.publish(b.engine.Machine(), []sites.PoolID{{}})
	b.begin(ctx)
	return b
}

func (b *bench) addresses() string {
	var list []string
	for _, a := range b.answer.Load().IPv4 {
		list = append(list, a.String())
	}
	return strings.Join(list, " ")
}

// If this fails, the loop does not carry out what the rules decide when they
// decide it, or turns for nothing.
func TestLoopDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		time.Sleep(time.Minute)
		if got := b.addresses(); got != "10.1.0.11 10.1.0.12" {
			t.Fatalf("both nodes answer, and DNS gives %q", got)
		}
		if n := b.turns.Load(); n > 60*10 {
			t.Errorf("%d turns in a quiet minute with three subjects", n)
		}
		b.down.Store(true)
		since := time.Since(b.start)
		time.Sleep(15 * time.Second)
		if got := b.addresses(); got != "10.1.0.12" {
			t.Fatalf("a refuses, and DNS gives %q", got)
		}
		took := time.Duration(b.moved.Load()) - since
		if took < 10*time.Second || took > 10*time.Second+interval+100*time.Millisecond {
			t.Errorf("a left DNS after %v with a threshold of 10 s and an interval of 1 s", took)
		}
	})
}

// If this fails, the loop was held up and takes that for time in which a node
// failed (O5).
func TestLoopNoticesThatItWasLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		time.Sleep(time.Minute)
		b.down.Store(true)
		time.Sleep(5 * time.Second)
		if n := b.blind.Load(); n != 0 {
			t.Fatalf("the loop was late %d times before it was held up", n)
		}
		if err := b.do(t.Context(), func() { time.Sleep(6 * interval) }); err != nil {
			t.Fatal(err)
		}
		held := time.Since(b.start)
		time.Sleep(9 * time.Second)
		if n, got := b.blind.Load(), b.addresses(); n != 1 || got != "10.1.0.11 10.1.0.12" {
			t.Fatalf("late %d times, and DNS gives %q 9 s after the clocks began anew", n, got)
		}
		time.Sleep(5 * time.Second)
		if took := time.Duration(b.moved.Load()) - held; b.addresses() != "10.1.0.12" || took < 10*time.Second {
			t.Errorf("DNS gives %q, changed %v after the loop went on", b.addresses(), took)
		}
	})
}

// If this fails, one request that goes wrong takes the controller with it, or is
// reported as done.
func TestLoopCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ran := false
		if err := b.do(t.Context(), func() { ran = true }); err != nil || !ran {
			t.Errorf("a call: ran %v, error %v", ran, err)
		}
		err := b.do(t.Context(), func() { panic("on purpose") })
		if p, ok := errors.AsType[*panicError](err); !ok || p.value != "on purpose" {
			t.Errorf("a call that panics: %v", err)
		}
		if err := b.do(t.Context(), func() {}); err != nil {
			t.Errorf("after a panic: %v", err)
		}
		blocked := make(chan struct{})
		go func() { _ = b.do(context.Background(), func() { <-blocked }) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.do(ctx, func() { t.Error("a call ran whose caller had gone") }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while the loop is busy: %v", err)
		}
		close(blocked)
		synctest.Wait()
	})
}

// If this fails, what is told of the store arrives in another order than it
// happened, or whoever tells it waits for the loop.
func TestLoopPosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		blocked := make(chan struct{})
		go func() { _ = b.do(context.Background(), func() { <-blocked }) }()
		synctest.Wait()
		var got []int
		for i := range 100 {
			b.post(func() { got = append(got, i) })
		}
		close(blocked)
		synctest.Wait()
		if len(got) != 100 || !slices.IsSorted(got) {
			t.Errorf("posted 0 to 99, got %v", got)
		}
	})
}

// If this fails, results are lost or probes hang when more come than the loop
// has room for while it is busy.
func TestLoopTakesAFloodOfResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		blocked := make(chan struct{})
		go func() { _ = b.do(context.Background(), func() { <-blocked }) }()
		synctest.Wait()
		var delivered atomic.Int64
		const flood = 3 * 4 * maxResults
		for range flood {
			go func() {
				b.deliver(probes.Run{}, sites.Result{})
				delivered.Add(1)
			}()
		}
		synctest.Wait()
		if n := delivered.Load(); n != int64(cap(b.results)) {
			t.Fatalf("%d results delivered while the loop is busy, of %d", n, cap(b.results))
		}
		close(blocked)
		synctest.Wait()
		if n := delivered.Load(); n != flood {
			t.Errorf("%d of %d results were taken", n, flood)
		}
	})
}

// If this fails, the rules are given results of a moment that has not come for them.
func TestLoopTakesNoResultsOfTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		now, n := b.now, 0
		if err := b.do(t.Context(), func() {
			b.now = func() sites.Instant {
				at := now()
				time.Sleep(time.Millisecond) // others have the processor
				if n < 100 {
					b.deliver(probes.Run{}, sites.Result{Finish: now().Boot})
				}
				return at
			}
			b.learn = func(now sites.Instant, done []engine.Finished, _ bool) {
				for i := range done {
					n++
					if late := done[i].Result.Finish - now.Boot; late > 0 {
						t.Errorf("a result has come %v after the turn's time", late)
					}
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(interval)
		b.stop()
		if err := b.end(t.Context()); err != nil || n < 100 {
			t.Errorf("%d results, error %v", n, err)
		}
	})
}

// If this fails, somebody who reads events slowly, or not at all, delays
// decisions, or is given events with a gap.
func TestLoopWaitsForNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		_, live := b.hub.join(t.Context())
		for range 2 * readerBuffer {
			if err := b.do(t.Context(), func() { b.happened(sites.Event{Kind: sites.ConfigReloaded}) }); err != nil {
				t.Fatal(err)
			}
		}
		if passed := time.Since(b.start); passed > time.Second {
			t.Errorf("the events took %v", passed)
		}
		last := uint64(0)
		for e := range live {
			if last != 0 && e.ID != last+1 {
				t.Fatalf("event %d after %d", e.ID, last)
			}
			last = e.ID
		}
		if last == 0 {
			t.Error("the reader got nothing before it was let go")
		}
	})
}

// If this fails, a stop hangs, or whoever asks something of a controller that
// stops waits for ever.
func TestLoopStops(t *testing.T) {
	tests := []struct {
		name string
		stop func(*bench)
	}{
		{"while it turns", func(*bench) {}},
		{"while calls wait", func(b *bench) {
			for range 10 {
				go func() { _ = b.do(context.Background(), func() {}) }()
			}
		}},
		{"while results wait", func(b *bench) {
			for range 5 * maxResults {
				go b.deliver(probes.Run{}, sites.Result{})
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				tt.stop(b)
				b.stop()
				if err := b.end(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := b.do(context.Background(), func() {}); !errors.Is(err, errStopped) {
					t.Errorf("a call after the end: %v", err)
				}
				b.deliver(probes.Run{}, sites.Result{})
				b.post(func() { t.Error("a post ran after the end") })
				synctest.Wait()
			})
		})
	}
	t.Run("before it has begun", func(t *testing.T) {
		l := (&loop{}).ready()
		if err := l.end(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.do(t.Context(), func() {}); !errors.Is(err, errStopped) {
			t.Errorf("a call: %v", err)
		}
	})
	t.Run("while it hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			blocked := make(chan struct{})
			go func() { _ = b.do(context.Background(), func() { <-blocked }) }()
			synctest.Wait()
			b.stop()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := b.end(ctx); err == nil {
				t.Error("the end did not say that the loop hangs")
			}
			close(blocked)
		})
	})
}

// If this fails, the watchdog is fed by something else than the loop, or so
// often that it costs more than the decisions.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPulse(4 * time.Second)
		if d := cmp.Diff(time.Second, p.every); d != "" {
			t.Error(d)
		}
		beats := 0
		for range 1000 { // a busy loop: 10 s of turns every 10 ms
			p.beat()
			select {
			case <-p.beaten:
				beats++
			default:
			}
			time.Sleep(10 * time.Millisecond)
		}
		if beats < 10 || beats > 21 {
			t.Errorf("%d beats in 10 s for a watchdog of 4 s", beats)
		}
		p.beat()
		p.beat() // nobody reads: it does not wait
		none := newPulse(0)
		none.beat()
		if len(none.beaten) != 0 {
			t.Error("a beat without a watchdog")
		}
	})
}
