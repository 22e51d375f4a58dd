package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Event streams: how many at once, how often a silent one says that it is
// there, and how long a reader may take for what it is sent.
const (
	maxStreams  = 32
	heartbeat   = 15 * time.Second
	writeTime   = 10 * time.Second
	comeBackIn  = "retry: 2000\n\n" // ms
	stillThere  = ": still there\n\n"
	streamMedia = "text/event-stream"
)

// stream sends events as they come (SSE). It starts behind Last-Event-ID, else
// behind the parameter "after", else with what happens from now on. It ends
// when the reader is too slow; it comes back with the last ID that it had.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request) error {
	q, err := h.streamQuery(r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead { // that it is there is all that was asked
		w.Header().Set("Content-Type", streamMedia)
		return nil
	}
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		return problem(http.StatusServiceUnavailable, "%d readers follow the events already; end one of them", maxStreams)
	}
	if err := Unhurried(w); err != nil {
		return err
	}
	events, err := h.Reader.Follow(r.Context(), q.After)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", streamMedia)
	w.Header().Set("X-Accel-Buffering", "no") // a proxy must not collect
	out := sender{w: w, c: http.NewResponseController(w)}
	if !out.send(comeBackIn) {
		return nil
	}
	h.pump(r, q, events, out)
	return nil
}

func (h *Handler) streamQuery(r *http.Request) (EventQuery, error) {
	v, err := parameters(r.URL, "after", "kind", "site", "node")
	if err != nil {
		return EventQuery{}, err
	}
	q := EventQuery{Site: v.Get("site"), Node: v.Get("node")}
	if q.Kinds, err = kinds(v["kind"]); err != nil {
		return q, err
	}
	name, after := "after", v.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		name, after = "Last-Event-ID", last
	}
	newest, unread := h.newest(r)
	if after == "" {
		q.After = newest
		return q, unread
	}
	q.After, err = eventID(name, after)
	if unread == nil {
		// A reader may have had more than was stored when the controller was killed, or
		// when a backup was put in place: numbers begin again behind the newest.
		q.After = min(q.After, newest)
	}
	return q, err
}

// newest gives the ID of the newest event, 0 if there is none.
func (h *Handler) newest(r *http.Request) (uint64, error) {
	list, err := h.Reader.Events(r.Context(), EventQuery{Limit: 1})
	if len(list) == 0 {
		return 0, err
	}
	return list[0].ID, err
}

// pump sends what comes until the reader, the events or the server end.
func (h *Handler) pump(r *http.Request, q EventQuery, events <-chan sites.Event, out sender) {
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	caller := CallerOf(r.Context())
	for {
		text := stillThere
		changed := caller.changed()
		if !caller.holds() {
			return // the reader is told why when it asks again
		}
		select {
		case <-changed:
			continue
		case <-r.Context().Done():
			return
		case <-h.ending:
			return
		case e, ok := <-events:
			if !ok {
				return
			}
			if !q.wants(&e) {
				continue
			}
			data, err := json.Marshal(e)
			if err != nil {
				panic(fmt.Sprintf("api: write an event: %v", err))
			}
			text = fmt.Sprintf("id: %d\ndata: %s\n\n", e.ID, data)
		case <-beat.C:
		}
		if !out.send(text) {
			return
		}
		beat.Reset(heartbeat)
	}
}

// sender writes to one stream, each piece with a time limit of its own.
type sender struct {
	w http.ResponseWriter
	c *http.ResponseController
}

// send is false when the reader is gone, or too slow.
func (s sender) send(text string) bool {
	if err := s.c.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return false
	}
	return s.c.Flush() == nil
}
