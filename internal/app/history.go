package app

import (
	"context"
	"fmt"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/sites"
)

// past is what the probes of the last day have found. It belongs to the loop's
// goroutine.
type past struct {
	*history.History
	// since is when the definitions of the probes were put in place.
	since time.Duration
}

// learn enters the results of a turn. Those of runs that began before a reload
// are left out: they ask by the definitions before it.
func (p *past) learn(now sites.Instant, done []engine.Finished) {
	for i := range done {
		if done[i].Run.Start >= p.since {
			p.Add(&done[i].Result, now.Wall)
		}
	}
}

// track says what is probed from now on.
func (p *past) track(m *sites.Machine, cfg *sites.Config) {
	type place struct{ site, node string }
	names := make(map[place][]string)
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		for j := range s.Nodes {
			n := &s.Nodes[j]
			list := make([]string, len(n.Probes))
			for k := range n.Probes {
				list[k] = n.Probes[k].Name
			}
			names[place{s.Name, n.Name}] = list
		}
	}
	targets := m.Targets()
	list := make([]history.Tracked, 0, len(targets))
	for _, t := range targets {
		probes := names[place{t.Subject.Site, t.Subject.Node}]
		if t.Subject.Node == "" {
			probes = []string{t.Subject.Witness}
		}
		list = append(list, history.Tracked{Subject: t.Subject, Probes: probes})
	}
	p.Track(list)
}

// track has the history keep what is probed from now on. It is called by the
// loop, and before the loop begins.
func (a *App) track() { a.past.track(a.loop.engine.Machine(), &a.cfg.Load().Sites) }

// learn keeps the results of a turn for those who ask later.
func (a *App) learn(now sites.Instant, done []engine.Finished, subjects bool) {
	a.past.learn(now, done)
	for i := range done {
		a.metrics.Probed(&done[i].Result)
	}
	if subjects {
		a.track()
	}
}

// History gives what the probes of a node have found from a time to another, or
// those of a site's witnesses for an empty node ([api.Historian]).
func (a *App) History(ctx context.Context, site, node string, from, to time.Time) ([]history.Line, error) {
	var lines []history.Line
	var cfg *config.Config
	err := a.loop.do(ctx, func() {
		cfg = a.cfg.Load()
		if node == "" {
			lines = a.past.Witnesses(site, from, to)
		} else {
			lines = a.past.Node(site, node, from, to)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case node == "" && !hasSite(&cfg.Sites, site):
		return nil, &api.NotFoundError{Text: fmt.Sprintf("There is no site %s.", site)}
	case node != "" && findNode(&cfg.Sites, site, node) == nil:
		return nil, &api.NotFoundError{Text: fmt.Sprintf("There is no node %s/%s.", site, node)}
	}
	return lines, nil
}

func hasSite(cfg *sites.Config, name string) bool {
	for i := range cfg.Sites {
		if cfg.Sites[i].Name == name {
			return true
		}
	}
	return false
}
