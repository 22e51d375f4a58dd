package demo

import (
	"context"
	"log/slog"
)

// eventless is the demo's log without the events: the screen tells them already.
type eventless struct{ slog.Handler }

// Handle writes a record that tells of no event.
func (h eventless) Handle(ctx context.Context, r slog.Record) error {
	told := false
	r.Attrs(func(a slog.Attr) bool {
		told = a.Key == "event"
		return !told
	})
	if told {
		return nil
	}
	return h.Handler.Handle(ctx, r) //nolint:wrapcheck // it is this one's too
}

func (h eventless) WithAttrs(list []slog.Attr) slog.Handler {
	return eventless{h.Handler.WithAttrs(list)}
}

func (h eventless) WithGroup(name string) slog.Handler { return eventless{h.Handler.WithGroup(name)} }
