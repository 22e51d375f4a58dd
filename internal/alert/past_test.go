package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// If this fails, nobody can see afterwards what was told to whom: after a restart,
// of a message that was given up, or of a channel that has told much.
func TestPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		well := &peer{}
		peers := map[string]*peer{"mail": well}
		_, stop := w.run(config(peers))
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(10 * time.Minute)
		stop()
		e, stop := w.run(config(peers))
		time.Sleep(time.Second)
		past := e.Status().Channels[0].Past
		if len(past) != 1 || past[0].Subject == "" || past[0].Error != "" || past[0].Left.IsZero() || past[0].Time.After(past[0].Left) {
			t.Fatalf("after a restart: %+v", past)
		}
		well.set(func(context.Context, int) error { return &RefusedError{Message: true, Err: errors.New("too long")} })
		w.happen("failover_outage berlin/b", 0)
		time.Sleep(24 * time.Hour)
		if past = e.Status().Channels[0].Past; len(past) < 2 || past[0].Error == "" {
			t.Fatalf("given up: %+v", past)
		}
		well.set(nil)
		for i := range maxPast + 5 {
			w.happen(fmt.Sprintf("failover_outage hamburg/n%d", i), 0)
			time.Sleep(time.Hour)
		}
		stop()
		if n := len(e.Status().Channels[0].Past); n != maxPast {
			t.Errorf("%d are remembered", n)
		}
		var kept []Delivered
		if err := json.Unmarshal(w.values[pastKey+"mail"], &kept); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e.Status().Channels[0].Past, kept); d != "" {
			t.Error("what is stored:", d)
		}
		// A channel that is configured no more leaves nothing behind.
		_, stop = w.run(config(map[string]*peer{"other": {}}))
		time.Sleep(time.Hour)
		stop()
		if _, there := w.values[pastKey+"mail"]; there {
			t.Error("what a channel did that is gone is still stored")
		}
	})
}
