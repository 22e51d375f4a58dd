package publish

import (
	"testing"
	"time"
)

// A TTL that somebody has changed at AdGuard Home would stay so until a record
// moves; or it would be changed in a dry run.
func TestSettingsAreLookedAtWhenNothingMoves(t *testing.T) {
	for _, dry := range []bool{false, true} {
		bubble(t, false, func(w *world) {
			w.use(func(target *Target) { target.DryRun = dry })
			w.p.Want("router", names("app", a1))
			sleep(time.Minute)
			_, writes := w.d.count()
			sleep(11 * time.Minute)
			if _, now := w.d.count(); now != writes {
				t.Errorf("%d records were written", now-writes)
			}
			w.d.mu.Lock()
			defer w.d.mu.Unlock()
			if got := w.d.settled; dry && got != 0 || !dry && got < 3 {
				t.Errorf("dry run %v: the settings were looked at %d times", dry, got)
			}
		})
	}
}
