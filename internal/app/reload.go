package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// watchEvery is how often the configuration's files are looked at. It is done
// by their sizes and times: what tells of changes by itself misses files that
// are mounted or replaced through links.
const watchEvery = 2 * time.Second

// configState is what is told about the configuration.
type configState struct {
	mu     sync.Mutex
	path   string
	loaded time.Time
	err    string
}

func (c *configState) set(path string, cfg *config.Config, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.path, c.err = path, ""
	if cfg != nil {
		c.loaded = time.Now()
	}
	if err != nil {
		c.err = err.Error()
	}
}

func (c *configState) get() (path string, loaded time.Time, err string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.path, c.loaded, c.err
}

// Reload reads the configuration again and puts it in place, wholly or not at
// all: on an error the old one goes on.
func (a *App) Reload(ctx context.Context) (api.ReloadReport, error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	a.notify(a.opt.Notify.Reloading())
	defer func() { a.notify(a.opt.Notify.Ready("serving")) }()
	cfg, err := config.Load(a.opt.ConfigPath)
	if err == nil {
		err = a.fits(cfg)
	}
	if err != nil {
		return api.ReloadReport{}, a.reject(ctx, err)
	}
	report := api.ReloadReport{Warnings: warnings(cfg)}
	old := a.cfg.Load()
	if cfg.Hash == old.Hash {
		a.status.set(a.opt.ConfigPath, cfg, nil)
		report.Text = "The configuration is the one in place."
		return report, nil
	}
	report.Changed = true
	report.Text = "The configuration is in place: " + counts(cfg) + "."
	var refused error
	err = a.loop.do(ctx, func() { refused = a.swap(cfg, report.Text) })
	if err = errors.Join(err, refused); err != nil {
		return api.ReloadReport{}, a.reject(ctx, err)
	}
	a.status.set(a.opt.ConfigPath, cfg, nil)
	a.keepConfig(cfg)
	return report, nil
}

// fits refuses what cannot change while the controller runs.
func (a *App) fits(cfg *config.Config) error {
	if old := a.cfg.Load(); cfg.StatePath != old.StatePath {
		return fmt.Errorf("state.path: found %s, and the running controller uses %s: it cannot change without a restart", cfg.StatePath, old.StatePath)
	}
	return nil
}

// swap puts a configuration in place, in the loop's goroutine. What can fail
// comes first.
func (a *App) swap(cfg *config.Config, text string) error {
	if err := a.names.reload(cfg); err != nil {
		return err
	}
	a.cfg.Store(cfg)
	a.runner.SetLimit(a.limit(cfg))
	a.keeper.use(&cfg.Sites)
	now := a.instant()
	a.loop.follow(now, a.loop.engine.Reload(now, &cfg.Sites))
	a.loop.turn(engine.Input{Events: []sites.Event{{Kind: sites.ConfigReloaded, Resolves: a.keeper.open(), Text: text}}})
	return nil
}

// reject tells that a configuration was refused, and gives the error back.
func (a *App) reject(ctx context.Context, err error) error {
	a.status.set(a.opt.ConfigPath, nil, err)
	a.log.Error("the configuration was rejected; the old one goes on", "error", err)
	event := sites.Event{Kind: sites.ConfigRejected, Text: "The configuration was rejected, the old one goes on: " + err.Error()}
	_ = a.loop.do(ctx, func() { a.loop.turn(engine.Input{Events: []sites.Event{event}}) })
	return err
}

// keepConfig stores the configuration as the last good one.
func (a *App) keepConfig(cfg *config.Config) {
	err := a.store.PutConfig(store.Config{When: time.Now(), Files: []store.ConfigFile{{Name: "bundle", Data: cfg.Raw}}})
	if err != nil {
		a.log.Warn("keep the configuration for a start with a bad one", "error", err)
	}
}

func counts(cfg *config.Config) string {
	nodes := 0
	for i := range cfg.Sites.Sites {
		nodes += len(cfg.Sites.Sites[i].Nodes)
	}
	return fmt.Sprintf("%d sites, %d nodes, %d services", len(cfg.Sites.Sites), nodes, len(cfg.Sites.Services))
}

func warnings(cfg *config.Config) []string {
	list := []string{}
	for _, w := range cfg.Warnings {
		list = append(list, w.String())
	}
	return list
}

// watched is how the configuration's files looked.
type watched string

// look gives the sizes and times of the files of a configuration.
func look(path string, cfg *config.Config) watched {
	var b strings.Builder
	files := slices.Clone(cfg.Files)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		// Files may come and go.
		more, _ := filepath.Glob(filepath.Join(path, "*.yaml"))
		files = append(files, more...)
	}
	slices.Sort(files)
	for _, name := range slices.Compact(files) {
		info, err := os.Stat(name)
		if err != nil {
			fmt.Fprintf(&b, "%s: %v\n", name, err)
			continue
		}
		fmt.Fprintf(&b, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	return watched(b.String())
}

// watch reloads when the files have changed and then stayed the same for a
// moment, and when it is asked to by a signal.
func (a *App) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	path := a.opt.ConfigPath
	taken := look(path, a.cfg.Load())
	before := taken
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.opt.Hangup:
			taken = look(path, a.cfg.Load())
		case <-tick.C:
			now := look(path, a.cfg.Load())
			settled := now == before
			before = now
			if !settled || now == taken {
				continue
			}
			taken = now
		}
		if _, err := a.Reload(ctx); err == nil {
			taken = look(path, a.cfg.Load())
		}
		before = taken
	}
}
