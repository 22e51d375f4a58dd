package probes

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// listener is a set of heartbeats in a bubble, with one node.
type listener struct {
	*Heartbeats
	skip time.Duration // sleep that the timers do not see
}

func newListener(list ...Beating) *listener {
	l, start := &listener{}, time.Now()
	l.Heartbeats = NewHeartbeats(func() time.Duration { return time.Since(start) + l.skip })
	l.Use(list)
	return l
}

var berlinA = Beating{Site: "berlin", Node: "a", Token: "0123456789abcdef"}

func (l *listener) look(t *testing.T, timeout time.Duration) sites.Check {
	t.Helper()
	ctx, cancel := context.WithTimeout(Listen(t.Context(), l.Heartbeats), timeout)
	defer cancel()
	return Ask(ctx, Heartbeat{StaleAfter: 90 * time.Second}, sites.Subject{Site: "berlin", Node: "a"}, nil)
}

func (l *listener) report(t *testing.T, r Report) {
	t.Helper()
	if err := l.Report("berlin", "a", berlinA.Token, r); err != nil {
		t.Fatal(err)
	}
}

// A restart, a reload or a sleep of the controller must take no node out that
// reports, and one that has fallen silent must be found.
func TestHeartbeat(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, l *listener)
		want want
		text string
	}{
		{"before the first report nothing is known", func(*testing.T, *listener) { time.Sleep(89 * time.Second) }, want{sites.Unknown, CauseAwaited}, "no report yet, 1m29s after the controller began to listen"},
		{"for no longer than a node may be silent", func(*testing.T, *listener) { time.Sleep(90 * time.Second) }, want{sites.Down, CauseStale}, "no report in the 1m30s since the controller began to listen"},
		{"fresh", func(t *testing.T, l *listener) {
			l.report(t, Report{})
			time.Sleep(89 * time.Second)
		}, want{sites.Up, ""}, "reported 1m29s ago"},
		{"stale", func(t *testing.T, l *listener) {
			l.report(t, Report{})
			time.Sleep(90 * time.Second)
		}, want{sites.Down, CauseStale}, "the last report came 1m30s ago"},
		{"it says that it is not well", func(t *testing.T, l *listener) { l.report(t, Report{Healthy: new(false)}) }, want{sites.Down, CauseUnhealthy}, "it reports that it is not healthy"},
		{"and that it is again", func(t *testing.T, l *listener) {
			l.report(t, Report{Healthy: new(false)})
			l.report(t, Report{Healthy: new(true)})
		}, want{sites.Up, ""}, "reported 0s ago"},
		{"a reload keeps what was said", func(t *testing.T, l *listener) {
			l.report(t, Report{})
			time.Sleep(80 * time.Second)
			l.Use([]Beating{{"berlin", "a", "another token of it"}, {"berlin", "b", "xxxxxxxxxxxxxxxxxxxx"}})
		}, want{sites.Up, ""}, "reported 1m20s ago"},
		{"one that was away is new", func(t *testing.T, l *listener) {
			l.report(t, Report{})
			l.Use(nil)
			l.Use([]Beating{berlinA})
		}, want{sites.Unknown, CauseAwaited}, "no report yet, 0s after the controller began to listen"},
		{"after a sleep it listens anew", func(t *testing.T, l *listener) {
			l.report(t, Report{})
			l.skip = 3 * time.Hour
			l.Restart()
		}, want{sites.Unknown, CauseAwaited}, "no report yet, 0s after the controller began to listen"},
		{"a sleep counts", func(t *testing.T, l *listener) {
			l.report(t, Report{})
			l.skip = 3 * time.Hour
		}, want{sites.Down, CauseStale}, "the last report came 3h0m0s ago"},
		{"no such node", func(_ *testing.T, l *listener) { l.Use(nil) }, want{sites.Unknown, CauseLocalConfig}, "berlin/a has no heartbeat"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newListener(berlinA)
				tt.do(t, l)
				now := l.now()
				c := l.look(t, time.Millisecond)
				if diff := cmp.Diff(tt.want, verdict(c)); diff != "" || c.Text != tt.text {
					t.Errorf("text %q, want %q; verdict (-want +got):\n%s", c.Text, tt.text, diff)
				}
				if c.Outcome == sites.Up && (c.Heard > now || now-c.Heard >= 90*time.Second) {
					t.Errorf("heard at %s, now %s", c.Heard, now)
				}
			})
		})
	}
}

