package app

import (
	"context"
	"sync"

	"github.com/dnsteer/dnsteer/sites"
)

// readerBuffer is how many events a reader may be behind before it is let go.
const readerBuffer = 256

// hub hands events to those who follow them. A reader that is too slow loses
// its place; it asks the store for what it has missed.
type hub struct {
	mu      sync.Mutex
	readers map[chan sites.Event]struct{}
}

func newHub() *hub { return &hub{readers: make(map[chan sites.Event]struct{})} }

// send hands events to all readers and waits for none.
func (h *hub) send(events []sites.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
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

// join gives the events from now on, until ctx ends or the reader is too slow.
func (h *hub) join(ctx context.Context) <-chan sites.Event {
	r := make(chan sites.Event, readerBuffer)
	h.mu.Lock()
	h.readers[r] = struct{}{}
	h.mu.Unlock()
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, there := h.readers[r]; there {
			delete(h.readers, r)
			close(r)
		}
	})
	return r
}
