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
	"sync"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/internal/metrics"
	"github.com/dnsteer/dnsteer/internal/publish"
	"github.com/dnsteer/dnsteer/internal/sdnotify"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/internal/version"
	"github.com/dnsteer/dnsteer/internal/web"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// Options of a run.
type Options struct {
	// ConfigPath is a file or a folder.
	ConfigPath string
	// Strict refuses to start with a configuration that is not valid; otherwise
	// the last good one is used, with a loud word about it.
	Strict bool
	// Log must not block: the decision loop writes to it.
	Log *slog.Logger
	// Hangup asks for a reload.
	Hangup <-chan os.Signal
	// Notify tells the service manager; nil tells nobody.
	Notify *sdnotify.Notifier
	// Ready, if not nil, is called once the controller serves.
	Ready func(*App)
	// Levers, if not nil, are shown on a page of the dashboard of their own.
	Levers web.Levers

	// disk, if not nil, stands between the writer and the store in tests of
	// disks that hang.
	disk func(store.Batch, func(store.Batch) error) error
	// provider, if not nil, puts stand-ins into a target in tests.
	provider func(*publish.Target)
	// watchEvery is the pace of looking at files in tests.
	watchEvery time.Duration
	// stand, if not nil, is the world around a simulated controller.
	stand *Stand
}

// App is a running controller.
type App struct {
	opt     Options
	log     *slog.Logger
	started time.Time
	judge   *clock.Judge
	// life ends when the stop begins: what may take long is then given up.
	life context.Context

	store    *store.Store
	statedir string
	keeper   *keeper
	loop     *loop
	runner   *probes.Runner
	beats    *probes.Heartbeats
	names    *names
	hub      *hub
	past     past
	seen     *seen
	alerts   *alert.Engine
	api      *api.Handler
	control  control
	web      webServer
	metrics  *metrics.Set
	pushes   *metrics.Beside // the metrics of targets and alerts
	pushing  *pushing
	pulse    *pulse
	// beside has the goroutines that end with life.
	beside sync.WaitGroup
	// alerting has that of the alerts, which is waited for before the last changes are
	// stored.
	alerting sync.WaitGroup

	cfg       atomic.Pointer[config.Config]
	reloading sync.Mutex // one reload at a time
	status    configState
	// keep asks for the configuration to be stored as the last good one; it holds one.
	keep chan struct{}
}

// Run runs the controller until ctx ends, and stops it within five seconds.
func Run(ctx context.Context, opt Options) error {
	a := &App{
		opt: opt, log: opt.Log, started: time.Now(), hub: newHub(), keep: make(chan struct{}, 1),
		pulse: newPulse(opt.Notify.WatchdogInterval()), past: past{History: history.New()}, seen: newSeen(),
	}
	cfg, loadErr := config.Load(opt.ConfigPath)
	if loadErr != nil && opt.Strict {
		return loadErr
	}
	cfg, report, err := a.open(ctx, cfg, loadErr)
	if err != nil {
		return err
	}
	a.status.set(opt.ConfigPath, cfg, loadErr)
	state, err := a.build(cfg, report)
	if err != nil {
		return errors.Join(err, a.store.Close())
	}
	return a.serve(ctx, start{report, loadErr, state.LastEvent})
}

// start is what a start has found.
type start struct {
	report    store.Report
	loadErr   error
	lastEvent uint64
}

