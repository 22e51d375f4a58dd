package app

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, who follows the events from the first on and reads slowly holds all of
// them in the controller's memory, once for each of the readers that there may be; or is
// not given each once and in order.
func TestFollowersLeaveInTheStoreWhatTheyHaveNotRead(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.config())
	r := w.start()
	const first, count = 1_000_000, 5*followPiece + 7
	now := time.Now()
	event := func(id uint64, text string) sites.Event {
		return sites.Event{ID: id, Time: now, Kind: sites.SiteUp, Severity: sites.Info, Site: "berlin", Text: text}
	}
	var list []sites.Event
	for i := range uint64(count) {
		list = append(list, event(first+i, "as it was"))
	}
	if err := r.store.Commit(store.Batch{Events: list}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := r.Follow(ctx, first-1)
	if err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.ID != first {
		t.Fatalf("it begins with %d", e.ID)
	}
	if err := r.store.Commit(store.Batch{Events: []sites.Event{event(first+count-1, "as it is")}}); err != nil {
		t.Fatal(err)
	}
	for i := uint64(1); i < count; i++ {
		e := <-events
		if e.ID != first+i {
			t.Fatalf("%d comes in the place of %d", e.ID, first+i)
		}
		if i == count-1 && e.Text != "as it is" {
			t.Error("the last was read before anybody asked for it")
		}
	}
}

// If this fails, who follows the events is never told of those that a disk which hung did not
// take in the end, though they came while it followed.
func TestFollowersAreToldWhatTheDiskHasNotTaken(t *testing.T) {
	s, _, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list := func(from, to uint64) (list []sites.Event) {
		for id := from; id <= to; id++ {
			list = append(list, sites.Event{ID: id, Time: time.Now(), Kind: sites.SiteUp, Severity: sites.Info})
		}
		return list
	}
	const kept = followPiece + 50
	if err := s.Commit(store.Batch{Events: list(1, kept)}); err != nil {
		t.Fatal(err)
	}
	a := &App{store: s, hub: newHub(), log: slog.New(slog.DiscardHandler)}
	a.hub.send(list(kept+1, kept+5)) // the disk hangs
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := a.Follow(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := (<-events).ID
	if err := s.Commit(store.Batch{Events: list(kept+4, kept+6)}); err != nil { // three are lost
		t.Fatal(err)
	}
	a.hub.send(list(kept+6, kept+6))
	for last < kept+6 {
		if e := <-events; e.ID != last+1 {
			t.Fatalf("%d comes behind %d", e.ID, last)
		}
		last++
	}
}
