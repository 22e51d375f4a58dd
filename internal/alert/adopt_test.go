package alert

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// Whoever configures alerts while something is wrong, or gives the only channel another
// name, would be told neither that it is wrong, nor that it lasts, nor that it is over.
func TestWhatLastsIsToldByAChannelThatComesLater(t *testing.T) {
	want := []string{"firing berlin/b cannot be reached", "reminder berlin/b cannot be reached", "resolved berlin/b cannot be reached"}
	for _, tt := range []struct {
		name    string
		before  map[string]*peer
		restart bool
	}{
		{"reload from none", nil, false},
		{"restart from none", nil, true},
		{"reload from another", map[string]*peer{"other": {}}, false},
		{"restart from another", map[string]*peer{"other": {}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				well := &peer{}
				with := config(map[string]*peer{"well": well})
				w := newWorld()
				e, stop := w.run(config(tt.before))
				over := w.happen("node_offline berlin/a", 0)
				off := w.happen("node_offline berlin/b", 0)
				time.Sleep(10 * time.Minute)
				w.happen("node_online berlin/a", over)
				time.Sleep(10 * time.Minute)
				for range 2 { // and it is told once
					if tt.restart {
						stop()
						e, stop = w.run(with)
					} else {
						e.Reload(with)
					}
					time.Sleep(time.Minute)
				}
				time.Sleep(12 * time.Hour)
				w.happen("node_online berlin/b", off)
				time.Sleep(time.Minute)
				if n := len(e.Status().Open); n != 0 {
					t.Errorf("%d incidents are open", n)
				}
				stop()
				if diff := cmp.Diff(want, well.subjects()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// That a channel fails would stay open for ever, and what waited for it vanish without a
// word, where a start finds no channel at all.
func TestAStartWithoutChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &peer{fault: func(context.Context, int) error { return errors.New("connection refused") }}
		w := newWorld()
		_, stop := w.run(config(map[string]*peer{"dead": dead}))
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(time.Hour)
		stop()
		failed := w.find(sites.AlertFailed)
		_, stop = w.run(&Config{Instance: "hq"})
		time.Sleep(time.Minute)
		stop()
		if end := w.find(sites.AlertRecovered); failed.ID == 0 || end.Resolves != failed.ID || w.find(sites.AlertDropped).ID == 0 {
			t.Errorf("told %v", w.kinds())
		}
		if len(w.values) != 1 {
			t.Errorf("still stored, beside what is open: %v", w.values)
		}
	})
}
