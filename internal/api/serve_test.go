package api

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// The commands would not reach the controller, or would not understand it.
func TestClientOverSocket(t *testing.T) {
	f := &fake{
		status: Status{Version: "1.0", Problems: []string{"berlin cannot be seen."}},
		events: []sites.Event{{ID: 7, Kind: sites.SiteDown, Site: "berlin", Text: "It is gone."}},
	}
	c := started(t, f)
	ctx := t.Context()

	if s, err := c.Status(ctx); err != nil || s.Version != "1.0" || len(s.Problems) != 1 {
		t.Errorf("status %+v, %v", s, err)
	}
	if e, err := c.Explain(ctx, "berlin"); err != nil || e.Subject != "berlin" {
		t.Errorf("explain %+v, %v", e, err)
	}
	var gone *NotFoundError
	if _, err := c.Explain(ctx, "atlantis & co/x?"); !errors.As(err, &gone) || !strings.Contains(gone.Text, "atlantis & co/x?") {
		t.Errorf("explain what is not there: %v", err)
	}
	list, err := c.Events(ctx, EventQuery{Site: "berlin", Limit: 5})
	if err != nil || len(list) != 1 || f.query.Site != "berlin" || f.query.Limit != 5 {
		t.Errorf("events %v, %v; asked for %+v", list, err, f.query)
	}
	if r, err := c.Command(ctx, sites.Command{Verb: sites.Pause, Site: "berlin"}); err != nil || r != (sites.Reply{Text: "Done."}) {
		t.Errorf("command %+v, %v", r, err)
	}
	if r, err := c.Command(ctx, sites.Command{Verb: sites.Pause, Site: "atlantis"}); err != nil || !r.Refused || !strings.Contains(r.Text, "atlantis") {
		t.Errorf("refused command %+v, %v", r, err)
	}
	if r, err := c.Probe(ctx, "berlin", "a"); err != nil || len(r.Lines) != 1 {
		t.Errorf("probe %+v, %v", r, err)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	h, err := c.History(ctx, "berlin", "a", noon, noon.Add(time.Hour))
	if err != nil || len(h.Lines) != 1 || h.Lines[0].Probes[0].Points[0].Mean != 2*time.Millisecond || !f.from.Equal(noon) || !f.to.Equal(noon.Add(time.Hour)) {
		t.Errorf("history %+v, %v; asked for %s to %s", h, err, f.from, f.to)
	}
	if h, err := c.History(ctx, "berlin", "", noon, noon); err != nil || len(h.Lines) != 1 || h.Lines[0].Witness == "" {
		t.Errorf("history of the witnesses %+v, %v", h, err)
	}
	if _, err := c.History(ctx, "atlantis/&?", "", noon, noon); !errors.As(err, &gone) || !strings.Contains(gone.Text, "atlantis/&?") {
		t.Errorf("history of what is not there: %v", err)
	}
	var p *Problem
	if _, err := c.Reload(ctx); !errors.As(err, &p) || p.Status != http.StatusUnprocessableEntity {
		t.Errorf("reload: %v", err)
	}
	if err := c.Healthy(ctx); err != nil {
		t.Error(err)
	}
	if err := c.Ready(ctx); err != nil {
		t.Error(err)
	}
	f.missing = []string{"dns"}
	if err := c.Ready(ctx); !errors.As(err, &p) || !cmp.Equal(p.Missing, []string{"dns"}) {
		t.Errorf("ready: %v", err)
	}
}

// Whoever asks a controller that is not there must be told what to do.
func TestNobodyListens(t *testing.T) {
	dir := socketFolder(t)
	left := filepath.Join(dir, "left.sock")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	for _, path := range []string{filepath.Join(dir, "gone.sock"), left} {
		c := NewClient(path)
		_, err := c.Status(t.Context())
		want := "nothing listens on " + path + ": is `dnsteer serve` running with this configuration? Name its configuration with --config, or its socket with --socket"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		c.Close()
	}
	c := NewClient(filepath.Join(dir, "gone", SocketName))
	defer c.Close()
	if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "its state folder was removed: make it again") {
		t.Errorf("of a folder that was removed: %v", err)
	}
}

