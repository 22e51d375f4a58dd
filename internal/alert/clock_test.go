package alert

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A machine without a battery starts with the clock of its last stop, or of its
// build, and sets it once the network is there: what waits then, what is told later
// and each end would be held back for as long as the clock has jumped.
func TestTheClockIsSetWhileItRuns(t *testing.T) {
	for _, jump := range []time.Duration{365 * 24 * time.Hour, -365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			well := &peer{}
			w := newWorld()
			_, stop := w.run(config(map[string]*peer{"well": well}))
			out := w.happen("failover_outage berlin/a", 0)
			time.Sleep(15 * time.Second)
			w.happen("failover_outage berlin/b", 0)
			w.set(jump)
			w.happen("site_down hamburg", 0) // before anybody has noticed
			time.Sleep(3 * time.Minute)
			w.happen("failover_failback berlin/a", out)
			time.Sleep(time.Minute)
			stop()
			want := []string{"firing Taken out of DNS: berlin/a", "firing Taken out of DNS: berlin/b", "firing hamburg cannot be seen", "resolved Taken out of DNS: berlin/a"}
			if diff := cmp.Diff(want, well.subjects()); diff != "" {
				t.Errorf("by %v (-want +got):\n%s", jump, diff)
			}
		})
	}
}

// What was wrong when the channels were taken out of the configuration, and has ended
// meanwhile, would keep quiet for ever what it explains, once they are back.
func TestChannelsAreTakenOutForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		well := &peer{}
		w := newWorld()
		cfg := config(map[string]*peer{"well": well})
		e, stop := w.run(cfg)
		down := w.happen("site_down berlin", 0)
		time.Sleep(10 * time.Minute)
		e.Reload(&Config{Instance: "hq"})
		time.Sleep(time.Minute)
		w.happen("site_up berlin", down)
		time.Sleep(time.Hour)
		e.Reload(cfg)
		time.Sleep(time.Minute)
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(24 * time.Hour)
		stop()
		want := []string{"firing berlin cannot be seen", "resolved berlin cannot be seen", "firing Taken out of DNS: berlin/a", "reminder Taken out of DNS: berlin/a"}
		if diff := cmp.Diff(want, well.subjects()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// What waits to be told when a channel is renamed, or put in another's place, would
// reach nobody.
func TestAChannelIsReplacedWhileSomethingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after, other := &peer{}, &peer{}, &peer{}
		w := newWorld()
		e, stop := w.run(config(map[string]*peer{"before": before, "other": other}))
		w.happen("site_down berlin", 0)
		time.Sleep(time.Minute)
		e.Reload(config(map[string]*peer{"after": after, "other": other}))
		time.Sleep(10 * time.Minute)
		stop()
		for name, p := range map[string]*peer{"after": after, "other": other} {
			if diff := cmp.Diff([]string{"firing berlin cannot be seen"}, p.subjects()); diff != "" {
				t.Errorf("by %s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// An action that was chosen while a reload took it out would be carried out when it is put
// back, for what is long past.
func TestAnActionThatIsTakenOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int64
		cfg := &Config{Instance: "hq", Actions: []Action{{
			Name: "wake", Match: Match{Kinds: []string{"node_offline"}}, Timeout: time.Second,
			Do: func(context.Context, *Message) (string, error) { ran.Add(1); return "woken", nil },
		}}}
		w := newWorld()
		world := w.world()
		world.Explain = func(context.Context, string) []string { time.Sleep(explainWithin); return nil }
		e := New(cfg, world, nil, 0)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		w.happen("node_offline berlin/a", 0)
		time.Sleep(explainWithin / 2)
		e.Reload(&Config{Instance: "hq"})
		time.Sleep(time.Hour)
		e.Reload(cfg)
		time.Sleep(time.Minute)
		cancel()
		<-done
		if n := ran.Load(); n != 0 {
			t.Errorf("it was carried out %d times", n)
		}
	})
}
