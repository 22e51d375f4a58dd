package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// Events gives stored events, and those that are not stored yet ([api.Reader]).
func (a *App) Events(_ context.Context, q api.EventQuery) ([]sites.Event, error) {
	if q.Limit == 0 {
		q.Limit = 100
	}
	fresh := a.hub.waiting() // before what is stored: none falls between
	list, err := a.stored(store.Query{
		After: q.After, Before: q.Before, Since: q.Since, Until: q.Until, Kinds: q.Kinds,
		Site: q.Site, Node: q.Node, Limit: q.Limit, Ascending: q.Ascending,
	})
	if err != nil {
		return nil, err
	}
	for i := range fresh {
		if e := &fresh[i]; chosen(&q, e) && !slices.ContainsFunc(list, func(x sites.Event) bool { return x.ID == e.ID }) {
			list = append(list, *e)
		}
	}
	slices.SortFunc(list, func(x, y sites.Event) int {
		if (x.ID < y.ID) == q.Ascending {
			return -1
		}
		return 1
	})
	return list[:min(len(list), q.Limit)], nil
}

// stored reads stored events. Some whose records are spoilt are no reason to keep the
// others back; a disk that does not give all is, whose end is not that of the events.
func (a *App) stored(q store.Query) ([]sites.Event, error) {
	list, err := a.store.Events(q)
	if _, spoilt := errors.AsType[*store.UnreadableError](err); spoilt {
		a.log.Warn("some events cannot be read", "error", err)
		err = nil
	}
	return list, err
}

// chosen says whether a query chooses an event.
func chosen(q *api.EventQuery, e *sites.Event) bool {
	return e.ID > q.After && (q.Before == 0 || e.ID < q.Before) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) &&
		(q.Site == "" || e.Site == q.Site) && (q.Node == "" || e.Node == q.Node) &&
		!e.Time.Before(q.Since) && (q.Until.IsZero() || e.Time.Before(q.Until))
}

// followPiece is how many stored events a reader is given at a time: what it has not read
// yet stays in the store, and not in memory, however slow it is and however many there are.
const followPiece = 256

// Follow gives the events after one ([api.Reader]): those that are stored, those
// that are not yet, and those that come, each once.
func (a *App) Follow(ctx context.Context, after uint64) (<-chan sites.Event, error) {
	fresh, live := a.hub.join(ctx)
	var until uint64
	if len(fresh) > 0 {
		until = fresh[0].ID // a disk that hangs may take later ones, and never these
	}
	read := func(after uint64) ([]sites.Event, error) {
		return a.stored(store.Query{After: after, Before: until, Ascending: true, Limit: followPiece})
	}
	missed, err := read(after)
	if err != nil {
		return nil, fmt.Errorf("follow the events: %w", err)
	}
	out := make(chan sites.Event)
	f := follower{out: out, last: after}
	go func() {
		defer close(out)
		for {
			if !f.send(ctx, missed) {
				return
			}
			if len(missed) < followPiece {
				break
			}
			if missed, err = read(f.last); err != nil {
				a.log.Warn("whoever follows the events has to begin anew", "error", err)
				return
			}
		}
		if !f.send(ctx, fresh) {
			return
		}
		for e := range live {
			if !f.send(ctx, []sites.Event{e}) {
				return
			}
		}
	}()
	return out, nil
}

// follower is who is given events, and the ID of the last.
type follower struct {
	out  chan<- sites.Event
	last uint64
}

// send gives those that it has not had yet; false when it has gone.
func (f *follower) send(ctx context.Context, list []sites.Event) bool {
	for i := range list {
		if list[i].ID <= f.last {
			continue
		}
		select {
		case f.out <- list[i]:
			f.last = list[i].ID
		case <-ctx.Done():
			return false
		}
	}
	return true
}
