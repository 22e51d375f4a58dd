package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/sites"
)

// Goroutines that outlive the engine would keep connections open for ever.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a controller's events and store, in memory.
type world struct {
	mu     sync.Mutex
	events []sites.Event
	values map[string][]byte
	more   chan struct{}
	// broken: the store takes nothing.
	broken bool
	// lose drops what is stored soon, as a kill does.
	lose bool
	// deaf has the events not be followed; slow has whoever follows them lose its place.
	deaf bool
	slow chan struct{}
	// ahead is by how much the wall clock was set.
	ahead time.Duration
	log   *slog.Logger
}

func newWorld() *world {
	return &world{log: slog.New(slog.DiscardHandler), values: make(map[string][]byte), more: make(chan struct{})}
}

func (w *world) raise(e sites.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.ID, e.Time, e.Severity = uint64(len(w.events)+1), time.Now().Add(w.ahead), e.Kind.Severity()
	w.events = append(w.events, e)
	close(w.more)
	w.more = make(chan struct{})
}

// set has the wall clock set.
func (w *world) set(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += by
}

func (w *world) wall() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

func (w *world) happen(what string, resolves uint64) uint64 {
	kind, subject, _ := strings.Cut(what, " ")
	site, node, _ := strings.Cut(subject, "/")
	w.raise(sites.Event{Kind: sites.Kind(kind), Site: site, Node: node, Text: what + ".", Resolves: resolves})
	w.mu.Lock()
	defer w.mu.Unlock()
	return uint64(len(w.events))
}

func (w *world) keep(values map[string][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken || w.lose {
		return
	}
	for k, v := range values {
		if v == nil {
			delete(w.values, k)
		} else {
			w.values[k] = v
		}
	}
}

func (w *world) kinds() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		list = append(list, string(e.Kind))
	}
	return list
}

func (w *world) world() World {
	return World{
		Follow: func(ctx context.Context, after uint64) (<-chan sites.Event, error) {
			w.mu.Lock()
			deaf, slow := w.deaf, w.slow
			w.mu.Unlock()
			if deaf {
				return nil, errors.New("the database has failed")
			}
			out := make(chan sites.Event)
			go func() {
				defer close(out)
				for next := after; ; {
					w.mu.Lock()
					rest, more := slices.Clone(w.events[min(next, uint64(len(w.events))):]), w.more
					w.mu.Unlock()
					for _, e := range rest {
						select {
						case out <- e:
							next = e.ID
						case <-ctx.Done():
							return
						}
					}
					if len(rest) > 0 {
						continue
					}
					select {
					case <-more:
					case <-slow:
						return
					case <-ctx.Done():
						return
					}
				}
			}()
			return out, nil
		},
		Explain: func(_ context.Context, s string) []string { return []string{"Why " + s + " is as it is."} },
		Raise:   w.raise,
		Keep:    w.keep,
		KeepNow: func(ctx context.Context, values map[string][]byte) error {
			if w.broken {
				<-ctx.Done() // a disk that hangs
				return ctx.Err()
			}
			w.keep(values)
			return nil
		},
		Exists:  func(string, string) bool { return true },
		Healthy: func(context.Context) error { return nil },
		Wall:    w.wall,
		Log:     w.log,
	}
}

// peer is a receiver that fails as the test says.
type peer struct {
	mu sync.Mutex
	// fault is what befalls a message: nil takes it.
	fault func(ctx context.Context, n int) error
	n     int
	got   []Message
	at    []time.Time
}

// errLost is a fault in which the message was taken and the answer lost.
var errLost = errors.New("connection reset by peer")

func (p *peer) Send(ctx context.Context, m *Message, _ Dialogue) error {
	p.mu.Lock()
	p.n++
	n, fault := p.n, p.fault
	p.mu.Unlock()
	var err error
	if fault != nil {
		err = fault(ctx, n)
	}
	if err == nil || errors.Is(err, errLost) {
		p.mu.Lock()
		p.got, p.at = append(p.got, *m), append(p.at, time.Now())
		p.mu.Unlock()
	}
	return err
}

func (p *peer) set(fault func(context.Context, int) error) {
	p.mu.Lock()
	p.fault = fault
	p.mu.Unlock()
}

func (p *peer) messages() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

func (p *peer) subjects() (list []string) {
	for _, m := range p.messages() {
		list = append(list, string(m.Phase)+" "+m.Subject)
	}
	return list
}

