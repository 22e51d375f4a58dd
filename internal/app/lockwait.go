package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dnsteer/dnsteer/internal/store"
)

// A process that was killed holds the state folder until the kernel has cleared
// it away, which takes longer than a supervisor takes to start the next one. A
// controller that runs holds it for as long as it runs: that one is told of soon.
const (
	lockWithin = 2 * time.Second
	lockEvery  = 20 * time.Millisecond
)

// openStore opens the store of a folder. It waits for a short time for another
// process to leave it, and no longer than ctx lasts.
func openStore(ctx context.Context, dir string, log *slog.Logger) (*store.Store, store.Report, error) {
	var limit <-chan time.Time
	for {
		st, report, err := store.Open(dir, store.Options{})
		locked, held := errors.AsType[*store.LockedError](err)
		if !held {
			return st, report, err
		}
		if limit == nil {
			limit = time.After(lockWithin)
			log.Info("another process uses the state folder: it is waited for, in case that it is about to end",
				"folder", dir, "process", locked.PID, "for", lockWithin)
		}
		select {
		case <-time.After(lockEvery):
		case <-limit:
			return nil, report, err
		case <-ctx.Done():
			return nil, report, err
		}
	}
}