// A start after a crash must not fail over what the crash left behind, and a
// second controller must not take the first one's place.
func TestListen(t *testing.T) {
	dir := socketFolder(t)
	path := filepath.Join(dir, SocketName)
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false)
	old.Close()
	if err := os.WriteFile(filepath.Join(dir, ".new.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	s, err := Listen(path, (&fake{}).handler())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != socketMode {
		t.Errorf("mode %v, %v; want %o", info.Mode(), err, socketMode)
	}
	if _, err := Listen(path, (&fake{}).handler()); err == nil || !strings.Contains(err.Error(), "another controller listens there") {
		t.Errorf("a second one: %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is left over after the end")
	}

	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, (&fake{}).handler()); err == nil || !strings.Contains(err.Error(), "something else of this name") {
		t.Errorf("over a file: %v", err)
	}
	long := filepath.Join(dir, strings.Repeat("x", 100), SocketName)
	if _, err := Listen(long, (&fake{}).handler()); err == nil || !strings.Contains(err.Error(), "choose a shorter state.path") {
		t.Errorf("a long path: %v", err)
	}
}

// The end of one controller must not remove the socket of the next.
func TestShutdownLeavesAnothersSocket(t *testing.T) {
	path := filepath.Join(socketFolder(t), SocketName)
	first, err := Listen(path, (&fake{}).handler())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(path, (&fake{}).handler())
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	c := NewClient(path)
	defer c.Close()
	if err := c.Healthy(t.Context()); err != nil {
		t.Error(err)
	}
	if err := second.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// A stop must wait for a command that is being carried out, and not for one
// that never ends.
func TestShutdown(t *testing.T) {
	for _, ends := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			letGo := make(chan struct{})
			f := &fake{onCommand: func(ctx context.Context, _ sites.Command) (sites.Reply, error) {
				select {
				case <-letGo:
					return sites.Reply{Text: "Done."}, nil
				case <-ctx.Done():
					return sites.Reply{}, ctx.Err()
				}
			}}
			p := newPipes()
			s := serve(p, f.handler())
			conn := p.dial()
			defer conn.Close()
			go conn.Write([]byte("POST /api/v1/commands HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 32\r\n\r\n" + `{"verb":"pause","site":"berlin"}`))
			synctest.Wait()
			if ends {
				time.AfterFunc(time.Second, func() { close(letGo) })
			}
			answer := make(chan string, 1)
			go func() {
				line, _ := bufio.NewReader(conn).ReadString('\n')
				answer <- line
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			err := s.Shutdown(ctx)
			if got := <-answer; (err == nil) != ends || strings.Contains(got, "200 OK") != ends {
				t.Errorf("ends %v: %v, answer %q", ends, err, got)
			}
			time.Sleep(commandTime) // the command's own limit
		})
	}
}

// One client that sends nothing, or never ends its request, would hold a
// connection for ever.
func TestSlowSenders(t *testing.T) {
	tests := []struct {
		name, sends string
		within      time.Duration
	}{
		{"nothing", "", readHeaderTime},
		{"half a header", "GET /api/v1/status HTTP/1.1\r\nHo", readHeaderTime},
		{"half a body", "POST /api/v1/commands HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 32\r\n\r\n{", readTime},
		{"no second request", "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n", idleTime},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				s := serve(p, (&fake{}).handler())
				conn := p.dial()
				start := time.Now()
				go conn.Write([]byte(tt.sends))
				r := bufio.NewReader(conn)
				for {
					if _, err := r.ReadByte(); err != nil {
						break
					}
				}
				// What remains of a body is waited for a little longer.
				if held := time.Since(start); held > tt.within+time.Second {
					t.Errorf("held for %s, want at most %s", held, tt.within)
				}
				conn.Close()
				if err := s.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A header without end would fill the memory.
func TestLargeHeader(t *testing.T) {
	c := started(t, &fake{})
	res, err := c.send(t.Context(), http.MethodGet, "/-/healthy", nil, http.Header{"X": {strings.Repeat("x", 64<<10)}})
	if err == nil {
		res.Body.Close()
		t.Error("a header of 64 KiB is taken")
	}
}