func config(peers map[string]*peer) *Config {
	cfg := &Config{Instance: "hq", Group: 10 * time.Second, FallbackAfter: 15 * time.Minute, GiveUp: 48 * time.Hour}
	for _, name := range slices.Sorted(maps.Keys(peers)) {
		cfg.Channels = append(cfg.Channels, Channel{Name: name, Type: "test", Sender: peers[name], Timeout: 30 * time.Second})
	}
	to := slices.Sorted(maps.Keys(peers))
	cfg.Routes = []Route{{Name: "1", Match: Match{Least: sites.Warning, Kinds: []string{"site_*", "failover_*", "node_*"}}, To: to, Wait: 2 * time.Minute, Remind: 12 * time.Hour}}
	return cfg
}

// run starts an engine; what it gives ends it.
func (w *world) run(cfg *Config) (e *Engine, stop func()) {
	w.mu.Lock()
	stored, last := maps.Clone(w.values), uint64(len(w.events))
	w.mu.Unlock()
	e = New(cfg, w.world(), stored, last)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	return e, func() { cancel(); <-done }
}

// Two hours without any channel, five incidents and a restart: an incident that
// does not arrive, comes with a wrong time, out of order or twice is one that
// people cannot trust.
func TestTwoHoursOfDeadChannels(t *testing.T) {
	faults := map[string]func(context.Context, int) error{
		"refuses": func(context.Context, int) error { return errors.New("connection refused") },
		"hangs":   func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() },
		"loses":   func(_ context.Context, n int) error { return errLost },
		"limits": func(context.Context, int) error {
			return &RefusedError{Err: errors.New("429"), After: 10 * time.Minute}
		},
		"panics": func(context.Context, int) error { panic("out of cheese") },
	}
	synctest.Test(t, func(t *testing.T) {
		peers := make(map[string]*peer)
		for name, fault := range faults {
			peers[name] = &peer{fault: fault}
		}
		w := newWorld()
		_, stop := w.run(config(peers))
		var began []time.Time
		for i := range 5 {
			began = append(began, time.Now())
			w.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0)
			time.Sleep(24 * time.Minute)
			if i == 2 {
				stop()
				time.Sleep(time.Minute)
				_, stop = w.run(config(peers))
			}
		}
		for _, p := range peers {
			p.set(nil)
		}
		time.Sleep(3 * time.Hour)
		stop()
		for name, p := range peers {
			var order []string
			seen := make(map[string]Message)
			for _, m := range p.messages() {
				if first, twice := seen[m.ID]; twice {
					if name != "loses" {
						t.Errorf("%s: %s came twice", name, m.Subject)
					}
					if d := cmp.Diff(first, m); d != "" {
						t.Errorf("%s: a double differs:\n%s", name, d)
					}
					continue
				}
				seen[m.ID] = m
				order = append(order, m.Subject)
				if i := len(order) - 1; i < 5 && !m.Time.Equal(began[i]) {
					t.Errorf("%s: %s happened at %v, it says %v", name, m.Subject, began[i], m.Time)
				}
			}
			want := []string{"Taken out of DNS: berlin/n0", "Taken out of DNS: berlin/n1", "Taken out of DNS: berlin/n2", "Taken out of DNS: berlin/n3", "Taken out of DNS: berlin/n4"}
			if d := cmp.Diff(want, order); d != "" {
				t.Errorf("%s: arrived (-want +got):\n%s", name, d)
			}
		}
		maps.DeleteFunc(w.values, func(key string, _ []byte) bool { return strings.HasPrefix(key, pastKey) })
		if len(w.values) != 1 {
			t.Errorf("what was sent is still stored: %v", slices.Sorted(maps.Keys(w.values)))
		}
	})
}

// One channel that hangs would keep an alert from all the others.
func TestAChannelThatHangsDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := &peer{fault: func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}
		well := &peer{}
		w := newWorld()
		_, stop := w.run(config(map[string]*peer{"deaf": deaf, "well": well}))
		defer stop()
		start := time.Now()
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(time.Minute)
		well.mu.Lock()
		defer well.mu.Unlock()
		if len(well.at) != 1 || well.at[0].Sub(start) > 11*time.Second {
			t.Errorf("it came at %v", well.at)
		}
	})
}

