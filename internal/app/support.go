package app

import (
	"bytes"
	"context"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/support"
	"github.com/dnsteer/dnsteer/sites"
)

// Support gives the parts of a support bundle ([api.Supporter]).
func (a *App) Support(ctx context.Context) []support.Part {
	parts := []support.Part{
		support.Program(time.Now(), a.started),
		support.JSON("status.json", a.api.Whole().Status),
		support.JSON("events.json", func(ctx context.Context) ([]sites.Event, error) {
			list, err := a.Events(ctx, api.EventQuery{Limit: api.MaxLimit})
			return append([]sites.Event{}, list...), err // none is an empty list
		}),
		support.JSON("targets.json", a.Targets),
		support.JSON("alerts.json", a.Alerts),
		{Name: "metrics.txt", Content: func(context.Context) ([]byte, error) {
			var text bytes.Buffer
			err := a.metrics.Text(&text)
			return text.Bytes(), err
		}},
		support.Goroutines(),
	}
	list, err := a.Written(ctx)
	if err != nil {
		parts = append(parts, support.Part{Name: "configuration", Content: func(context.Context) ([]byte, error) { return nil, err }})
	}
	return append(parts, support.Configuration(list)...)
}
