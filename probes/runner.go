package probes

import (
	"context"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// RunnerConfig is what a [Runner] needs around it.
type RunnerConfig struct {
	// Now is the clock of [sites.Instant.Boot].
	Now func() time.Duration
	// Deliver takes what came of a run, once for each [Runner.Start]. It is
	// called by many goroutines at a time and must not wait for a call of
	// Start or Close.
	Deliver func(Run, sites.Result)
	// Limit is how many probes may be under way at a time; see [Limit].
	Limit int
	// Log gets what must never happen: a probe that panics.
	Log *slog.Logger
	// Heartbeats are the reports of nodes that report by themselves, and what
	// probes keep from one reload to the next; nil for none.
	Heartbeats *Heartbeats
}

// Runner carries out runs. Every run has goroutines of its own and starts at
// once, so one that waits for a black hole delays no other. Where more probes
// than the limit would be under way, a run is not queued: it ends at once as
// unknown, with the cause [CauseLocalBusy].
type Runner struct {
	cfg    RunnerConfig
	limit  atomic.Int64
	active atomic.Int64
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex // orders Start before Close
	closed bool
	wg     sync.WaitGroup
}

// NewRunner makes a runner. Its owner calls Close.
func NewRunner(cfg RunnerConfig) *Runner {
	r := &Runner{cfg: cfg}
	r.ctx, r.cancel = context.WithCancel(Listen(context.Background(), cfg.Heartbeats))
	r.SetLimit(cfg.Limit)
	return r
}

// SetLimit changes the limit, for a reload.
func (r *Runner) SetLimit(limit int) { r.limit.Store(int64(limit)) }

// Limit gives a limit that is never met as long as the machine keeps up, even
// if nothing answers: every scheduled run takes its whole timeout, and beside
// them one run of every subject has been asked for at once. There has to be a
// task for every prober of a subject. The number of probes is about that of the
// descriptors that they hold.
func Limit(tasks []Task) int {
	scheduled := 0.0
	for _, t := range tasks {
		took := t.Timeout + slack(t.Timeout)
		// One that has overrun its timeout may be under way beside its successor.
		scheduled += min(2, took.Seconds()/max(t.Interval, time.Millisecond).Seconds())
	}
	const unevenness = 1.25 // phases are spread evenly, not perfectly
	return int(math.Ceil(scheduled*unevenness)) + len(tasks) + 1
}

// slack is how long after its timeout a result may come and still count. What
// comes later says more about this machine than about the other side.
func slack(timeout time.Duration) time.Duration {
	return max(timeout/4, 250*time.Millisecond)
}

// Start runs the probers against the run's subject, all at once, and delivers
// their checks together, in the probers' order. It does not wait. After Close
// it does nothing.
func (r *Runner) Start(run Run, probers []Prober) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	n := int64(len(probers))
	if r.active.Add(n) > r.limit.Load() {
		r.active.Add(-n)
		r.wg.Go(func() { r.refuse(run, len(probers)) })
		return
	}
	r.wg.Go(func() {
		defer r.active.Add(-n)
		r.run(run, probers)
	})
}

// Close cancels what is under way, whose checks are then delivered as unknown,
// and returns when the last goroutine has ended.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.wg.Wait()
}

func (r *Runner) refuse(run Run, n int) {
	now := r.cfg.Now()
	checks := make([]sites.Check, n)
	for i := range checks {
		checks[i] = unknown(CauseLocalBusy, "more probes are under way than the limit of %d", r.limit.Load())
	}
	r.cfg.Deliver(run, sites.Result{Subject: run.Subject, Start: now, Finish: now, Checks: checks})
}

func (r *Runner) run(run Run, probers []Prober) {
	timeout := run.Deadline - run.Start
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	res := sites.Result{Subject: run.Subject, Start: r.cfg.Now(), Checks: make([]sites.Check, len(probers))}
	var others sync.WaitGroup
	for i := 1; i < len(probers); i++ {
		others.Go(func() { res.Checks[i] = Ask(ctx, probers[i], run.Subject, r.cfg.Log) })
	}
	if len(probers) > 0 {
		res.Checks[0] = Ask(ctx, probers[0], run.Subject, r.cfg.Log)
	}
	others.Wait()
	res.Finish = r.cfg.Now()
	if late := res.Finish - res.Start - timeout; late > slack(timeout) {
		for i := range res.Checks {
			res.Checks[i].Outcome = sites.Unknown
			res.Checks[i].Cause = string(CauseLocalLate)
			res.Checks[i].Text = "the result came " + late.Round(time.Millisecond).String() + " after its time, so this machine was asleep or overloaded"
		}
	}
	r.cfg.Deliver(run, res)
}

// Ask asks a subject once, as a [Runner] does. A prober that panics costs its own
// result alone: that is unknown then, and log gets what happened.
func Ask(ctx context.Context, p Prober, s sites.Subject, log *slog.Logger) (c sites.Check) {
	start := time.Now()
	defer func() {
		if v := recover(); v != nil {
			log.Error("a probe panicked", "subject", s.String(), "panic", v, "stack", string(debug.Stack()))
			c = unknown(CausePanic, "the probe's own code failed; the log says where")
			c.Duration = time.Since(start)
		}
	}()
	if named, ok := p.(subjectProber); ok {
		return named.probeSubject(ctx, s)
	}
	return p.Probe(ctx, s.Addr)
}

// subjectProber is a prober that hands on the names of what it asks.
type subjectProber interface {
	probeSubject(ctx context.Context, s sites.Subject) sites.Check
}
