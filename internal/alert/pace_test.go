package alert

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A receiver that fails, or says when it wants to be asked again, would be asked so
// often that it shuts us out, or so rarely that an alert comes hours late.
func TestPace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		least []time.Duration // between two attempts, before they are spread by a fifth
	}{
		{"fails", errors.New("connection refused"), []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute}},
		{"asks for time", &RefusedError{Err: errors.New("429"), After: 20 * time.Minute}, []time.Duration{20 * time.Minute, 20 * time.Minute, 20 * time.Minute}},
		{"asks for a moment", &RefusedError{Err: errors.New("429"), After: time.Second}, []time.Duration{15 * time.Second, 30 * time.Second}},
		{"asks for a year", &RefusedError{Err: errors.New("429"), After: 365 * 24 * time.Hour}, []time.Duration{time.Hour, time.Hour}},
		{"hangs", nil, []time.Duration{45 * time.Second, time.Minute, 90 * time.Second}}, // 30 s are the channel's timeout
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var at []time.Time
				p := &peer{fault: func(ctx context.Context, _ int) error {
					at = append(at, time.Now())
					if tt.err == nil {
						<-ctx.Done()
						return ctx.Err()
					}
					return tt.err
				}}
				w := newWorld()
				_, stop := w.run(config(map[string]*peer{"p": p}))
				w.happen("failover_outage berlin/a", 0)
				time.Sleep(4 * time.Hour)
				stop()
				if len(at) <= len(tt.least) {
					t.Fatalf("%d attempts within four hours", len(at))
				}
				for i, want := range tt.least {
					if got := at[i+1].Sub(at[i]); got < want*8/10 || got > want*12/10 {
						t.Errorf("attempt %d comes %s after the one before, want %s", i+2, got, want)
					}
				}
			})
		})
	}
}

// When the line is back after a long outage, people would learn up to a quarter of an hour
// late of what happened, and of what happens then.
func TestAChannelThatMayWorkAgainIsTriedSoon(t *testing.T) {
	for _, sign := range []string{"another channel works", "something happens", "the dead man's switch is reached"} {
		t.Run(sign, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead := func(context.Context, int) error { return errors.New("no route to host") }
				first, second := &peer{fault: dead}, &peer{fault: dead}
				cfg := config(map[string]*peer{"first": first, "second": second})
				var back atomic.Bool
				cfg.DeadMan = &DeadMan{Every: time.Minute, Call: func(context.Context) error {
					if !back.Load() {
						return errors.New("no route to host")
					}
					return nil
				}}
				w := newWorld()
				e, stop := w.run(cfg)
				defer stop()
				w.happen("failover_outage berlin/a", 0)
				time.Sleep(5 * time.Hour)
				until := func(channel int) time.Duration { return time.Until(e.Status().Channels[channel].Next) }
				for until(0) < 0 || until(0) > 30*time.Second || until(1) < 10*time.Minute || until(1) > 12*time.Minute {
					time.Sleep(10 * time.Second)
				}
				second.set(nil)
				switch sign {
				case "another channel works":
					first.set(nil)
				case "something happens":
					time.Sleep(20 * time.Second)
					w.happen("failover_outage berlin/b", 0)
				default:
					back.Store(true)
				}
				time.Sleep(4 * time.Minute)
				if got := second.subjects(); len(got) == 0 {
					t.Errorf("nothing is told; the channel is %+v", e.Status().Channels[1])
				}
			})
		})
	}
}
