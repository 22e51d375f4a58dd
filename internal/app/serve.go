package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/version"
	"github.com/dnsteer/dnsteer/sites"
)

// How long the parts may take to stop. Together, with the two seconds that the
// DNS server may take, they stay within five.
const (
	requestsWithin = 800 * time.Millisecond
	probesWithin   = 500 * time.Millisecond
	storeWithin    = 1200 * time.Millisecond
	besideWithin   = 300 * time.Millisecond
)

// serve starts the parts in their order and stops them in reverse: names are
// answered first and last.
func (a *App) serve(ctx context.Context, found start) error {
	life, die := context.WithCancel(context.Background())
	a.life = life
	deciding, decide := context.WithCancel(context.Background())
	stop := func() error { return a.stop(die, decide) }
	// The stored answers, or for a first start those of the configuration, are
	// in place before the first query.
	events := append(found.events(), a.noteKeys(a.cfg.Load())...)
	runs := a.loop.first(engine.Input{Events: events})
	a.pushing.desired.all(a.loop.engine.Machine())
	a.loop.publish(a.loop.engine.Machine(), everyPool(a.names.sites))
	if err := a.listenNames(); err != nil {
		return fmt.Errorf("listen: %w", errors.Join(err, stop()))
	}
	for _, run := range runs {
		a.loop.start(run)
	}
	if err := a.openRequests(); err != nil {
		return errors.Join(err, stop())
	}
	a.track()
	a.loop.begin(deciding)
	cfg := a.cfg.Load()
	for _, part := range []func(context.Context){a.watch, a.housekeeping, a.guardState, a.keepConfigs, a.watchdog, a.see, a.certificates} {
		a.beside.Go(func() { part(life) })
	}
	a.beside.Go(func() { a.settle(found) })
	a.alerting.Go(func() { a.alerts.Run(life) })
	a.log.Info("dnsteer serves", "version", version.Version, "instance", cfg.Instance,
		"sites", len(cfg.Sites.Sites), "dns", a.names.addresses(), "http", a.web.Addrs(), "socket", a.socket())
	a.notify(a.opt.Notify.Ready("serving"))
	if a.opt.Ready != nil {
		a.opt.Ready(a)
	}
	<-ctx.Done()
	a.log.Info("dnsteer stops")
	a.notify(a.opt.Notify.Stopping("stopping"))
	return stop()
}

// listenNames and openRequests open the sockets, of which a stand has none.
func (a *App) listenNames() error {
	if a.opt.stand != nil {
		return nil
	}
	return a.names.listen()
}

func (a *App) openRequests() error {
	if a.opt.stand != nil {
		return nil
	}
	if err := a.openControl(); err != nil {
		return err
	}
	a.openWeb()
	return nil
}

// stop ends the requests, the loop, the probes, the store and, last, the
// answers. Each has its time: what hangs is left behind.
func (a *App) stop(die, decide func()) error {
	die()
	a.endOutside()
	decide()
	err := within(probesWithin, func(ctx context.Context) error {
		if err := a.loop.end(ctx); err != nil {
			return err
		}
		a.keeper.settle()
		// Probes keep nothing: those that do not end may end with the process.
		if late := finish(ctx, "the probes", a.runner.Close); late != nil {
			a.log.Warn("probes are left behind", "error", late)
		}
		return nil
	})
	err = errors.Join(err, within(storeWithin, func(ctx context.Context) error {
		if err := a.keeper.writer.Close(ctx); err != nil {
			return fmt.Errorf("store the last changes: %w", err)
		}
		return nil
	}))
	// What is stored is stored: the rest may end with the process.
	left := within(besideWithin, func(ctx context.Context) error {
		return errors.Join(finish(ctx, "the work beside the loop", a.beside.Wait), a.closeStore(ctx))
	})
	if left != nil {
		a.log.Warn("something is left behind", "error", left)
	}
	a.names.close()
	return err
}

// endOutside ends, beside each other, what speaks to others: the requests, some of which
// wait for targets, the targets, and the alerts. What these have sent is stored with the
// last changes, or it would be sent again.
func (a *App) endOutside() {
	var all sync.WaitGroup
	end := func(left string, f func(context.Context) error) {
		all.Go(func() {
			if late := within(requestsWithin, f); late != nil {
				a.log.Warn(left, "error", late) //nolint:sloglint // one of three constants
			}
		})
	}
	end("requests are cut off", a.closeRequests) // who is cut off asks again
	end("a target is left behind", a.pushing.publisher.Close)
	end("alerts are left behind", func(ctx context.Context) error { return finish(ctx, "the alerts", a.alerting.Wait) })
	all.Wait()
}

// within gives a part of the stop its time.
func within(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}

// finish waits for f, for as long as ctx lasts.
func finish(ctx context.Context, what string, f func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s did not end in time", what)
	}
}

// closeStore closes the store, unless a commit hangs.
func (a *App) closeStore(ctx context.Context) error {
	var failed error
	err := finish(ctx, "the store", func() { failed = a.store.Close() })
	if err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("close the store: %w", failed)
	}
	return nil
}

// events are what a start has to tell.
func (s *start) events() (events []sites.Event) {
	if s.report.Alarming() {
		events = append(events, sites.Event{Kind: sites.StoreFailed, Text: "At the start: " + s.report.String() + "."})
	}
	return events
}

// pulse is the sign of life of the loop. A service manager that does not read
// delays no decision.
type pulse struct {
	every  time.Duration
	watch  bool
	last   time.Time
	beaten chan struct{} // holds one
}

// newPulse makes the pulse for a watchdog that waits so long; 0 for none.
func newPulse(watchdog time.Duration) *pulse {
	p := &pulse{every: heartbeat, watch: watchdog > 0, beaten: make(chan struct{}, 1)}
	if p.watch {
		p.every = min(p.every, watchdog/4)
	}
	return p
}

// beat says that the loop turns. Only the loop calls it.
func (p *pulse) beat() {
	if !p.watch {
		return
	}
	if now := time.Now(); now.Sub(p.last) >= p.every/2 {
		p.last = now
		select {
		case p.beaten <- struct{}{}:
		default:
		}
	}
}

// watchdog tells the service manager of each beat.
func (a *App) watchdog(ctx context.Context) {
	var last string
	for {
		select {
		case <-a.pulse.beaten:
		case <-ctx.Done():
			return
		}
		// The same fault is told once.
		switch err := a.opt.Notify.Alive(); {
		case err == nil:
			last = ""
		case err.Error() != last:
			last = err.Error()
			a.notify(err)
		}
	}
}

// housekeeping keeps the store's copy fresh and its events bounded.
func (a *App) housekeeping(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := a.store.Snapshot(); err != nil {
			a.log.Warn("copy the store", "error", err)
		}
		// A clock that is wrong would empty the history.
		if now := a.instant(); !now.Suspect {
			if err := a.store.Prune(ctx, now.Wall); err != nil && ctx.Err() == nil {
				a.log.Warn("prune events", "error", err)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
