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

// A controller that has gone on to another channel with a part of what it had to say would
// ask a hundred times a second what is due, until the rest is over.
func TestARestThatHasNoNewsIsLeftAlone(t *testing.T) {
	route := Route{Name: "1", Match: Match{Least: sites.Warning}, To: []string{"mail"}}
	d := newDesk(route)
	expires := d.happen("certificate_expiring berlin/a", 0)
	d.happen("certificate_expiring berlin/b", 0)
	d.pass(time.Minute)
	d.happen("certificate_expiring berlin/a", expires) // it has news, which wait
	d.pass(time.Minute)
	route.Nodes, route.To = []string{"berlin/a"}, []string{"team"}
	d.Reload([]Route{route}, 10*time.Second, func(string, string) bool { return true }, d.now)
	d.Adopt(func(channel string) bool { return channel == "team" }, d.now)
	d.pass(time.Minute)
	d.now = d.now.Add(partly)
	d.Due(d.now)
	if _, next := d.Due(d.now); !next.IsZero() && !next.After(d.now) {
		t.Errorf("at %v it would be asked again at %v", d.now, next)
	}
	if diff := cmp.Diff([]string{"mail: firing 2: " + d.Cases[0].Subject, "team: firing 1: " + d.Cases[1].Subject}, d.said()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// Whoever was told in the place of a channel would never learn that it is over, where that
// channel is given another name meanwhile.
func TestWhoWasToldInThePlaceOfAChannelThatLeaves(t *testing.T) {
	for _, tt := range []struct {
		name    string
		to      []string // of the route, afterwards
		waits   time.Duration
		restart bool
		well    []string
	}{
		{"it has another name", []string{"well"}, time.Hour, false, []string{"firing", "reminder", "resolved"}},
		{"found by a start", []string{"well"}, time.Hour, true, []string{"firing", "reminder", "resolved"}},
		{"it leaves while the message waits for it", []string{"well"}, 5 * time.Minute, false, []string{"firing", "reminder", "resolved"}},
		{"who was told is the one that is left", []string{"spare"}, time.Hour, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ill, spare, well := &peer{fault: func(context.Context, int) error { return errors.New("connection refused") }}, &peer{}, &peer{}
				cfg, later := config(map[string]*peer{"ill": ill, "spare": spare}), config(map[string]*peer{"spare": spare, "well": well})
				for c, to := range map[*Config][]string{cfg: {"ill"}, later: tt.to} {
					c.Routes[0].Kinds, c.Routes[0].To, c.Routes[0].Fallback = []string{"failover_*"}, to, []string{"spare"}
				}
				w := newWorld()
				e, stop := w.run(cfg)
				out := w.happen("failover_outage berlin/a", 0)
				time.Sleep(tt.waits)
				for range 2 {
					if tt.restart {
						stop()
						e, stop = w.run(later)
					} else {
						e.Reload(later)
					}
					time.Sleep(time.Hour)
				}
				time.Sleep(12 * time.Hour)
				w.happen("failover_failback berlin/a", out)
				time.Sleep(time.Hour)
				stop()
				phases := func(p *peer) (list []string) {
					for _, m := range p.messages() {
						list = append(list, string(m.Phase))
					}
					return list
				}
				if d := cmp.Diff([]string{"firing", "reminder", "resolved"}, phases(spare)); d != "" {
					t.Errorf("the fallback has (-want +got):\n%s", d)
				}
				if d := cmp.Diff(tt.well, phases(well)); d != "" {
					t.Errorf("the other channel has (-want +got):\n%s", d)
				}
			})
		})
	}
}
