package realnet

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/sites"
)

// hook receives the alerts.
type hook struct {
	w  *World
	mu sync.Mutex
	// got by the message's ID: one that comes again, because the reply was lost, is
	// the same message.
	got map[string]bool
	all []Message
}

// Message is an alert that came.
type Message struct {
	Time    time.Time
	Phase   alert.Phase
	Subject string
	// Events are "kind subject", and IDs are theirs.
	Events []string
	IDs    []uint64
}

func newHook(t testing.TB, w *World) *hook {
	t.Helper()
	h := &hook{w: w, got: map[string]bool{}}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var l net.Listener
	w.core.Do(t, func() (err error) {
		l, err = new(net.ListenConfig).Listen(context.WithoutCancel(t.Context()), "tcp", net.JoinHostPort(coreAddr, hookPort))
		return err
	})
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(l) }) // says that it was closed
	t.Cleanup(func() {
		_ = server.Close()
		done.Wait()
		if t.Failed() {
			var lines []string
			for _, m := range w.Messages() {
				lines = append(lines, fmt.Sprintf("%s %s: %s %v", m.Time.UTC().Format(clock), m.Phase, m.Subject, m.Events))
			}
			t.Logf("the messages:\n%s", strings.Join(lines, "\n"))
		}
	})
	return h
}

func (h *hook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var m alert.Message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		h.w.t.Errorf("an alert cannot be read: %v", err)
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.got[m.ID] {
		return
	}
	h.got[m.ID] = true
	told := Message{Time: time.Now(), Phase: m.Phase, Subject: m.Subject}
	for i := range m.Events {
		e := &m.Events[i]
		told.IDs = append(told.IDs, e.ID)
		told.Events = append(told.Events, Name(&sites.Event{Kind: e.Kind, Site: e.Site, Node: e.Node, Pool: e.Pool}))
	}
	h.all = append(h.all, told)
}

// Messages gives the alerts that came.
func (w *World) Messages() []Message {
	w.hook.mu.Lock()
	defer w.hook.mu.Unlock()
	return append([]Message(nil), w.hook.all...)
}