// A kill between two moments would lose an alert, or send one twice under two
// names.
func TestKills(t *testing.T) {
	for _, tt := range []struct {
		name string
		// when after the event the engine is killed, losing what it wanted to
		// store at the end.
		when time.Duration
	}{
		{"before the event is taken in", 0}, {"while it is collected", 5 * time.Second}, {"while it is tried", 11 * time.Second}, {"when it was sent", 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{fault: func(context.Context, int) error { time.Sleep(3 * time.Second); return nil }}
				w := newWorld()
				_, stop := w.run(config(map[string]*peer{"p": p}))
				time.Sleep(time.Second)
				w.happen("failover_outage berlin/a", 0)
				time.Sleep(tt.when)
				w.mu.Lock()
				w.lose = true
				w.mu.Unlock()
				stop()
				w.mu.Lock()
				w.lose = false
				w.mu.Unlock()
				_, stop = w.run(config(map[string]*peer{"p": p}))
				time.Sleep(time.Hour)
				stop()
				ids := make(map[string]bool)
				for _, m := range p.messages() {
					ids[m.ID] = true
				}
				if len(ids) != 1 {
					t.Errorf("sent as %v", ids)
				}
			})
		})
	}
}

// An alert would wait for a disk that hangs: the very one that tells of it.
func TestAStoreThatHangsHoldsNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		w := newWorld()
		w.broken = true
		_, stop := w.run(config(map[string]*peer{"p": p}))
		defer stop()
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(time.Minute)
		if got := p.subjects(); len(got) != 1 {
			t.Errorf("sent %v", got)
		}
	})
}

// A channel that stays dead would be noticed by nobody.
func TestFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, spare := &peer{fault: func(context.Context, int) error { return errors.New("connection refused") }}, &peer{}
		cfg := config(map[string]*peer{"dead": dead, "spare": spare})
		cfg.Routes = []Route{{Name: "1", Match: Match{Least: sites.Warning}, To: []string{"dead"}, Fallback: []string{"spare"}, Wait: time.Minute}}
		w := newWorld()
		_, stop := w.run(cfg)
		defer func() { stop() }()
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(10 * time.Minute)
		if got := spare.messages(); got != nil {
			t.Fatalf("the fallback was taken too early: %v", got)
		}
		time.Sleep(20 * time.Minute)
		got := spare.messages()
		if len(got) != 2 || got[0].Subject != "Taken out of DNS: berlin/a" || len(got[0].Notes) != 1 || got[1].Events[0].Kind != sites.AlertFailed {
			t.Fatalf("the fallback has %+v", got)
		}
		stop() // a restart says nothing again
		_, stop = w.run(cfg)
		time.Sleep(time.Hour)
		dead.set(nil)
		time.Sleep(time.Hour)
		if got := dead.subjects(); len(got) == 0 || got[0] != "firing Taken out of DNS: berlin/a" {
			t.Errorf("when it works again it has %q", got)
		}
		kinds := w.kinds()
		if d := cmp.Diff([]string{"failover_outage", "alert_failed", "alert_recovered"}, kinds); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
	})
}

// A channel would be told that its own failure is over, of which it never heard;
// and the one that was told of it would wait for the end in vain.
func TestTheEndOfAFailureGoesWhereItsBeginningWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ill, well := &peer{fault: func(context.Context, int) error { return errors.New("connection refused") }}, &peer{}
		cfg := config(map[string]*peer{"ill": ill, "well": well})
		cfg.Routes[0].Kinds = nil
		w := newWorld()
		_, stop := w.run(cfg)
		defer stop()
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(time.Hour)
		ill.set(nil)
		time.Sleep(time.Hour)
		if d := cmp.Diff([]string{"firing Taken out of DNS: berlin/a"}, ill.subjects()); d != "" {
			t.Errorf("the channel that failed has (-want +got):\n%s", d)
		}
		var phases []Phase
		for _, m := range well.messages() {
			phases = append(phases, m.Phase)
		}
		if d := cmp.Diff([]Phase{Firing, Firing, Resolved}, phases); d != "" {
			t.Errorf("the other has (-want +got):\n%s", d)
		}
	})
}

// A queue without bound would end the controller; one that drops in silence
// would be a lie.
func TestQueueIsBounded(t *testing.T) {
	o := newOutbox(Channel{Name: "p"}, slog.New(slog.DiscardHandler))
	add := func(id string, s sites.Severity) *delivery {
		_, dropped := o.add(&Message{ID: id, Severity: s, Subject: "subject of " + id}, nil, noon)
		return dropped
	}
	add("critical", sites.Critical)
	add("info", sites.Info)
	for i := range maxQueued - 2 {
		add(fmt.Sprintf("w%d", i), sites.Warning)
	}
	for _, want := range []string{"info", "w0", "w1"} {
		if d := add("more", sites.Critical); d == nil || d.Message.ID != want {
			t.Errorf("dropped %v, want %s", d, want)
		}
	}
	last := o.items[len(o.items)-1]
	if len(o.items) != maxQueued || o.items[0].Message.ID != "critical" || len(last.Message.Notes) != 1 || !strings.Contains(last.Message.Notes[0], "subject of w1") {
		t.Errorf("%d wait, the last says %v", len(o.items), last.Message.Notes)
	}
}

