package httpd

import (
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
)

// pipes is a listener without a network, for bubbles of virtual time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }
func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// One client that sends nothing, or never ends what it sends, would hold a
// connection for ever.
func TestSlowSenders(t *testing.T) {
	c, _ := certificate(t, 1)
	tests := []struct {
		name, sends string
		secure      bool
		within      time.Duration
	}{
		{"nothing", "", false, readHeaderTime},
		{"no handshake", "", true, readHeaderTime},
		{"half a header", "GET /-/healthy HTTP/1.1\r\nHo", false, readHeaderTime},
		{"half a body", "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 32\r\n\r\n{", false, readTime},
		{"no second request", "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n", false, idleTime},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctl, log := &controller{}, slog.New(slog.DiscardHandler)
				gate := auth.NewGate(auth.Options{Now: time.Now})
				s := New(Options{API: api.NewHandler(api.Deps{Reader: ctl, Operator: ctl, Historian: ctl, Health: ctl, Log: log, Gate: gate}), Gate: gate, Log: log})
				cfg := &config.HTTP{}
				if tt.secure {
					cfg.TLS = encrypted(c)
				}
				p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
				e := s.serve(p, cfg)
				here, there := net.Pipe()
				p.conns <- there
				start := time.Now()
				go io.WriteString(here, tt.sends)
				_, _ = io.Copy(io.Discard, here)
				if held := time.Since(start); held > tt.within+2*time.Second {
					t.Errorf("held for %s, want at most %s", held, tt.within)
				}
				here.Close()
				_ = e.http.Close()
				s.ending.Wait()
			})
		})
	}
}
