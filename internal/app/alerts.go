package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// alertsKind is the kind of what alerts keep in the store.
const alertsKind store.Kind = "alerts"

// newAlerts makes the part that tells people of events. It follows the events as
// any reader does, so nothing of it can delay a decision.
func (a *App) newAlerts(cfg *alert.Config, lastEvent uint64) *alert.Engine {
	return alert.New(cfg, alert.World{
		Follow: a.Follow,
		Explain: func(ctx context.Context, subject string) []string {
			var text []string
			err := a.loop.do(ctx, func() {
				m := a.loop.engine.Machine()
				if _, ok := m.NodeWord(subject); ok {
					text = []string{m.ExplainNode(subject)}
				} else if id, ok := m.FindPool(subject); ok {
					text = []string{m.ExplainSite(a.cfg.Load().Sites.Sites[id.Site].Name), m.ExplainPool(id)}
				}
			})
			if err != nil {
				return nil
			}
			return text
		},
		Raise: func(e sites.Event) { a.loop.post(func() { a.loop.happened(e) }) },
		Keep:  func(values map[string][]byte) { a.keeper.values.set(alertsKind, values) },
		KeepNow: func(ctx context.Context, values map[string][]byte) error {
			return a.keeper.values.setNow(ctx, alertsKind, values)
		},
		Exists: func(site, node string) bool {
			cfg := &a.cfg.Load().Sites
			if node != "" {
				return findNode(cfg, site, node) != nil
			}
			for i := range cfg.Sites {
				if cfg.Sites[i].Name == site {
					return true
				}
			}
			return false
		},
		Wake:    a.wake,
		Healthy: a.Healthy,
		Log:     a.log,
	}, a.keeper.values.get(alertsKind), lastEvent)
}

// Alerts tells how the alerts fare ([api.Alerter]).
func (a *App) Alerts(context.Context) (*alert.Status, error) { return a.alerts.Status(), nil }

// TestAlerts sends a test message ([api.Alerter]).
func (a *App) TestAlerts(ctx context.Context, channel string) ([]alert.TestReport, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	list, err := a.alerts.Test(ctx, channel)
	if e, ok := errors.AsType[*alert.UnknownChannelError](err); ok {
		return nil, &api.NotFoundError{Text: e.Error()}
	}
	return list, err
}

// summary says in short how the alerts fare; nil where there are none.
func summary(s *alert.Status) *api.AlertSummary {
	if s == nil {
		return nil
	}
	sum := &api.AlertSummary{}
	for i := range s.Channels {
		c := &s.Channels[i]
		sum.Queued += c.Queued
		if !c.Failing.IsZero() {
			sum.Failing = append(sum.Failing, fmt.Sprintf("%s fails since %s (%s); %s to be sent.", c.Name, c.Failing.UTC().Format("2006-01-02 15:04:05 UTC"), c.Error, plural.Of(c.Queued, "message")))
		}
	}
	if d := s.DeadMan; d != nil && d.Error != "" {
		sum.Failing = append(sum.Failing, "the dead man's switch: "+d.Error)
	}
	return sum
}
