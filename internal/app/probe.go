package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// command is an operator's command as a turn of the loop.
func (l *loop) command(c *sites.Command) *sites.Reply { return l.turn(engine.Input{Command: c}) }

// Probe runs all probes of a node once, now ([api.Operator]). What it finds is
// for the eye: the rules are fed by the schedule alone.
func (a *App) Probe(ctx context.Context, site, node string) (api.ProbeReport, error) {
	report := api.ProbeReport{Site: site, Node: node, Time: time.Now()}
	var targets []sites.Target
	var n *sites.Node
	var cfg *config.Config
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	err := a.loop.do(ctx, func() {
		cfg = a.cfg.Load()
		for _, t := range a.loop.engine.Machine().Targets() {
			if t.Subject.Site == site && t.Subject.Node == node {
				targets = append(targets, t)
			}
		}
		n = findNode(&cfg.Sites, site, node)
	})
	switch {
	case err != nil:
		return report, err
	case n == nil:
		return report, &api.NotFoundError{Text: fmt.Sprintf("There is no node %s/%s.", site, node)}
	case len(targets) == 0:
		return report, &api.NotFoundError{Text: fmt.Sprintf("%s/%s is not probed: it is disabled, or its site has no witness in its address family.", site, node)}
	}
	for _, t := range targets {
		line := api.ProbedLine{Address: t.Subject.Addr.String()}
		for i, o := range a.probeOnce(ctx, cfg.Probers(t.Subject), t) {
			if i < len(n.Probes) {
				line.Checks = append(line.Checks, api.ProbedCheck{Checked: sites.Checked{
					Probe: n.Probes[i].Name, Steer: n.Probes[i].Steer, Outcome: o.check.Outcome.String(),
					Cause: o.check.Cause, Text: o.check.Text, Duration: o.check.Duration,
				}, Detail: o.detail})
			}
		}
		report.Lines = append(report.Lines, line)
	}
	return report, nil
}

// observed is what one prober has found, with what it saw on its way.
type observed struct {
	check  sites.Check
	detail probes.Detail
}

// probeOnce asks a target by all its probers at once, each with an observer of
// its own.
func (a *App) probeOnce(ctx context.Context, probers []probes.Prober, t sites.Target) []observed {
	ctx, cancel := context.WithTimeout(probes.Listen(ctx, a.beats), t.Timeout)
	defer cancel()
	found := make([]observed, len(probers))
	var all sync.WaitGroup
	for i, p := range probers {
		all.Go(func() {
			watched, observer := probes.Observe(ctx)
			found[i].check = probes.Ask(watched, p, t.Subject, a.log)
			found[i].detail = observer.Detail()
		})
	}
	all.Wait()
	return found
}

func findNode(cfg *sites.Config, site, node string) *sites.Node {
	for i := range cfg.Sites {
		if cfg.Sites[i].Name != site {
			continue
		}
		for j := range cfg.Sites[i].Nodes {
			if n := &cfg.Sites[i].Nodes[j]; n.Name == node {
				return n
			}
		}
	}
	return nil
}
