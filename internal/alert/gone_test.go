package alert

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// That a channel fails would stay open for ever once it is taken out of the
// configuration, and people be reminded of it.
func TestAFailingChannelThatLeaves(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dead, well := &peer{fault: func(context.Context, int) error { return errors.New("connection refused") }}, &peer{}
			w := newWorld()
			e, stop := w.run(config(map[string]*peer{"dead": dead, "well": well}))
			w.happen("failover_outage berlin/a", 0)
			time.Sleep(time.Hour)
			failed := w.find(sites.AlertFailed)
			if failed.ID == 0 {
				t.Fatalf("told %v", w.kinds())
			}
			without := config(map[string]*peer{"well": well})
			if restart {
				stop()
				_, stop = w.run(without)
			} else {
				e.Reload(without)
			}
			time.Sleep(time.Minute)
			if end := w.find(sites.AlertRecovered); end.Resolves != failed.ID {
				t.Errorf("restart %v: %v, ended %+v", restart, w.kinds(), end)
			}
			stop()
		})
	}
}

// find gives the last event of a kind.
func (w *world) find(k sites.Kind) (last sites.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Kind == k {
			last = e
		}
	}
	return last
}

// A kill between the storing of what was told and that of the event itself would have
// the first events of the next run, which bear the same numbers, told to nobody.
func TestAnEventThatWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		well := &peer{}
		cfg := config(map[string]*peer{"well": well})
		w := newWorld()
		_, stop := w.run(cfg)
		w.happen("config_reloaded", 0)
		time.Sleep(time.Minute)
		stop()
		w.mu.Lock()
		w.events = nil // it was never stored
		w.mu.Unlock()
		_, stop = w.run(cfg)
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(time.Minute)
		stop()
		if got := well.subjects(); !slices.ContainsFunc(got, func(s string) bool { return len(s) > 0 }) {
			t.Errorf("told %q", got)
		}
	})
}
