package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// heartbeat is how often the loop turns even if nothing is due: whoever waits
// for a sign of life (a watchdog, O5) gets one.
const heartbeat = time.Second

// maxResults bounds how many results one turn takes, so that no turn is long.
const maxResults = 512

var errStopped = errors.New("the controller is stopping")

// loop is the goroutine that decides. Nothing in it waits for a disk, a network
// or a reader. It owns the engine; others reach it by do.
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
	// alive is told that the loop turns.
	alive func()

	results chan engine.Finished
	calls   chan func()
	stopped chan struct{} // closed when run has ended
	turned  atomic.Int64  // how often; 0 before the first answers are in place
	pending []engine.Finished
}

// run turns until ctx ends.
func (l *loop) run(ctx context.Context) {
	defer close(l.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		l.pending = l.pending[:0]
		select {
		case <-ctx.Done():
			return
		case f := <-l.results:
			l.pending = append(l.pending, f)
			l.drain()
		case call := <-l.calls:
			call()
		case <-timer.C:
		}
		l.turn(engine.Input{Done: l.pending})
		l.alive()
		now := l.now().Boot
		timer.Reset(min(max(l.engine.Next()-now, 0), heartbeat))
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

// deliver takes the result of a run. It is called by the runner's goroutines.
func (l *loop) deliver(run probes.Run, res sites.Result) {
	select {
	case l.results <- engine.Finished{Run: run, Result: res}:
	case <-l.stopped:
	}
}

// turn is one turn: what has happened goes in, what follows is carried out. The
// answers come first.
func (l *loop) turn(in engine.Input) *sites.Reply {
	now := l.now()
	t := l.engine.Turn(now, in)
	l.follow(now, t)
	if t.Reply == nil {
		return nil
	}
	reply := *t.Reply
	return &reply
}

func (l *loop) follow(now sites.Instant, t engine.Turn) {
	m := l.engine.Machine()
	l.publish(m, t.Touched)
	for _, run := range t.Runs {
		l.start(run)
	}
	l.record(m, now, t.Effects)
	if len(t.Events) > 0 {
		l.tell(append([]sites.Event(nil), t.Events...))
	}
	l.turned.Add(1)
}

// do runs f in the loop's goroutine and returns when it has ended. A panic in f
// is its caller's error: the loop goes on.
func (l *loop) do(ctx context.Context, f func()) error {
	done := make(chan error, 1)
	call := func() {
		defer func() {
			var err error
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
			done <- err
		}()
		f()
	}
	select {
	case l.calls <- call:
	case <-l.stopped:
		return errStopped
	case <-ctx.Done():
		return fmt.Errorf("wait for the decision loop: %w", ctx.Err())
	}
	select {
	case err := <-done:
		return err
	case <-l.stopped:
		return errStopped
	}
}

// raise enters an event from around the rules. It does not wait for the loop.
func (l *loop) raise(e sites.Event) {
	go func() {
		_ = l.do(context.Background(), func() { l.turn(engine.Input{Events: []sites.Event{e}}) })
	}()
}
