package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/internal/store"
)

// If this fails, a controller that was killed is not there again with the next
// start, because its last process still holds the state folder; or a second one
// waits for ever beside one that runs, and holds up a machine's shutdown.
func TestLockWait(t *testing.T) {
	for name, tt := range map[string]struct {
		leaves  time.Duration // when the other process leaves the folder; 0 for never
		ends    time.Duration // when the start is called off; 0 for never
		refused bool
		within  time.Duration // of which it is over
	}{
		"it is about to end":      {leaves: time.Second, within: time.Second + lockEvery},
		"it runs":                 {refused: true, within: lockWithin},
		"the start is called off": {ends: 100 * time.Millisecond, refused: true, within: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				other, _, err := store.Open(dir, store.Options{})
				if err != nil {
					t.Fatal(err)
				}
				left := make(chan error, 1)
				if tt.leaves > 0 {
					time.AfterFunc(tt.leaves, func() { left <- other.Close() })
				}
				ctx := t.Context()
				if tt.ends > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.ends)
					defer cancel()
				}
				var said strings.Builder
				start := time.Now()
				st, _, err := openStore(ctx, dir, slog.New(slog.NewTextHandler(&said, nil)))
				if took := time.Since(start); took > tt.within {
					t.Errorf("it takes %s", took)
				}
				if strings.Count(said.String(), "it is waited for") != 1 {
					t.Errorf("the log says %q", said.String())
				}
				if tt.refused {
					if _, ok := errors.AsType[*store.LockedError](err); !ok {
						t.Errorf("it is not refused: %v", err)
					}
					left <- other.Close()
				} else if err != nil {
					t.Error(err)
				}
				if st != nil {
					if err := st.Close(); err != nil {
						t.Error(err)
					}
				}
				if err := <-left; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
