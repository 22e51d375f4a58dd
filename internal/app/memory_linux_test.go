package app

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// gluttons are clients that send as much as they may until the controller is gone.
func gluttons(ctx context.Context, socket string) (wait func()) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	body := fmt.Appendf(nil, `{"verb":"maintenance","site":"nowhere","reason":%q}`, bytes.Repeat([]byte("x"), 900_000))
	var all sync.WaitGroup
	for range 48 {
		all.Go(func() {
			for ctx.Err() == nil {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://dnsteer/api/v1/commands", bytes.NewReader(body))
				if err != nil {
					return
				}
				req.Header.Set("Content-Type", "application/json")
				if res, err := client.Do(req); err == nil {
					_ = res.Body.Close() // what it says does not matter
				}
			}
		})
	}
	return func() {
		all.Wait()
		client.CloseIdleConnections()
	}
}

// If this fails, a controller that runs out of memory in the middle of its work, and is
// ended for that, forgets an order that it has confirmed, or does not start again.
func TestMemoryRunsOut(t *testing.T) {
	w := newWorld(t, "berlin")
	p := w.spawn()
	socket := filepath.Join(w.dir, "state", api.SocketName)
	ask := api.NewClient(socket)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	order := func(verb sites.Verb) error {
		_, err := ask.Command(ctx, sites.Command{Verb: verb, Site: "berlin", Node: "a", Reason: "test"})
		return err
	}
	if err := order(sites.Maintenance); err != nil {
		t.Fatal(err)
	}
	// What it has is more than this: it may keep it, and gets nothing more.
	limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_DATA, &limit, nil); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	greedy, enough := context.WithCancel(ctx)
	wait := gluttons(greedy, socket)
	confirmed, tried := sites.Maintenance, sites.Maintenance
	for alive := true; alive; {
		tried = sites.Maintenance
		if confirmed == sites.Maintenance {
			tried = sites.MaintenanceEnd
		}
		if order(tried) == nil {
			confirmed = tried
		}
		select {
		case err := <-ended:
			alive = false
			if err == nil {
				t.Error("it has ended as if it had been told to")
			}
		case <-ctx.Done():
			t.Fatal("it does not run out of memory")
		case <-time.After(time.Millisecond):
		}
	}
	enough()
	wait()
	ask.Close()
	w.spawn()
	st, err := ask.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer ask.Close()
	inMaintenance := st.Sites[0].Nodes[0].Word == sites.WordMaintenance
	if confirmed == tried && inMaintenance != (confirmed == sites.Maintenance) {
		t.Errorf("%s was confirmed, and after the restart berlin/a is %s", confirmed, st.Sites[0].Nodes[0].Word)
	}
	list, err := ask.Events(ctx, api.EventQuery{Ascending: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range list {
		if e.ID != uint64(i+1) {
			t.Fatalf("event %d stands at place %d", e.ID, i+1)
		}
	}
}
