package simulation

import (
	"context"
	"fmt"
	"slices"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// reader follows the events of one life, as a stream does, and holds that each comes
// once and in the order of its number.
func (w *world) reader(ctx context.Context, l *life, last uint64) {
	for ctx.Err() == nil {
		events, err := l.app.Follow(ctx, last)
		if err != nil {
			w.fault("the events cannot be followed: %v", err)
			return
		}
		for e := range events {
			if e.ID != last+1 {
				w.fault("who follows the events got %d after %d: %s %s", e.ID, last, e.Kind, e.Subject())
			}
			last = e.ID
			l.read.Store(last)
		}
	}
}

// newest is the highest number of an event that the store has acknowledged.
func (g *ledger) newest() (id uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.events {
		id = max(id, i)
	}
	return id
}

// nothingIsWrong looks, when nothing is wrong any more, whether the controller says so.
func (w *world) nothingIsWrong() {
	a := w.life.app
	st, err := api.NewHandler(api.Deps{Reader: a, Publisher: a}).Whole().Status(context.Background())
	if err != nil {
		w.fault("the status cannot be had: %v", err)
		return
	}
	if len(st.Problems) > 0 || len(st.Critical) > 0 {
		w.fault("nothing is wrong, and the status says %q, %v", st.Problems, st.Critical)
	}
	alerts, err := a.Alerts(context.Background())
	if err != nil {
		w.fault("the alerts cannot be had: %v", err)
		return
	}
	for _, i := range alerts.Open {
		w.fault("nothing is wrong, and people were told of what is not over: %s", fmt.Sprint(i))
	}
}

// resolved holds what ends against what began.
func (g *ledger) resolved(list []sites.Event) {
	ended := map[uint64]sites.Kind{}
	for i := range list {
		e := &list[i]
		if e.Resolves == 0 {
			continue
		}
		at := slices.IndexFunc(list, func(x sites.Event) bool { return x.ID == e.Resolves })
		switch {
		case e.Resolves >= e.ID:
			g.w.fault("event %d (%s %s) ends event %d, which comes after it", e.ID, e.Kind, e.Subject(), e.Resolves)
		case at < 0:
			g.w.fault("event %d (%s %s) ends event %d, which is not there", e.ID, e.Kind, e.Subject(), e.Resolves)
		case ended[e.Resolves] != "":
			g.w.fault("event %d (%s) ends event %d, which %s has ended", e.ID, e.Kind, e.Resolves, ended[e.Resolves])
		case list[at].Site != e.Site || list[at].Node != e.Node:
			g.w.fault("event %d (%s %s) ends event %d of %s", e.ID, e.Kind, e.Subject(), e.Resolves, list[at].Subject())
		}
		ended[e.Resolves] = e.Kind
	}
}
