package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// draining is a controller whose node a of berlin has other sessions as time
// passes.
type draining struct {
	start time.Time
	// sessions by second; the last goes on. -1 is not known, -2 an error, -3 a
	// node that is up again.
	sessions []int64
	ttl      int
}

func (d *draining) Status(context.Context) (api.Status, error) {
	i := min(int(time.Since(d.start)/time.Second), len(d.sessions)-1)
	n := sites.NodeView{Name: "a", Word: sites.WordMaintenance}
	switch open := d.sessions[i]; open {
	case -1:
	case -2:
		return api.Status{}, errors.New("nothing listens")
	case -3:
		n.Word = sites.WordUp
	default:
		rate := float64(open) * 1000
		n.Figures = &sites.Figures{Sessions: &open, BytesPerSecond: &rate}
	}
	other := int64(7)
	b := sites.NodeView{Name: "b", Word: sites.WordUp, Figures: &sites.Figures{Sessions: &other}}
	return api.Status{
		Sites:    []sites.SiteView{{Name: "hamburg", Nodes: []sites.NodeView{{Name: "a", Word: sites.WordMaintenance}}}, {Name: "berlin", Nodes: []sites.NodeView{n, b}}},
		Services: []api.ServiceView{{Sites: []api.ServiceAnswerView{{Site: "hamburg", TTL: 900}, {Site: "berlin", TTL: d.ttl}}}},
	}, nil
}

// Who waits to switch a machine off must be told when nobody is on it any more,
// and must not be told so when that is not known.
func TestDrain(t *testing.T) {
	tests := []struct {
		name     string
		sessions []int64
		ttl      int
		node     string
		text     string
		err      string
		waited   time.Duration
		progress string
	}{
		{"nothing is open", []int64{0}, 0, "a", "No session is open on berlin/a any more, after 0s.", "", 0, ""},
		{
			"until none is",
			[]int64{2, 2, 1, 0},
			0, "a", "No session is open on berlin/a any more, after 3s.", "", 3 * time.Second,
			"2 sessions are still open on berlin/a, carrying 2 kB/s; waiting for up to 1m.\n1 session is still open on berlin/a, carrying 1 kB/s; waiting for up to 58s.\n",
		},
		{
			"caches send more for a while",
			[]int64{0, 0, 5, 0},
			5, "a", "No session is open on berlin/a any more, after 5s.", "", 5 * time.Second,
			"No session is open on berlin/a; waiting until caches hold its address no longer (5s).\n5 sessions are still open on berlin/a, carrying 5 kB/s; waiting for up to 58s.\nNo session is open on berlin/a; waiting until caches hold its address no longer (5s).\n",
		},
		{
			"caches may send more when the time has passed",
			[]int64{0},
			90, "a", "", "after 1m, no session is open on berlin/a, but caches may still hold its address; it stays in maintenance", time.Minute,
			"No session is open on berlin/a; waiting until caches hold its address no longer (1m30s).\n",
		},
		{
			"the time passes",
			[]int64{3},
			0, "a", "", "after 1m, 3 sessions are still open on berlin/a; it stays in maintenance", time.Minute,
			"3 sessions are still open on berlin/a, carrying 3 kB/s; waiting for up to 1m.\n",
		},
		{
			"nobody knows",
			[]int64{-1},
			0, "a", "", "after 1m, it is not known how many sessions are open on berlin/a; it stays in maintenance", time.Minute,
			"How many sessions are open on berlin/a is not known: only probes of type haproxy and heartbeat find that out. Waiting all the same.\n",
		},
		{
			"the controller is away for a moment",
			[]int64{1, -2, -2, 0},
			0, "a", "No session is open on berlin/a any more, after 3s.", "", 3 * time.Second,
			"1 session is still open on berlin/a, carrying 1 kB/s; waiting for up to 1m.\nnothing listens\n",
		},
		{
			"somebody ends it",
			[]int64{1, 1, -3},
			0, "a", "", "berlin/a is not in maintenance any more", 2 * time.Second,
			"1 session is still open on berlin/a, carrying 1 kB/s; waiting for up to 1m.\n",
		},
		{
			"all of the site that is in maintenance",
			[]int64{1, 0},
			0, "", "No session is open on berlin any more, after 1s.", "", time.Second,
			"1 session is still open on berlin, carrying 1 kB/s; waiting for up to 1m.\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var progress bytes.Buffer
				d := &drain{ask: &draining{time.Now(), tt.sessions, tt.ttl}, site: "berlin", node: tt.node, within: time.Minute, progress: &progress}
				out, err := d.run(t.Context())
				got := ""
				if err != nil {
					got = err.Error()
				}
				if tt.err == "" && (out.Text != tt.text || !out.Done) || got != tt.err || out.Waited != tt.waited {
					t.Errorf("after %s: %q, %q", out.Waited, out.Text, got)
				}
				if diff := cmp.Diff(tt.progress, progress.String()); diff != "" {
					t.Errorf("said (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Whoever presses Ctrl-C must get the keyboard back, and be told how it stands.
func TestDrainInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		d := &drain{ask: &draining{time.Now(), []int64{2}, 0}, site: "berlin", node: "a", within: time.Hour, progress: &bytes.Buffer{}}
		start := time.Now()
		_, err := d.run(ctx)
		if err == nil || !strings.HasPrefix(err.Error(), "interrupted, 2 sessions are still open") || time.Since(start) > 11*time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}
