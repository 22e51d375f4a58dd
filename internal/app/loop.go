package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// heartbeat is how often the loop turns even if nothing is due: whoever waits
// for a sign of life (a watchdog, O5) gets one. breath is how long it waits at
// least for the next moment that was asked for: no fault of a time makes it spin.
const (
	heartbeat = time.Second
	breath    = time.Millisecond
)

// maxResults bounds how many results one turn takes, so that no turn is long.
const maxResults = 512

var errStopped = errors.New("the controller is stopping")

// loop is the goroutine that decides. Nothing in it waits for a disk, a network
// or a reader. It owns the engine; others reach it by do and post.
type loop struct {
	engine *engine.Engine
	now    func() sites.Instant
	// start begins a run; its result comes back by deliver.
	start func(probes.Run)
	// publish puts the answers of touched pools in place, record keeps what
	// must be kept, and tell hands events on. None of them waits.
	publish func(*sites.Machine, []sites.PoolID)
	record  func(*sites.Machine, sites.Instant, sites.Effects)
	tell    func([]sites.Event)
	// learn keeps the results of a turn, and is told when other subjects are
	// probed from now on. It does not wait either.
	learn func(now sites.Instant, done []engine.Finished, subjects bool)
	// decided is told how long a change of answers took, from when it was due.
	decided func(time.Duration)
	// blind is told when the controller was blind until now, before anything is
	// asked (O5); it may be nil.
	blind func()
	// turned, if not nil, is told of each turn that was carried out.
	turned func(now sites.Instant, t engine.Turn)
	// alive is told after each turn of run that the loop turns, at least every
	// pace.
	alive func()
	pace  time.Duration

	results chan engine.Finished
	calls   chan func()
	wake    chan struct{} // holds one: something was posted
	stopped chan struct{} // closed when run has ended
	begun   bool          // used by the owner alone
	pending []engine.Finished

	mu     sync.Mutex
	posted []func()
}

// ready gives the loop what it needs beside the functions it calls.
func (l *loop) ready() *loop {
	l.results, l.calls = make(chan engine.Finished, 4*maxResults), make(chan func())
	l.wake, l.stopped = make(chan struct{}, 1), make(chan struct{})
	if l.pace == 0 {
		l.pace = heartbeat
	}
	return l
}

// begin starts the loop, which turns until ctx ends.
func (l *loop) begin(ctx context.Context) {
	l.begun = true
	go l.run(ctx)
}

// end waits for the end of the loop, whose context has ended. One that was never
// begun ends here.
func (l *loop) end(ctx context.Context) error {
	if !l.begun {
		l.begun = true
		close(l.stopped)
	}
	select {
	case <-l.stopped:
		return nil
	case <-ctx.Done():
		return errors.New("the decision loop does not end")
	}
}

func (l *loop) run(ctx context.Context) {
	defer close(l.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	// A select takes any that is ready: asked alone, an end could wait behind results.
	for ctx.Err() == nil {
		l.pending = l.pending[:0]
		select {
		case <-ctx.Done():
			return
		case f := <-l.results:
			l.pending = append(l.pending, f)
			l.drain()
		case call := <-l.calls:
			call()
		case <-l.wake:
			for _, f := range l.takePosted() {
				f()
			}
		case <-timer.C:
		}
		l.turn(engine.Input{Done: l.pending})
		l.alive()
		now := l.now().Boot
		timer.Reset(min(max(l.engine.Next()-now, breath), l.pace))
	}
}

// drain takes the results that wait.
func (l *loop) drain() {
	for len(l.pending) < maxResults {
		select {
		case f := <-l.results:
			l.pending = append(l.pending, f)
		default:
			return
		}
	}
}

// deliver takes the result of a run. It is called by the runner's goroutines,
// which wait while the loop is behind.
func (l *loop) deliver(run probes.Run, res sites.Result) {
	select {
	case l.results <- engine.Finished{Run: run, Result: res}:
	case <-l.stopped:
	}
}

// first takes the first turn, before the loop begins. The answers are in place
// when it returns; the runs that it gives are to be started.
func (l *loop) first(in engine.Input) []probes.Run {
	now := l.now()
	t := l.engine.Turn(now, in)
	runs := slices.Clone(t.Runs)
	t.Runs = nil
	l.follow(now, t)
	return runs
}

// turn is one turn: what has happened goes in, what follows is carried out. The
// answers come first.
func (l *loop) turn(in engine.Input) *sites.Reply {
	due, now := l.engine.Next(), l.now()
	t := l.engine.Turn(now, in)
	l.follow(now, t)
	if len(t.Touched) > 0 && l.decided != nil {
		l.decided(l.now().Boot - min(due, now.Boot))
	}
	l.learn(now, in.Done, t.Subjects)
	if t.Reply == nil {
		return nil
	}
	reply := *t.Reply
	return &reply
}

func (l *loop) follow(now sites.Instant, t engine.Turn) {
	m := l.engine.Machine()
	if t.Blind && l.blind != nil {
		l.blind()
	}
	l.publish(m, t.Touched)
	for _, run := range t.Runs {
		l.start(run)
	}
	if len(t.Events) > 0 {
		l.tell(slices.Clone(t.Events))
	}
	l.record(m, now, t.Effects)
	if l.turned != nil {
		l.turned(now, t)
	}
}

// happened enters an event from around the rules. It is called in the loop's
// goroutine.
func (l *loop) happened(e sites.Event) { l.turn(engine.Input{Events: []sites.Event{e}}) }

// do runs f in the loop's goroutine and returns when it has ended. A panic in f
// is its caller's error: the loop goes on. Where the error is that of ctx, or
// that the loop has ended, f has not run and will not.
func (l *loop) do(ctx context.Context, f func()) error {
	done := make(chan error, 1)
	select {
	case l.calls <- func() { done <- contain(f) }:
		return <-done
	case <-l.stopped:
		return errStopped
	case <-ctx.Done():
		return fmt.Errorf("wait for the decision loop: %w", ctx.Err())
	}
}

// post has f run in the loop's goroutine, after what was posted before it. It
// waits for nothing. What is posted when the loop ends is dropped.
func (l *loop) post(f func()) {
	l.mu.Lock()
	l.posted = append(l.posted, f)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *loop) takePosted() []func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	fs := l.posted
	l.posted = nil
	return fs
}

// panicError is a panic in what the loop was asked to do.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// contain makes an error of a panic.
func contain(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	f()
	return nil
}