// What a dead channel has no room for, or time, would vanish without a word; what
// waited while the controller was off for long would never be tried.
func TestADeadChannelForDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := &peer{fault: func(context.Context, int) error { return errors.New("connection refused") }}
		cfg := config(map[string]*peer{"dead": dead})
		cfg.Routes[0].Kinds, cfg.GiveUp = []string{"window_skipped"}, 30*24*time.Hour
		var lines lineCounter
		w := newWorld()
		w.log = slog.New(slog.NewTextHandler(&lines, nil))
		_, stop := w.run(cfg)
		const told = maxQueued + 500
		for range told {
			w.happen("window_skipped berlin", 0) // one message a minute
			time.Sleep(time.Minute)
		}
		stop()
		queued := 0
		for key := range w.values {
			if strings.HasPrefix(key, queueKey) {
				queued++
			}
		}
		if dropped := lines.count("a message was dropped"); queued != maxQueued || dropped != told-maxQueued {
			t.Errorf("%d wait, the log names %d as dropped, of %d", queued, dropped, told)
		}
		if n := len(slices.DeleteFunc(w.kinds(), func(k string) bool { return k != "alert_dropped" })); n < 2 || n > 10 {
			t.Errorf("dropping is told %d times", n)
		}
		time.Sleep(40 * 24 * time.Hour) // off for longer than a message is tried
		dead.set(nil)
		_, stop = w.run(cfg)
		time.Sleep(time.Hour)
		stop()
		if got := dead.messages(); len(got) != maxQueued || !got[0].Time.Before(got[maxQueued-1].Time) {
			t.Errorf("%d messages came", len(got))
		}
	})
}

// lineCounter counts the lines of a log.
type lineCounter struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lineCounter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lineCounter) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// A message that its receiver never takes for what it is would block all that
// come after it.
func TestAMessageThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		p.fault = func(context.Context, int) error {
			if p.n <= refusals {
				return &RefusedError{Err: errors.New("554 no"), Message: true}
			}
			return nil
		}
		w := newWorld()
		_, stop := w.run(config(map[string]*peer{"p": p}))
		defer stop()
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(time.Minute)
		w.happen("site_down berlin", 0)
		time.Sleep(2 * time.Hour)
		if d := cmp.Diff([]string{"firing berlin cannot be seen"}, p.subjects()); d != "" {
			t.Errorf("sent (-want +got):\n%s", d)
		}
		if !slices.Contains(w.kinds(), "alert_dropped") {
			t.Errorf("nobody was told: %v", w.kinds())
		}
	})
}

// One message that its receiver does not like would have the channel be said to fail, for
// as long as nothing else happens, or until it is given up; and one that refuses all would
// not be.
func TestAChannelThatRefuses(t *testing.T) {
	for refused, want := range map[int]bool{1: false, 2: true} {
		for _, after := range []time.Duration{time.Minute, 15 * time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				p, w := &peer{}, newWorld()
				cfg := config(map[string]*peer{"p": p})
				cfg.FallbackAfter = after
				e, stop := w.run(cfg)
				defer stop()
				w.happen("failover_outage berlin/well", 0)
				time.Sleep(30 * time.Minute)
				p.set(func(context.Context, int) error { return &RefusedError{Err: errors.New("554 no"), Message: true} })
				for i := range refused {
					w.happen(fmt.Sprintf("failover_outage berlin/n%d", i), 0)
					time.Sleep(time.Minute)
					s := e.Status().Channels[0] // nor is it one that some take and others do not
					if fails := i > 0; s.Failing.IsZero() == fails || (s.Error == "") == fails || s.Queued != 1 || s.Next.IsZero() {
						t.Errorf("while message %d waits: %+v", i+1, s)
					}
					time.Sleep(29 * time.Minute)
				}
				if got := w.find(sites.AlertFailed).ID != 0; got != want {
					t.Errorf("%d messages are refused, said to fail: %v, %+v", refused, got, e.Status().Channels[0])
				}
			})
		}
	}
}

