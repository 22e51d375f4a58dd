package alert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// A message that its channel gives up, or that waits for a channel which is taken out,
// would reach nobody, though another channel stands by for just that.
func TestWhatIsGivenUpTakesItsFallback(t *testing.T) {
	refuses := func(context.Context, int) error {
		return &RefusedError{Err: errors.New("554 no"), Message: true}
	}
	dead := func(context.Context, int) error { return errors.New("connection refused") }
	for _, tt := range []struct {
		name   string
		fault  func(context.Context, int) error
		giveUp time.Duration
		remove bool
		why    string
	}{
		{"refused", refuses, 48 * time.Hour, false, "ill has not taken it: it was refused 5 times: 554 no."},
		{"too old", dead, 10 * time.Minute, false, "ill could not take it: connection refused."},
		{"taken out", dead, 48 * time.Hour, true, "ill is no longer configured."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ill, spare := &peer{fault: tt.fault}, &peer{}
				cfg := config(map[string]*peer{"ill": ill, "spare": spare})
				cfg.GiveUp = tt.giveUp
				cfg.Routes = []Route{{Name: "1", Match: Match{Least: sites.Warning, Kinds: []string{"failover_*"}}, To: []string{"ill"}, Fallback: []string{"spare"}}}
				without := config(map[string]*peer{"spare": spare})
				without.Routes[0].Kinds = []string{"site_*"}
				w := newWorld()
				e, stop := w.run(cfg)
				w.happen("failover_outage berlin/a", 0)
				time.Sleep(time.Minute)
				if tt.remove {
					e.Reload(without)
				}
				time.Sleep(14 * time.Minute)
				stop()
				_, stop = w.run(without)
				time.Sleep(time.Hour)
				stop()
				if d := cmp.Diff([]string{"firing Taken out of DNS: berlin/a"}, spare.subjects()); d != "" {
					t.Fatalf("the fallback has (-want +got):\n%s", d)
				}
				if notes := strings.Join(spare.messages()[0].Notes, " "); notes != "It comes this way because "+tt.why {
					t.Errorf("it says %q", notes)
				}
			})
		})
	}
}

// Whoever was told by the fallback that something is wrong would never learn that it is
// over, once the channel itself works again.
func TestTheFallbackIsToldTheEnd(t *testing.T) {
	for _, works := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ill, spare := &peer{fault: func(context.Context, int) error { return errors.New("connection refused") }}, &peer{}
			cfg := config(map[string]*peer{"ill": ill, "spare": spare})
			cfg.Routes = []Route{{Name: "1", Match: Match{Least: sites.Warning, Kinds: []string{"failover_*"}}, To: []string{"ill"}, Fallback: []string{"spare"}, Remind: 4 * time.Hour}}
			w := newWorld()
			_, stop := w.run(cfg)
			out := w.happen("failover_outage berlin/a", 0)
			time.Sleep(time.Hour)
			stop() // a restart forgets nothing of it
			_, stop = w.run(cfg)
			want := []string{"firing Taken out of DNS: berlin/a"}
			if works {
				ill.set(nil)
				time.Sleep(5 * time.Hour) // people are reminded of it by their own channel
			}
			time.Sleep(time.Hour)
			w.happen("failover_failback berlin/a", out)
			time.Sleep(time.Hour)
			stop()
			want = append(want, "resolved Taken out of DNS: berlin/a")
			if d := cmp.Diff(want, spare.subjects()); d != "" {
				t.Errorf("works %v: the fallback has (-want +got):\n%s", works, d)
			}
		})
	}
}

// What a channel has no room for would reach nobody, though another stands by.
func TestWhatThereIsNoRoomForTakesItsFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ill, spare := &peer{fault: func(context.Context, int) error { return errors.New("connection refused") }}, &peer{}
		cfg := config(map[string]*peer{"ill": ill, "spare": spare})
		cfg.Routes = []Route{{Name: "1", Match: Match{Kinds: []string{"site_*"}}, To: []string{"ill"}, Fallback: []string{"spare"}}}
		w := newWorld()
		for i := range uint64(maxQueued) {
			keepDelivery(w.values, "ill", &delivery{Seq: i + 1, Message: Message{ID: fmt.Sprint(i), Thread: fmt.Sprint(i), Subject: fmt.Sprint("news ", i), Severity: sites.Info}, Queued: time.Now(), Fallback: []string{"spare"}})
		}
		_, stop := w.run(cfg)
		time.Sleep(time.Second)
		w.happen("site_down berlin", 0)
		time.Sleep(5 * time.Minute)
		stop()
		if d := cmp.Diff([]string{" news 0"}, spare.subjects()); d != "" {
			t.Fatalf("the fallback has (-want +got):\n%s", d)
		}
		if notes := spare.messages()[0].Notes; !slices.Equal(notes, []string{"It comes this way because ill has 1000 messages that wait already."}) {
			t.Errorf("it says %q", notes)
		}
		if key := deliveryKey("ill", 1); w.values[key] != nil {
			t.Error("it is still stored")
		}
	})
}