// A node that has fallen silent cannot be asked at once: a failure must take the
// probe's whole time, and a report that comes meanwhile must be taken.
func TestHeartbeatListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(berlinA)
		l.report(t, Report{})
		time.Sleep(2 * time.Minute)
		if c := l.look(t, 2*time.Second); c.Outcome != sites.Down || c.Duration != 2*time.Second {
			t.Errorf("silent: %+v", c)
		}
		go func() {
			time.Sleep(time.Second)
			l.report(t, Report{})
		}()
		if c := l.look(t, 2*time.Second); c.Outcome != sites.Up || c.Duration != time.Second || c.Heard != l.now() {
			t.Errorf("reported meanwhile: %+v", c)
		}
		time.Sleep(2 * time.Minute)
		ctx, cancel := context.WithCancel(Listen(t.Context(), l.Heartbeats))
		cancel()
		if c := Ask(ctx, Heartbeat{StaleAfter: time.Minute}, sites.Subject{Site: "berlin", Node: "a"}, nil); verdict(c) != (want{sites.Unknown, CauseCancelled}) {
			t.Errorf("cancelled: %+v", c)
		}
	})
}

// A busy node must be told from an idle one, and one whose counters begin anew
// must not look like either.
func TestHeartbeatFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(berlinA)
		steps := []struct {
			wait time.Duration
			r    Report
			want string
		}{
			{0, Report{}, ""},
			{0, Report{Sessions: new(int64(12)), Load: new(0.4), Bytes: new(int64(1000))}, "12 sessions, load 0.40"},
			{10 * time.Second, Report{Bytes: new(int64(1_201_000))}, "120 kB/s"},
			{100 * time.Millisecond, Report{Bytes: new(int64(1_201_000))}, "120 kB/s"},
			{9900 * time.Millisecond, Report{Bytes: new(int64(1_201_000))}, "0 B/s"},
			{10 * time.Second, Report{Bytes: new(int64(500))}, ""},
			{10 * time.Second, Report{Bytes: new(int64(20_500))}, "2 kB/s"},
			{10 * time.Second, Report{}, ""},
			{10 * time.Second, Report{Healthy: new(false), Sessions: new(int64(1))}, "1 session"},
		}
		for i, s := range steps {
			time.Sleep(s.wait)
			l.report(t, s.r)
			if got := l.look(t, time.Second).Figures.String(); got != s.want {
				t.Errorf("report %d: figures %q, want %q", i, got, s.want)
			}
		}
		time.Sleep(2 * time.Minute)
		if c := l.look(t, time.Second); c.Figures != nil {
			t.Errorf("figures of one that is silent: %+v", c.Figures)
		}
	})
}

// Nobody but the node may speak for it, and its token must never be printed.
func TestHeartbeatToken(t *testing.T) {
	l := newListener(berlinA, Beating{"berlin", "b", "another-token-here"})
	tests := []struct {
		site, node string
		token      Token
		want       error
	}{
		{"berlin", "a", berlinA.Token, nil},
		{"berlin", "a", "another-token-here", ErrToken},
		{"berlin", "a", "", ErrToken},
		{"berlin", "c", berlinA.Token, ErrNoHeartbeat},
		{"hamburg", "a", berlinA.Token, ErrNoHeartbeat},
		{"", "", "", ErrNoHeartbeat},
	}
	for _, tt := range tests {
		if err := l.Report(tt.site, tt.node, tt.token, Report{}); !errors.Is(err, tt.want) {
			t.Errorf("%s/%s: %v, want %v", tt.site, tt.node, err, tt.want)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if s := fmt.Sprintf(verb, berlinA); strings.Contains(s, "0123") || strings.Contains(s, "30313233") {
			t.Errorf("%s prints %s", verb, s)
		}
	}
}

// What cannot be is no figure: it would steer clients.
func TestReportValidate(t *testing.T) {
	nan := 0.0
	nan /= nan
	for name, r := range map[string]Report{
		"load": {Load: new(-0.1)}, "load ": {Load: &nan}, "load  ": {Load: new(1e9)}, "sessions": {Sessions: new(int64(-1))}, "bytes": {Bytes: new(int64(-1))},
	} {
		if err := r.Validate(); err == nil || !strings.HasPrefix(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&Report{Load: new(0.4), Sessions: new(int64(0)), Bytes: new(int64(0))}).Validate(); err != nil {
		t.Error(err)
	}
}

// Reports, probes and reloads come at once from many sides; the controller must
// neither stop nor mix them up.
func TestHeartbeatsAtOnce(t *testing.T) {
	l := newListener(berlinA)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				l.report(t, Report{Bytes: new(int64(1))})
				if c := l.look(t, time.Second); c.Outcome != sites.Up && c.Cause != string(CauseAwaited) {
					t.Errorf("%+v", c)
				}
			}
		})
	}
	all.Go(func() {
		for range 200 {
			l.Use([]Beating{berlinA})
			l.Restart()
		}
	})
	all.Wait()
}

// Asked about an address alone there is no node to look for.
func TestHeartbeatOfAnAddress(t *testing.T) {
	if c := (Heartbeat{}).Probe(t.Context(), netip.MustParseAddr("10.1.0.1")); c.Outcome != sites.Unknown {
		t.Errorf("%+v", c)
	}
	if c := Ask(t.Context(), Heartbeat{}, sites.Subject{Site: "berlin", Node: "a"}, nil); verdict(c) != (want{sites.Unknown, CauseLocalConfig}) {
		t.Errorf("%+v", c)
	}
}