// build makes the parts with the stored state. Nothing runs yet but the store's
// writer, once nothing can fail any more.
func (a *App) build(cfg *config.Config, report store.Report) (store.State, error) {
	state, err := a.store.Load()
	if err != nil {
		a.log.Error("a part of the stored state cannot be read and is left out", "error", err)
	}
	saved, faults := restore(state)
	for _, fault := range faults {
		a.log.Error("a part of the stored state cannot be read and is left out", "error", fault)
	}
	a.judge = clock.NewJudge(version.Built(), state.Wall)
	a.cfg.Store(cfg)
	if a.metrics, err = metrics.New(measured{a}, a.log); err != nil {
		return state, fmt.Errorf("prepare the metrics: %w", err)
	}
	a.pushes = metrics.NewBeside(
		func() []publish.View { return a.pushing.publisher.Views() }, func() *alert.Status { return a.alerts.Status() },
	)
	if err = a.metrics.Register(a.pushes); err != nil {
		return state, fmt.Errorf("prepare the metrics: %w", err)
	}
	commit := a.store.Commit
	if a.opt.disk != nil {
		commit = func(b store.Batch) error { return a.opt.disk(b, a.store.Commit) }
	}
	a.markLost(cfg, state.Values[kindKeys], commit)
	if a.names, err = newNames(cfg, &state, a.judge, a.log); err != nil {
		return state, err
	}
	a.loop = (&loop{
		now: a.instant, start: a.probe, publish: a.publish, tell: a.tell,
		learn: a.learn, decided: a.metrics.Decided, alive: a.pulse.beat, pace: a.pulse.every,
	}).ready()
	a.keeper = &keeper{
		commit: commit, stored: a.hub.stored, serials: a.names.serials, reserve: a.names.reserve, believed: a.judge.Believed, loop: a.loop, replaced: a.keepConfig, log: a.log,
		failing: report.Alarming(),
		values:  newValues(state.Values),
	}
	for name := range state.Sites {
		a.keeper.names = append(a.keeper.names, name)
	}
	a.keeper.use(&cfg.Sites)
	a.loop.record = a.keeper.record
	a.opt.stand.seal(a)
	a.loop.engine = engine.New(a.instant(), &cfg.Sites, saved, seed(cfg.Instance))
	boot := a.opt.stand.boot()
	a.beats = probes.NewHeartbeats(boot)
	a.beats.Use(cfg.Heartbeats())
	a.loop.blind = a.beats.Restart
	a.runner = probes.NewRunner(probes.RunnerConfig{
		Now: boot, Deliver: a.loop.deliver, Limit: a.room(cfg), Log: a.log, Heartbeats: a.beats,
	})
	if err := a.prepareAPI(state.Values); err != nil {
		return state, err
	}
	a.keeper.start()
	if a.pushing, err = a.newPushing(cfg, saved.Global.LastEvent); err != nil {
		return state, errors.Join(err, within(storeWithin, a.keeper.writer.Close))
	}
	a.alerts = a.newAlerts(a.alertsOf(cfg), saved.Global.LastEvent)
	return state, nil
}

// seed spreads the probes of controllers with different names differently.
func seed(instance string) (n uint64) {
	for _, c := range []byte(instance) {
		n = n*31 + uint64(c)
	}
	return n
}

func (a *App) instant() sites.Instant {
	if a.opt.stand != nil && a.opt.stand.Clock != nil {
		return a.opt.stand.Clock()
	}
	now, _ := a.judge.Now()
	return now
}

// probe starts a run.
func (a *App) probe(run probes.Run) {
	probers := a.pushing.witness(run.Subject, a.cfg.Load().Probers(run.Subject))
	a.runner.Start(run, a.opt.stand.probers(run.Subject, probers))
}

// tell hands events on to readers and to the log.
func (a *App) tell(events []sites.Event) {
	a.hub.send(events)
	a.metrics.Happened(events)
	a.pushing.heard(events)
	for i := range events {
		e := &events[i]
		level := slog.LevelInfo
		switch e.Severity {
		case sites.Warning:
			level = slog.LevelWarn
		case sites.Critical:
			level = slog.LevelError
		case sites.Info:
		}
		a.log.Log(context.Background(), level, e.Text, "event", string(e.Kind), "id", e.ID, "subject", e.Subject()) //nolint:sloglint // the sentence is the message
	}
}

func (a *App) notify(err error) {
	if err != nil {
		a.log.Warn("tell the service manager", "error", err)
	}
}
