// Package httpd serves the API, the metrics, the health checks and the pages over
// TCP and TLS: the listener of the configuration's key "http". It decides who
// asks before a handler runs, and keeps out what a browser is made to send by
// others: requests for names that are not ours (DNS rebinding), and changes that
// come from other sites (cross-site requests).
//
// Another configuration is put in place between two requests: addresses that
// stay are not closed, and a new certificate holds from the next connection on.
package httpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
)

// Limits of a connection. What takes longer lifts them for itself.
const (
	readHeaderTime = 5 * time.Second
	readTime       = 15 * time.Second
	answerTime     = time.Minute
	idleTime       = time.Minute
	maxHeader      = 16 << 10
	leaveTime      = 2 * time.Second
	// maxConns bounds the connections of one address, maxPerSource those of one
	// client.
	maxConns     = 256
	maxPerSource = 64
)

// Options of a server.
type Options struct {
	API  *api.Handler
	Gate *auth.Gate
	// Metrics answers /metrics; nil where there is nothing.
	Metrics http.Handler
	// Pages answers what is neither of the API nor of the metrics, with the
	// caller in the request's context ([api.CallerOf]): it looks at the role
	// itself. Nil where there are none.
	Pages http.Handler
	Log   *slog.Logger
}

// Server serves the addresses of the configuration in place. Its zero
// configuration has none.
type Server struct {
	opt   Options
	guard *guard
	inner http.Handler

	mu     sync.Mutex
	open   map[netip.AddrPort]*endpoint
	closed bool
	ending sync.WaitGroup
	life   context.Context // of what comes to its end by itself
	end    context.CancelFunc
}

// New makes a server that serves nothing yet; see [Server.Prepare].
func New(opt Options) *Server {
	s := &Server{opt: opt, open: make(map[netip.AddrPort]*endpoint)}
	s.life, s.end = context.WithCancel(context.Background())
	s.guard = &guard{gate: opt.Gate, log: opt.Log}
	s.guard.state.Store(&state{cfg: &config.HTTP{}})
	s.inner = s.guard.wrap(s.routes())
	return s
}

// endpoint is one address that is served.
type endpoint struct {
	http     *http.Server
	listener *limited
	// tls is what the next connection is encrypted with; nil for plain HTTP.
	tls atomic.Pointer[tlsState]
}

// Change is another configuration whose addresses are open, ready to be put in
// place.
type Change struct {
	server *Server
	cfg    *config.HTTP
	fresh  map[netip.AddrPort]net.Listener
}

// Prepare opens the addresses of a configuration that are not open yet, nil for
// none. It is all of a change that can fail, and ends with [Change.Commit] or
// [Change.Discard].
func (s *Server) Prepare(cfg *config.HTTP) (*Change, error) {
	if cfg == nil {
		cfg = &config.HTTP{}
	}
	c := &Change{server: s, cfg: cfg, fresh: make(map[netip.AddrPort]net.Listener)}
	for _, addr := range cfg.Listen {
		there, err := s.has(addr)
		if there {
			continue
		}
		if err != nil {
			c.Discard()
			return nil, err
		}
		ln, err := (&net.ListenConfig{}).Listen(context.Background(), network(addr), addr.String())
		if err != nil {
			c.Discard()
			return nil, fmt.Errorf("http.listen: %w", explained(addr, err))
		}
		c.fresh[addr] = ln
	}
	return c, nil
}

// has says whether an address is open already, and why it cannot be opened where it is
// the wildcard of one that is, or the other way round: that closes only after it.
func (s *Server) has(addr netip.AddrPort) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.open[addr]; there {
		return true, nil
	}
	for own := range s.open {
		if dnsserver.Overlap(own, addr) {
			return false, fmt.Errorf("http.listen: %s: this server listens on %s: restart it to change from one to the other", addr, own)
		}
	}
	return false, nil
}

