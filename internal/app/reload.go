package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/sites"
)

// configState is what is told about the configuration.
type configState struct {
	mu     sync.Mutex
	path   string
	loaded time.Time
	err    string
}

// set says how the last reading has ended, and whether that is another fault
// than before. cfg is nil where the one in place stays.
func (c *configState) set(path string, cfg *config.Config, err error) (news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := ""
	if err != nil {
		text = err.Error()
	}
	news = text != c.err
	c.path, c.err = path, text
	if cfg != nil {
		c.loaded = time.Now()
	}
	return news
}

func (c *configState) get() (path string, loaded time.Time, err string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.path, c.loaded, c.err
}

// reloadWithin bounds the wait for the loop.
const reloadWithin = 30 * time.Second

// Reload reads the configuration again and puts it in place, wholly or not at
// all: on an error the old one goes on. One that was begun is carried out
// whether its caller waits or not.
func (a *App) Reload(ctx context.Context) (api.ReloadReport, error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadWithin)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	a.notify(a.opt.Notify.Reloading())
	defer func() { a.notify(a.opt.Notify.Ready("serving")) }()
	cfg, err := a.read()
	if err != nil {
		return api.ReloadReport{}, a.reject(ctx, err)
	}
	report := api.ReloadReport{}
	report.Warnings, report.Stay = fresh(warnings(a.cfg.Load()), warnings(cfg))
	if cfg.Hash == a.cfg.Load().Hash {
		report.Text = "The configuration is the one in place."
		return report, a.unchanged(ctx, cfg)
	}
	names, err := a.names.prepare(cfg)
	if err != nil {
		return api.ReloadReport{}, a.reject(ctx, err)
	}
	listener, err := a.prepareWeb(cfg)
	if err != nil {
		names.discard()
		return api.ReloadReport{}, a.reject(ctx, err)
	}
	list := a.targetsOf(cfg)
	targets, err := a.pushing.publisher.Prepare(list)
	if err != nil {
		names.discard()
		listener.discard()
		return api.ReloadReport{}, a.reject(ctx, err)
	}
	desired := retargeting{newPushed(cfg), targets}
	report.Warnings = append(report.Warnings, a.pushing.left(list)...)
	report.Changed = true
	report.Text = "The configuration is in place: " + counts(cfg) + "."
	room := a.room(cfg)
	if err := a.loop.do(ctx, func() { a.swap(cfg, names, desired, room, report.Text) }); err != nil {
		names.discard()
		listener.discard()
		return api.ReloadReport{}, fmt.Errorf("put the configuration in place: %w", err)
	}
	report.Warnings = append(report.Warnings, a.pushing.waiting()...)
	a.web.use(listener)
	a.status.set(a.opt.ConfigPath, cfg, nil)
	a.keepConfig()
	return report, nil
}

// fresh gives the warnings that were not there before, and how many were. Their
// places may have moved with the lines above them.
func fresh(before, now []string) (list []string, stay int) {
	known := map[string]int{}
	for _, w := range before {
		known[inFile.ReplaceAllString(w, "")]++
	}
	for _, w := range now {
		if key := inFile.ReplaceAllString(w, ""); known[key] > 0 {
			known[key]--
			stay++
		} else {
			list = append(list, w)
		}
	}
	return list, stay
}

// inFile is where in a file something stands: "x.yaml:7:3".
var inFile = regexp.MustCompile(`[^\s:]+:[0-9]+:[0-9]+`)

// readTries is how often a configuration is read whose files change meanwhile.
const readTries = 3

// read reads the configuration, from files that did not change while they were
// read.
func (a *App) read() (cfg *config.Config, err error) {
	for range readTries {
		before := look(a.opt.ConfigPath, a.cfg.Load())
		cfg, err = config.Load(a.opt.ConfigPath)
		if maps.Equal(look(a.opt.ConfigPath, a.cfg.Load()), before) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if !sameFolder(cfg.StatePath, a.statedir) {
		return nil, fmt.Errorf("state.path: found %s, and the running controller uses %s: it cannot change without a restart", cfg.StatePath, a.statedir)
	}
	return cfg, nil
}

// sameFolder says whether two paths name one folder.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// unchanged ends a fault that was told, when the files are again what is in
// place.
func (a *App) unchanged(ctx context.Context, cfg *config.Config) error {
	if !a.status.set(a.opt.ConfigPath, cfg, nil) {
		return nil
	}
	return a.loop.do(ctx, func() {
		a.loop.happened(sites.Event{
			Kind: sites.ConfigReloaded, Resolves: a.keeper.rejected, Text: "The configuration on the disk is the one in place again.",
		})
	})
}

// swap puts a configuration in place, in the loop's goroutine. Nothing in it can
// fail.
func (a *App) swap(cfg *config.Config, names *renaming, targets retargeting, room int, text string) {
	a.cfg.Store(cfg)
	a.beats.Use(cfg.Heartbeats())
	a.runner.SetLimit(room)
	a.keeper.use(&cfg.Sites)
	now := a.instant()
	t := a.loop.engine.Reload(now, &cfg.Sites)
	names.commit(a.loop.engine.Machine())
	a.pushing.use(targets, a.loop.engine.Machine())
	a.loop.follow(now, t)
	a.past.since = now.Boot
	a.alerts.Reload(a.alertsOf(cfg))
	a.track()
	a.loop.happened(sites.Event{Kind: sites.ConfigReloaded, Resolves: a.keeper.rejected, Text: text})
	a.loop.turn(engine.Input{Events: a.noteKeys(cfg)})
	a.judgeCertificate()
}

// reject tells that a configuration was refused, once for the same fault, and
// gives the error back. A fault that takes the place of another resolves that.
func (a *App) reject(ctx context.Context, err error) error {
	if !a.status.set(a.opt.ConfigPath, nil, err) {
		return err
	}
	a.log.Error("the configuration was rejected; the old one goes on", "error", err)
	failed := a.loop.do(ctx, func() {
		a.loop.happened(sites.Event{
			Kind: sites.ConfigRejected, Resolves: a.keeper.rejected, Text: "The configuration was rejected, the old one goes on: " + err.Error(),
		})
	})
	return errors.Join(err, failed)
}

func counts(cfg *config.Config) string {
	nodes := 0
	for i := range cfg.Sites.Sites {
		nodes += len(cfg.Sites.Sites[i].Nodes)
	}
	return plural.Of(len(cfg.Sites.Sites), "site") + ", " + plural.Of(nodes, "node") + ", " + plural.Of(len(cfg.Sites.Services), "service")
}
