// Package app puts the controller together: start, stop, reload, and the loop
// that feeds the rules and carries out what they decide. It owns every
// goroutine of the controller.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/sdnotify"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/internal/version"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// stopWithin bounds how long a stop takes.
const stopWithin = 4 * time.Second

// Options of a run.
type Options struct {
	// ConfigPath is a file or a folder.
	ConfigPath string
	// Strict refuses to start with a configuration that is not valid; otherwise
	// the last good one is used, with a loud word about it.
	Strict bool
	Log    *slog.Logger
	// Hangup asks for a reload.
	Hangup <-chan os.Signal
	// Notify tells the service manager; nil tells nobody.
	Notify *sdnotify.Notifier
	// Ready, if not nil, is called once the controller serves.
	Ready func(*App)
}

// App is a running controller.
type App struct {
	opt     Options
	log     *slog.Logger
	started time.Time
	judge   clock.Judge

	store  *store.Store
	keeper *keeper
	loop   *loop
	runner *probes.Runner
	names  *names
	hub    *hub

	cfg       atomic.Pointer[config.Config]
	reloading sync.Mutex // one reload at a time
	// seen is about the files of the configuration; guarded by reloading.
	watched watched
	status  configState
}

// Run runs the controller until ctx ends.
func Run(ctx context.Context, opt Options) error {
	a := &App{opt: opt, log: opt.Log, started: time.Now(), hub: newHub()}
	cfg, loadErr := config.Load(opt.ConfigPath)
	if loadErr != nil && opt.Strict {
		return loadErr
	}
	dir := defaultState
	if cfg != nil {
		dir = cfg.StatePath
	}
	st, report, err := store.Open(dir, store.Options{})
	if err != nil {
		return errors.Join(loadErr, err)
	}
	a.store = st
	defer func() {
		if err := st.Close(); err != nil {
			a.log.Error("close the store", "error", err)
		}
	}()
	if cfg == nil {
		if cfg, err = a.lastGood(); err != nil {
			return errors.Join(loadErr, err)
		}
	}
	a.status.set(opt.ConfigPath, cfg, loadErr)
	if err := a.build(cfg); err != nil {
		return err
	}
	return a.serve(ctx, report, loadErr)
}

// defaultState is where the state lies when the configuration cannot be read.
const defaultState = "/var/lib/dnsteer"

// lastGood gives the configuration that was last taken into use.
func (a *App) lastGood() (*config.Config, error) {
	kept, ok, err := a.store.Config()
	if err != nil {
		return nil, err
	}
	if !ok || len(kept.Files) != 1 {
		return nil, errors.New("there is no configuration of an earlier run to use in its place")
	}
	return config.Restore(kept.Files[0].Data)
}

// build makes the parts with the stored state. Nothing runs yet.
func (a *App) build(cfg *config.Config) error {
	state, err := a.store.Load()
	if err != nil {
		a.log.Error("a part of the stored state cannot be read and is left out", "error", err)
	}
	saved, faults := restore(state)
	for _, fault := range faults {
		a.log.Error("a part of the stored state cannot be read and is left out", "error", fault)
	}
	a.judge = clock.Judge{BuildDate: version.Built(), LastEvent: state.Wall}
	a.cfg.Store(cfg)
	a.names, err = newNames(cfg, state.Serials, a.log)
	if err != nil {
		return err
	}
	a.keeper = &keeper{serials: a.names.serials, log: a.log}
	for name := range state.Sites {
		a.keeper.names = append(a.keeper.names, name)
	}
	a.keeper.use(&cfg.Sites)
	a.keeper.writer = store.NewWriter(a.store.Commit, a.stored)
	a.loop = &loop{
		engine: engine.New(a.instant(), &cfg.Sites, saved, seed(cfg.Instance)),
		now:    a.instant, start: a.probe, publish: a.names.publish, record: a.keeper.record, tell: a.tell, alive: a.alive,
		results: make(chan engine.Finished, 4*maxResults), calls: make(chan func()), stopped: make(chan struct{}),
	}
	a.runner = probes.NewRunner(probes.RunnerConfig{
		Now: clock.Boot, Deliver: a.loop.deliver, Limit: a.limit(cfg), Log: a.log,
	})
	return nil
}

// seed spreads the probes of controllers with different names differently.
func seed(instance string) (n uint64) {
	for _, c := range []byte(instance) {
		n = n*31 + uint64(c)
	}
	return n
}

func (a *App) instant() sites.Instant {
	now, _ := a.judge.Now()
	return now
}

// probe starts a run.
func (a *App) probe(run probes.Run) { a.runner.Start(run, a.cfg.Load().Probers(run.Subject)) }

