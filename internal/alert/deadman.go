package alert

import (
	"context"
	"fmt"
	"time"
)

// DeadMan is called regularly while the controller decides, so that somebody
// else notices its silence.
type DeadMan struct {
	Every time.Duration
	// Call makes one call. Its errors hold no secrets.
	Call func(ctx context.Context) error
	// Try connects, and does not call; nil where that cannot be tried.
	Try func(ctx context.Context, log Dialogue) error
}

// deadManTimeout bounds one call.
const deadManTimeout = 15 * time.Second

// beat is what is known of the calls.
type beat struct {
	stop context.CancelFunc
	last time.Time
	err  error
}

// keepAlive starts the calls that a configuration asks for, in place of others.
func (e *Engine) keepAlive(ctx context.Context, d *DeadMan) {
	e.mu.Lock()
	stop := e.beat.stop
	e.beat = beat{}
	e.mu.Unlock()
	if stop != nil {
		stop()
	}
	if d == nil {
		return
	}
	own, stop := context.WithCancel(ctx)
	e.mu.Lock()
	e.beat.stop = stop
	e.mu.Unlock()
	e.running.Go(func() { e.beats(own, d) })
}

func (e *Engine) beats(ctx context.Context, d *DeadMan) {
	tick := time.NewTicker(d.Every)
	defer tick.Stop()
	failing := false
	for {
		err := e.call(ctx, d)
		if ctx.Err() != nil {
			return
		}
		e.mu.Lock()
		e.beat.err = err
		if err == nil {
			e.beat.last = time.Now()
		}
		e.mu.Unlock()
		switch {
		case err != nil && !failing:
			e.world.Log.Warn("call the dead man's switch", "error", err)
		case err == nil && failing:
			e.world.Log.Info("the dead man's switch is reached again")
			e.hurry()
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// call makes one call. A controller that does not decide is silent: that is what
// is to be noticed.
func (e *Engine) call(ctx context.Context, d *DeadMan) error {
	ctx, cancel := context.WithTimeout(ctx, deadManTimeout)
	defer cancel()
	if err := e.world.Healthy(ctx); err != nil {
		return fmt.Errorf("not called, because the controller does not decide: %w", err)
	}
	return d.Call(ctx)
}
