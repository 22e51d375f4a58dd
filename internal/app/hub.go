package app

import (
	"context"
	"slices"
	"sync"

	"github.com/dnsteer/dnsteer/sites"
)

// readerBuffer is how many events a reader may be behind before it is let go.
const readerBuffer = 256

// maxUnstored bounds the events that are kept for readers while the store does
// not take them.
const maxUnstored = 10_000

// hub hands events to those who follow them. A reader that is too slow loses
// its place; it asks for what it has missed by the ID of its last event.
type hub struct {
	mu      sync.Mutex
	readers map[chan sites.Event]struct{}
	// unstored are the events that cannot be read from the store yet.
	unstored []sites.Event
}

func newHub() *hub { return &hub{readers: make(map[chan sites.Event]struct{})} }

// send hands events to all readers and waits for none.
func (h *hub) send(events []sites.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unstored = append(h.unstored, events...)
	if over := len(h.unstored) - maxUnstored; over > 0 {
		h.unstored = slices.Clone(h.unstored[over:])
	}
	for r := range h.readers {
		for _, e := range events {
			select {
			case r <- e:
				continue
			default:
				delete(h.readers, r)
				close(r)
			}
			break
		}
	}
}

// stored says that events were stored, all up to the last of them.
func (h *hub) stored(events []sites.Event) {
	if len(events) == 0 {
		return
	}
	last := events[len(events)-1].ID
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.unstored {
		if h.unstored[i].ID > last {
			h.unstored = slices.Clone(h.unstored[i:])
			return
		}
	}
	h.unstored = nil
}

// waiting gives the events that are not stored yet.
func (h *hub) waiting() []sites.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.unstored)
}

// join gives the events that are not stored yet, and those from now on, until
// ctx ends or the reader is too slow.
func (h *hub) join(ctx context.Context) (unstored []sites.Event, live <-chan sites.Event) {
	r := make(chan sites.Event, readerBuffer)
	h.mu.Lock()
	h.readers[r] = struct{}{}
	unstored = slices.Clone(h.unstored)
	h.mu.Unlock()
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, there := h.readers[r]; there {
			delete(h.readers, r)
			close(r)
		}
	})
	return unstored, r
}