// limit is how many probes may be under way.
func (a *App) limit(cfg *config.Config) int {
	var tasks []probes.Task
	add := func(n int, interval, timeout time.Duration) {
		for range n {
			tasks = append(tasks, probes.Task{Interval: interval, Timeout: timeout})
		}
	}
	for i := range cfg.Sites.Sites {
		s := &cfg.Sites.Sites[i]
		add(len(s.Witnesses), s.Interval, s.Timeout)
		for j := range s.Nodes {
			n := &s.Nodes[j]
			add(2*len(n.Probes), n.Interval, n.Timeout)
		}
	}
	return probes.Limit(tasks)
}

// stored is told how the store fares.
func (a *App) stored(st store.Status) {
	e := a.keeper.status(st)
	if st.Err != nil {
		a.log.Error("the state cannot be stored", "error", st.Err, "lost_events", st.Lost)
	}
	a.loop.raise(e)
	var replaced *store.ReplacedError
	if errors.As(st.Err, &replaced) {
		go func() {
			_ = a.loop.do(context.Background(), func() { a.keeper.everything(a.loop.engine.Machine()) })
		}()
	}
}

// tell hands events on to readers and to the log.
func (a *App) tell(events []sites.Event) {
	a.hub.send(events)
	for i := range events {
		e := &events[i]
		level := slog.LevelInfo
		if e.Severity != sites.Info {
			level = slog.LevelWarn
		}
		a.log.Log(context.Background(), level, e.Text, "event", string(e.Kind), "id", e.ID, "subject", e.Subject())
	}
}

// serve starts the parts in their order and stops them in reverse: names are
// answered first and last.
func (a *App) serve(ctx context.Context, report store.Report, loadErr error) error {
	run, stop := context.WithCancel(context.Background())
	defer stop()
	// The stored answers, or for a first start those of the configuration, are
	// in place before the first query.
	a.loop.turn(engine.Input{Events: startEvents(report, loadErr)})
	if err := a.names.listen(); err != nil {
		return fmt.Errorf("listen: %w", errors.Join(err, a.halt(stop)))
	}
	socket := filepath.Join(a.cfg.Load().StatePath, api.SocketName)
	server, err := api.Listen(socket, api.NewHandler(api.Deps{Reader: a, Operator: a, Health: a, Log: a.log}))
	if err != nil {
		return errors.Join(err, a.halt(stop))
	}
	go a.loop.run(run)
	var beside sync.WaitGroup
	beside.Go(func() { a.watch(run) })
	beside.Go(func() { a.housekeeping(run) })
	a.keepConfig(a.cfg.Load())
	a.log.Info("dnsteer serves", "version", version.Version, "instance", a.cfg.Load().Instance,
		"sites", len(a.cfg.Load().Sites.Sites), "dns", a.names.addresses(), "socket", socket)
	a.notify(a.opt.Notify.Ready("serving"))
	if a.opt.Ready != nil {
		a.opt.Ready(a)
	}
	<-ctx.Done()
	a.log.Info("dnsteer stops")
	a.notify(a.opt.Notify.Stopping("stopping"))
	bounded, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	err = errors.Join(server.Shutdown(bounded), a.halt(stop))
	beside.Wait()
	return err
}

// halt stops the loop, the probes, the store and, last, the answers.
func (a *App) halt(stop func()) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	stop()
	if a.loop.turned.Load() > 1 {
		<-a.loop.stopped
	} else {
		close(a.loop.stopped)
	}
	a.runner.Close()
	var err error
	if e := a.keeper.writer.Close(ctx); e != nil {
		err = fmt.Errorf("store the last changes: %w", e)
	}
	a.names.close()
	return err
}

// startEvents are what a start has to tell.
func startEvents(report store.Report, loadErr error) (events []sites.Event) {
	if report.Alarming() {
		events = append(events, sites.Event{Kind: sites.StoreFailed, Text: "At the start: " + report.String() + "."})
	}
	if loadErr != nil {
		events = append(events, sites.Event{
			Kind: sites.ConfigRejected,
			Text: "The configuration is not valid, so the last good one is used: " + loadErr.Error(),
		})
	}
	return events
}

// alive tells the service manager that the loop turns. It is called at least
// once a second.
func (a *App) alive() {
	if a.opt.Notify.WatchdogInterval() > 0 {
		a.notify(a.opt.Notify.Alive())
	}
}

func (a *App) notify(err error) {
	if err != nil {
		a.log.Warn("tell the service manager", "error", err)
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
		if err := a.store.Prune(ctx, time.Now()); err != nil && ctx.Err() == nil {
			a.log.Warn("prune events", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
