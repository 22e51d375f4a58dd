package alert

import (
	"context"
	"errors"
	"maps"
	"time"
)

const (
	// pace is how often is looked while a channel fails, and calm while none does: then the
	// wall clock alone may have any news.
	pace = 10 * time.Second
	calm = time.Minute
	// keepWithin is how long a message waits for the store.
	keepWithin = 2 * time.Second
	// What nothing is sent for is stored so seldom that its encoding takes one part in
	// seldom of the time, and after longest at the latest: thousands of things that are
	// wrong make megabytes. A kill has the events since then taken in again.
	seldom  = 50
	longest = 10 * time.Second
)

// turn tells what is due, stores what has changed, and says when to look again.
func (e *Engine) turn(ctx context.Context) time.Duration {
	now, wall := time.Now(), e.look()
	e.reconfigure(ctx)
	if !e.active {
		e.todo = nil
		e.store(ctx, make(map[string][]byte)) // who is configured later is told what lasts
		return time.Hour
	}
	out, next := e.book.Due(wall)
	keep := make(map[string][]byte)
	for i := range out {
		e.queue(&out[i], keep, now)
	}
	e.publish()
	e.tend(keep, now)
	e.store(ctx, keep)
	for _, o := range e.all() {
		o.release()
	}
	for _, a := range e.todo {
		e.actions.start(ctx, a, &e.running)
	}
	e.todo = nil
	wait := e.patience()
	if e.kept != e.book.Changes() {
		wait = min(wait, max(time.Until(e.keepAt), 10*time.Millisecond))
	}
	if !next.IsZero() {
		wait = min(wait, max(next.Sub(wall), 10*time.Millisecond))
	}
	return wait
}

// patience is how long nothing need be looked at if nothing happens: a channel that
// begins to fail or works again says so.
func (e *Engine) patience() time.Duration {
	for _, o := range e.all() {
		if since, _ := o.troubled(); !since.IsZero() {
			return pace
		}
	}
	return calm
}

// store keeps the book and what was queued before anything of it is sent. A
// store that fails holds no alert back: that it fails is an alert.
func (e *Engine) store(ctx context.Context, keep map[string][]byte) {
	urgent := len(keep) > 0 || len(e.todo) > 0
	if urgent || !time.Now().Before(e.keepAt) {
		e.encode(keep)
	}
	e.mu.Lock()
	maps.Copy(keep, e.left)
	e.left = make(map[string][]byte)
	e.mu.Unlock()
	if len(keep) == 0 {
		return
	}
	if !urgent {
		e.world.Keep(keep)
		return
	}
	within, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	if err := e.world.KeepNow(within, keep); err != nil && !errors.Is(err, context.Canceled) {
		e.world.Log.Warn("alerts are sent before they are stored", "error", err)
	}
}

// encode adds the book to what is to be stored, where it has changed.
func (e *Engine) encode(keep map[string][]byte) {
	n := e.book.Changes()
	if n == e.kept {
		return
	}
	begun := time.Now()
	data, err := e.book.Encode()
	if err != nil {
		e.world.Log.Error("alerts cannot be encoded", "error", err)
	} else {
		keep[bookKey] = data
	}
	e.kept, e.keepAt = n, time.Now().Add(min(seldom*time.Since(begun), longest))
}
