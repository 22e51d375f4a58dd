package probes

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// proberFunc is a prober of a test.
type proberFunc func(context.Context, netip.Addr) sites.Check

func (f proberFunc) Probe(ctx context.Context, a netip.Addr) sites.Check { return f(ctx, a) }

// blackHole waits for its deadline, as a probe of a node that is off does.
var blackHole = proberFunc(func(ctx context.Context, a netip.Addr) sites.Check {
	at := newAttempt(ctx, a)
	<-ctx.Done()
	return at.failed(ctx, ctx.Err())
})

func answersAfter(d time.Duration) Prober {
	return proberFunc(func(ctx context.Context, _ netip.Addr) sites.Check {
		time.Sleep(d) // in a bubble: virtual time
		return up("answers")
	})
}

// testRunner is a runner with what it has delivered.
type testRunner struct {
	*Runner
	mu      sync.Mutex
	results []sites.Result
	skip    time.Duration // added to the clock: sleep that the timers do not see
	log     bytes.Buffer
}

func newTestRunner(t *testing.T, limit int) *testRunner {
	t.Helper()
	tr := &testRunner{}
	start := time.Now()
	tr.Runner = NewRunner(RunnerConfig{
		Now: func() time.Duration {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			return time.Since(start) + tr.skip
		},
		Deliver: func(r Run, res sites.Result) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			if res.Subject != r.Subject {
				t.Errorf("the result of %v came with the run of %v", res.Subject, r.Subject)
			}
			tr.results = append(tr.results, res)
		},
		Limit: limit,
		Log:   slog.New(slog.NewTextHandler(&tr.log, nil)),
	})
	t.Cleanup(tr.Close)
	return tr
}

func (tr *testRunner) delivered() []sites.Result {
	synctest.Wait()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.results
}

func (tr *testRunner) start(n int, timeout time.Duration, probers ...Prober) {
	now := tr.cfg.Now()
	tr.Start(Run{Subject: subject(n), Start: now, Deadline: now + timeout}, probers)
}

// A node that is off would delay the probes of healthy ones, which would then
// look as if they were off too.
func TestRunnerBlackHoleDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRunner(t, 1000)
		for i := range 500 {
			r.start(i, 2*time.Second, blackHole)
		}
		r.start(500, 2*time.Second, answersAfter(0))
		got := r.delivered()
		if len(got) != 1 || got[0].Subject != subject(500) || got[0].Finish != 0 {
			t.Fatalf("%d results at once: %+v", len(got), got)
		}
		time.Sleep(2 * time.Second)
		if got = r.delivered(); len(got) != 501 {
			t.Fatalf("%d results", len(got))
		}
		for _, res := range got[1:] {
			if verdict(res.Checks[0]) != (want{sites.Down, CauseTimeout}) || res.Finish != 2*time.Second {
				t.Fatalf("%+v", res)
			}
		}
	})
}

// A node with several probes would be judged by the wrong one of them, or by
// some of them alone.
func TestRunnerDeliversTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRunner(t, 10)
		time.Sleep(time.Minute)
		r.start(1, 2*time.Second, answersAfter(time.Second), blackHole, answersAfter(0))
		time.Sleep(2 * time.Second)
		got := r.delivered()
		want := []sites.Result{{
			Subject: subject(1), Start: time.Minute, Finish: time.Minute + 2*time.Second,
			Checks: []sites.Check{up("answers"), down(CauseTimeout, "no answer within 2s"), up("answers")},
		}}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Error(diff)
		}
	})
}