// network is that of the address's family alone: whoever writes 0.0.0.0 serves no
// IPv6, as with the DNS server.
func network(addr netip.AddrPort) string {
	if addr.Addr().Is4() {
		return "tcp4"
	}
	return "tcp6"
}

// Discard closes what was opened.
func (c *Change) Discard() {
	for _, ln := range c.fresh {
		_ = ln.Close() // nobody was let in
	}
	c.fresh = nil
}

// Commit puts the configuration in place. Nothing in it can fail, or wait.
func (c *Change) Commit() {
	s := c.server
	s.guard.state.Store(newState(c.cfg))
	s.opt.Gate.Use(c.cfg.Directory)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Discard()
		return
	}
	wanted := make(map[netip.AddrPort]bool)
	for _, addr := range c.cfg.Listen {
		wanted[addr] = true
	}
	for addr, e := range s.open {
		if !wanted[addr] {
			delete(s.open, addr)
			_ = e.listener.Close() // it is free from now on; to end what is open can take a while
			s.ending.Go(func() { e.leave(s.life) })
			continue
		}
		e.encrypt(c.cfg.TLS)
	}
	for addr, ln := range c.fresh {
		s.open[addr] = s.serve(ln, c.cfg)
	}
	c.fresh = nil
}

// leave takes no more requests on an address that is served no more, and lets what is
// under way come to its end: the reload that is the cause may have come by it.
func (e *endpoint) leave(life context.Context) {
	ctx, cancel := context.WithTimeout(life, leaveTime)
	defer cancel()
	if e.http.Shutdown(ctx) != nil {
		_ = e.http.Close() // streams, which do not end
	}
}

// serve begins to answer on a listener.
func (s *Server) serve(ln net.Listener, cfg *config.HTTP) *endpoint {
	e := &endpoint{}
	e.tls.Store(&tlsState{cfg.TLS})
	e.listener = newLimited(ln, &e.tls)
	e.http = &http.Server{
		Handler:           s.inner,
		ReadHeaderTimeout: readHeaderTime,
		ReadTimeout:       readTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		Protocols:         protocols(),
		ConnState:         e.listener.now,
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	addr := ln.Addr().String()
	s.ending.Go(func() {
		if err := e.http.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			s.opt.Log.Error("the HTTP listener has ended", "on", addr, "error", err)
		}
	})
	return e
}

// protocols are HTTP/1.1 and, over TLS, HTTP/2: never HTTP/2 without TLS.
func protocols() *http.Protocols {
	p := &http.Protocols{}
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	return p
}

// Addrs gives the addresses that are served, with the ports that were taken.
func (s *Server) Addrs() []netip.AddrPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []netip.AddrPort
	for _, e := range s.open {
		if a, err := netip.ParseAddrPort(e.listener.Addr().String()); err == nil {
			list = append(list, a)
		}
	}
	return list
}

// Missing names the addresses of the configuration that are not served.
func (s *Server) Missing() (list []string) {
	cfg := s.guard.state.Load().cfg
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, addr := range cfg.Listen {
		if _, ok := s.open[addr]; !ok {
			list = append(list, addr.String())
		}
	}
	return list
}

// Shutdown takes no more requests, and lets what is under way come to its end,
// but for streams; when ctx ends, it is cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.opt.API.EndStreams()
	s.end()
	s.mu.Lock()
	s.closed = true
	open := s.open
	s.open = make(map[netip.AddrPort]*endpoint)
	s.mu.Unlock()
	var all sync.WaitGroup
	errs := make(chan error, len(open))
	for _, e := range open {
		all.Go(func() {
			err := e.http.Shutdown(ctx)
			if err != nil {
				err = errors.Join(fmt.Errorf("requests over HTTP were cut off: %w", err), e.http.Close())
			}
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	var err error
	for e := range errs {
		err = errors.Join(err, e)
	}
	s.ending.Wait()
	return err
}
