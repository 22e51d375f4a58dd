package simulation

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/app"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// life is one run of the controller, from its start to its end.
type life struct {
	w      *world
	number int
	app    *app.App
	stop   context.CancelFunc
	ended  chan error
	killed atomic.Bool
	going  atomic.Bool // it is being stopped
	read   atomic.Uint64
	ready  bool
	// expired: the first turn has ended an order.
	expired bool
}

// dead says that it was killed: nothing that it still does reaches anything.
func (l *life) dead() bool { return l.killed.Load() }

func (l *life) ending() bool { return l.killed.Load() || l.going.Load() }

// write writes a configuration as an editor does that writes beside.
func (w *world) write(v variant) {
	beside := filepath.Join(w.dir, "beside")
	if err := os.WriteFile(beside, []byte(w.plan.yaml(v)), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(beside, filepath.Join(w.dir, "dnsteer.yaml")); err != nil {
		panic(err)
	}
}

// start starts the controller, and holds what it serves at once against what the
// last one served.
func (w *world) start() {
	l := &life{w: w, number: w.lives, ended: make(chan error, 1)}
	w.mu.Lock()
	w.lives++
	w.life = l
	w.mu.Unlock()
	w.ledger.begins(l)
	ready := make(chan *app.App, 1)
	stand := &app.Stand{
		Clock: w.instant, Probers: w.probers(l), Ask: w.ask, Target: w.targets(l),
		Jitter: func() float64 { return 0.5 }, Sender: func(string) alert.Sender { return &receiver{w.people, l} },
		Commit: w.commit(l), Turned: func(a *app.App, now sites.Instant, t engine.Turn) { w.ledger.turned(l, a, now, t) },
		Pace: w.plan.interval, WatchEvery: time.Hour,
	}
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	opt := stand.On(app.Options{
		ConfigPath: filepath.Join(w.dir, "dnsteer.yaml"), Log: slog.New(slog.DiscardHandler),
		Ready: func(a *app.App) { ready <- a },
	})
	go func() { l.ended <- app.Run(ctx, opt) }()
	select {
	case l.app = <-ready:
		w.ledger.served(l)
		last := w.ledger.newest()
		l.read.Store(last)
		go w.reader(ctx, l, last)
	case err := <-l.ended:
		w.fault("the controller does not start: %v", err)
		l.ended <- err
	case <-time.After(time.Minute):
		w.fault("the controller is not ready within a minute")
	}
}

// end stops the controller, or kills it: then nothing that it does from now on
// lasts or reaches anybody, as if it were not there.
func (w *world) end(kill bool) {
	l := w.life
	w.ledger.ends(l, kill)
	l.going.Store(true)
	if kill {
		l.killed.Store(true)
	}
	l.stop()
	began := time.Now()
	select {
	case err := <-l.ended:
		if took := time.Since(began); took > 5*time.Second {
			w.fault("a stop took %v", took)
		}
		if err != nil && !kill && !w.diskTroubled() {
			w.fault("a stop gave %v", err)
		}
	case <-time.After(time.Minute):
		w.fault("the controller does not stop")
	}
	// What was left behind ends in its own time.
	time.Sleep(2 * time.Minute)
}

var errGone = errors.New("the process is gone")

// commit is the disk: it fails and hangs as the world says.
func (w *world) commit(l *life) func(store.Batch, func(store.Batch) error) error {
	return func(b store.Batch, commit func(store.Batch) error) error {
		for {
			w.mu.Lock()
			now := time.Since(w.began)
			bad, stuck := now < w.diskBad, w.diskStuck
			w.mu.Unlock()
			switch {
			case l.dead():
				return errGone
			case bad:
				return errors.New("no space left on device")
			case now < stuck:
				time.Sleep(min(stuck-now, time.Second))
				continue
			}
			err := commit(b)
			if err == nil {
				w.ledger.committed(b)
			}
			return err
		}
	}
}

func (w *world) diskTroubled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Since(w.began)
	// A failed commit is tried again within half a minute.
	return now < w.diskBad+time.Minute && w.diskBad > 0 || now < w.diskStuck+time.Minute && w.diskStuck > 0
}

// targets puts the world's devices into targets.
func (w *world) targets(l *life) func(*publish.Target) {
	return func(t *publish.Target) {
		d := w.places[t.Site[1]-'a'].device
		t.Traits = providers.Traits{Marks: d.marks, TTL: true, Disable: true}
		t.Servers = []publish.Server{{
			Name: t.Servers[0].Name, Config: t.Servers[0].Config,
			Connect: func() (providers.Provider, error) { return &session{d, l}, nil },
		}}
	}
}

// command gives an operator's command, and says whether it was refused.
func (w *world) command(c sites.Command) (reply sites.Reply, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c.By, c.Reason = "operator", "a test"
	had := w.ledger.orders(c.Site, true) // before it: a write may come while it is answered
	reply, err := w.life.app.Command(ctx, c)
	if err != nil || reply.Refused {
		w.ledger.orders(c.Site, had)
	}
	if err != nil {
		w.fault("%s %s/%s: %v", c.Verb, c.Site, c.Node, err)
		return reply, false
	}
	w.say("%s %s/%s for %v: %s", c.Verb, c.Site, c.Node, c.For, reply.Text)
	return reply, !reply.Refused
}

// reload puts a configuration in place, or has a wrong one refused.
func (w *world) reload(v variant) {
	w.write(v)
	if v == bigger || v == usual {
		w.ledger.reloading()
	}
	_, err := w.life.app.Reload(context.Background())
	switch {
	case (err != nil) != (v == wrong):
		w.fault("reload of configuration %d: %v", v, err)
	case v == wrong:
		w.write(w.variant) // somebody mends it
		if _, err := w.life.app.Reload(context.Background()); err != nil {
			w.fault("reload of configuration %d after a wrong one: %v", w.variant, err)
		}
	default:
		w.variant = v
		w.ledger.heard(v != unheard)
	}
	w.say("configuration %d", v)
}