// More probes than the machine has descriptors would starve the DNS server, or
// a probe that waited for its turn would be called down by its deadline.
func TestRunnerBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRunner(t, 3)
		r.start(0, 2*time.Second, blackHole, blackHole)
		r.start(1, 2*time.Second, blackHole, blackHole)
		r.start(2, 2*time.Second, answersAfter(0))
		got := r.delivered()
		if len(got) != 2 {
			t.Fatalf("%+v", got)
		}
		for _, res := range got {
			switch res.Subject {
			case subject(1):
				if len(res.Checks) != 2 || verdict(res.Checks[0]) != (want{sites.Unknown, CauseLocalBusy}) || res.Checks[0] != res.Checks[1] {
					t.Errorf("%+v", res)
				}
			default:
				if res.Checks[0].Outcome != sites.Up {
					t.Errorf("%+v", res)
				}
			}
		}
		r.SetLimit(4)
		r.start(3, 2*time.Second, blackHole, blackHole)
		if got := r.delivered(); len(got) != 2 {
			t.Errorf("the raised limit does not hold: %+v", got)
		}
		time.Sleep(2 * time.Second)
		if r.delivered(); r.active.Load() != 0 {
			t.Errorf("%d probes are counted as under way at the end", r.active.Load())
		}
	})
}

// Results of a machine that slept or starved would take healthy nodes out (O1,
// O5).
func TestRunnerLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRunner(t, 10)
		r.start(0, 2*time.Second, answersAfter(2400*time.Millisecond))
		r.start(1, 2*time.Second, answersAfter(2600*time.Millisecond))
		time.Sleep(3 * time.Second)
		r.start(2, 2*time.Second, blackHole)
		synctest.Wait()
		r.mu.Lock()
		r.skip = time.Hour
		r.mu.Unlock()
		time.Sleep(2 * time.Second)
		got := r.delivered()
		if len(got) != 3 || got[0].Checks[0].Outcome != sites.Up {
			t.Fatalf("%+v", got)
		}
		for _, res := range got[1:] {
			if verdict(res.Checks[0]) != (want{sites.Unknown, CauseLocalLate}) {
				t.Errorf("%+v", res)
			}
		}
	})
}

// A fault in one probe's code would end the controller.
func TestRunnerPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRunner(t, 10)
		r.start(0, time.Second, proberFunc(func(context.Context, netip.Addr) sites.Check { panic("odd") }), answersAfter(0))
		got := r.delivered()
		if len(got) != 1 || verdict(got[0].Checks[0]) != (want{sites.Unknown, CausePanic}) || got[0].Checks[1].Outcome != sites.Up {
			t.Fatalf("%+v", got)
		}
		if text := got[0].Checks[0].Text; strings.Contains(text, "odd") { // it may quote a secret
			t.Errorf("people are told %q", text)
		}
		if log := r.log.String(); !strings.Contains(log, "odd") || !strings.Contains(log, "TestRunnerPanic") {
			t.Errorf("the log does not say what and where: %s", log)
		}
	})
}

// A stop or a reload would leave probes running, or count them as outages.
func TestRunnerClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRunner(t, 10)
		r.start(0, time.Hour, blackHole)
		r.Close()
		got := r.delivered()
		if len(got) != 1 || verdict(got[0].Checks[0]) != (want{sites.Unknown, CauseCancelled}) {
			t.Fatalf("%+v", got)
		}
		r.start(1, time.Second, answersAfter(0))
		if got := r.delivered(); len(got) != 1 {
			t.Errorf("a run was started after the end: %+v", got)
		}
	})
}

// Healthy nodes would go unprobed when many others are off.
func TestLimitSuffices(t *testing.T) {
	tests := []struct {
		n                 int
		interval, timeout time.Duration
	}{
		{1, time.Second, time.Second},
		{3, 200 * time.Millisecond, 2 * time.Second},
		{30, 5 * time.Second, 2 * time.Second},
		{1000, 10 * time.Second, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.n), func(t *testing.T) {
			ts := tasks(tt.n, tt.interval, tt.timeout)
			limit := Limit(ts)
			s := NewSchedule(1)
			s.Set(ts, 0)
			runs := play(s, 0, 3*tt.interval+3*tt.timeout, func(Run) time.Duration { return tt.timeout + slack(tt.timeout) })
			most := 0
			for i, r := range runs {
				under := 0
				for _, o := range runs[:i+1] {
					if o.Deadline+slack(tt.timeout) > r.Start {
						under++
					}
				}
				most = max(most, under)
			}
			if most+tt.n > limit {
				t.Errorf("%d scheduled at a time and %d asked for, with a limit of %d", most, tt.n, limit)
			}
		})
	}
}