// What waits for a channel that a reload removes would vanish without a word.
func TestReloadRemovesAChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, well := &peer{fault: func(context.Context, int) error { return errors.New("no") }}, &peer{}
		w := newWorld()
		e, stop := w.run(config(map[string]*peer{"dead": dead, "well": well}))
		defer stop()
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(time.Minute)
		e.Reload(config(map[string]*peer{"well": well}))
		time.Sleep(time.Minute)
		if !slices.Contains(w.kinds(), "alert_dropped") {
			t.Errorf("nobody was told: %v", w.kinds())
		}
		w.happen("failover_failback berlin/a", 1)
		time.Sleep(time.Minute)
		if d := cmp.Diff([]string{"firing Taken out of DNS: berlin/a", "resolved Taken out of DNS: berlin/a"}, well.subjects()); d != "" {
			t.Errorf("sent (-want +got):\n%s", d)
		}
		if s := e.Status(); len(s.Channels) != 1 || s.Channels[0].Queued != 0 || len(s.Open) != 0 {
			t.Errorf("status %+v", s)
		}
		for key := range w.values {
			if strings.HasPrefix(key, queueKey) {
				t.Errorf("still stored: %s", key)
			}
		}
	})
}

// Silence of the controller would look like peace.
func TestDeadMan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		cfg := config(map[string]*peer{"p": p})
		var calls atomic.Int64
		var ill atomic.Bool
		cfg.DeadMan = &DeadMan{Every: time.Minute, Call: func(context.Context) error { calls.Add(1); return nil }}
		w := newWorld()
		world := w.world()
		world.Healthy = func(context.Context) error {
			if ill.Load() {
				return errors.New("the loop hangs")
			}
			return nil
		}
		e := New(cfg, world, nil, 0)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		time.Sleep(10*time.Minute + time.Second)
		if calls.Load() != 11 {
			t.Errorf("%d calls in ten minutes", calls.Load())
		}
		ill.Store(true)
		time.Sleep(10 * time.Minute)
		if calls.Load() != 11 {
			t.Error("called though nothing is decided")
		}
		if s := e.Status(); s.DeadMan == nil || s.DeadMan.Error == "" {
			t.Errorf("status %+v", s.DeadMan)
		}
		cancel()
		<-done
	})
}

// An action would run again and again, or for what is long past, or fail unseen.
func TestActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var ran []string
		fail := false
		cfg := &Config{Instance: "hq", Group: time.Second, Actions: []Action{{
			Name: "wake", Match: Match{Kinds: []string{"node_offline"}, NoDrills: true}, AtMost: 2, Within: time.Hour, Timeout: time.Second,
			Do: func(_ context.Context, m *Message) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				if fail {
					return "", errors.New("no route")
				}
				ran = append(ran, m.Events[0].Site+"/"+m.Events[0].Node)
				return "woken", nil
			},
		}}}
		w := newWorld()
		_, stop := w.run(cfg)
		for _, what := range []string{"node_offline berlin/a", "site_down berlin", "node_offline berlin/b", "node_offline berlin/c"} {
			w.happen(what, 0)
			time.Sleep(time.Minute)
		}
		stop()
		_, stop = w.run(cfg) // what was carried out is not forgotten
		w.happen("node_offline berlin/d", 0)
		time.Sleep(time.Minute)
		w.happen("node_offline berlin/d2", 0) // that the bound is reached is known
		time.Sleep(time.Minute)
		stop()
		w.happen("node_offline berlin/e", 0)
		time.Sleep(2 * time.Hour)
		_, stop = w.run(cfg)
		time.Sleep(time.Minute)
		mu.Lock()
		fail = true
		mu.Unlock()
		w.happen("node_offline berlin/f", 0)
		time.Sleep(time.Minute)
		stop()
		if d := cmp.Diff([]string{"berlin/a", "berlin/b"}, ran); d != "" {
			t.Errorf("carried out (-want +got):\n%s", d)
		}
		want := map[string]int{"action_done": 2, "action_failed": 3, "node_offline": 7, "site_down": 1}
		got := make(map[string]int)
		for _, k := range w.kinds() {
			got[k]++
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
	})
}

// A secret in a log is a secret no more.
func TestSecretsDoNotPrint(t *testing.T) {
	s := Secret("hunter2")
	for _, format := range []string{"%v", "%s", "%q", "%#v", "%x", "%+v"} {
		if got := fmt.Sprintf(format, struct{ S Secret }{s}); strings.Contains(got, "hunter2") || strings.Contains(got, "68756e74") {
			t.Errorf("%s: %s", format, got)
		}
	}
}
