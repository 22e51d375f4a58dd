// Package adguardsim is a stand-in for AdGuard Home: its HTTP interface as far
// as rewrites need it, its log-in with the lock-out, and its DNS answers. It
// was made by what real ones of several versions were seen to do, and is held
// against them by a test that runs where there is a real one.
//
// It answers on loopback or wherever it is told to, keeps no clock of its own,
// and can be told to fail.
package adguardsim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Options say what is stood in for. The zero value is the newest version, on
// loopback, with no users.
type Options struct {
	Profile Profile
	// Username and Password of its one user; "" for none, which lets everybody
	// in.
	Username, Password string
	// FirstRun: nobody has set it up yet, and every request is sent to that page.
	FirstRun bool
	// ForceHTTPS is where every request is sent to ("https://dns.example.lan").
	ForceHTTPS string
	// TLS is spoken if it is set.
	TLS *tls.Config
	// Base is the path that a proxy has it under: "/adguard".
	Base string
	// HTTP and DNS are host:port to listen on; a free port on loopback if "".
	HTTP, DNS string
	// File keeps what was written, over the end of the process too; "" for none.
	File string
	// Now tells the time for the lock-out; nil for the wall clock.
	Now func() time.Time
	// Hash is called for each password that is checked, with no lock held: it
	// takes the time that bcrypt takes. Nil takes none.
	Hash func()
	// Upstream answers what no rewrite does; nil knows no name.
	Upstream func(dns.Question) []dns.RR
	// Lost, while its line is cut, gives what ends when it can be reached again, and
	// nil otherwise. Where it is not set the line is never cut.
	Lost func() <-chan struct{}
}

// lost is nil while it can be reached.
func (s *Server) lost() <-chan struct{} {
	if s.opt.Lost == nil {
		return nil
	}
	return s.opt.Lost()
}

// Server is a running one.
type Server struct {
	opt    Options
	http   net.Listener
	web    *http.Server
	dns    [2]*dns.Server
	at     netip.AddrPort
	done   sync.WaitGroup
	closed chan struct{}

	mu    sync.Mutex
	kept  kept
	fails map[string]failures
	trap  *trap
	// shunned is a domain whose rewrites are not changed; "" for none.
	shunned string
	writes  int
	logins  int
	paths   []string
}

// Start starts one. The caller closes it.
func Start(opt Options) (*Server, error) {
	if opt.Profile.Version == "" {
		opt.Profile = V79
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Hash == nil {
		opt.Hash = func() {}
	}
	s := &Server{opt: opt, fails: map[string]failures{}, closed: make(chan struct{})}
	if err := s.load(); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	var err error
	if s.http, err = lc.Listen(context.Background(), "tcp", orFree(opt.HTTP)); err != nil {
		return nil, fmt.Errorf("listen for HTTP: %w", err)
	}
	if err := s.listenDNS(&lc); err != nil {
		return nil, errors.Join(err, s.http.Close())
	}
	s.web = &http.Server{Handler: s.handler(), ReadHeaderTimeout: time.Minute, TLSConfig: opt.TLS, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	s.done.Go(func() {
		if opt.TLS != nil {
			_ = s.web.ServeTLS(s.http, "", "") // it ends by Close
			return
		}
		_ = s.web.Serve(s.http) // it ends by Close
	})
	for _, d := range s.dns {
		s.done.Go(func() { _ = d.ActivateAndServe() }) // it ends by Close
	}
	return s, nil
}

func orFree(address string) string {
	if address == "" {
		return "127.0.0.1:0"
	}
	return address
}

// listenDNS takes a port that is free for UDP and TCP.
func (s *Server) listenDNS(lc *net.ListenConfig) error {
	var err error
	for range 20 {
		var l net.Listener
		var pc net.PacketConn
		if l, err = lc.Listen(context.Background(), "tcp", orFree(s.opt.DNS)); err != nil {
			break
		}
		if pc, err = lc.ListenPacket(context.Background(), "udp", l.Addr().String()); err != nil {
			_ = l.Close() // the other error says more
			continue
		}
		s.at = netip.MustParseAddrPort(pc.LocalAddr().String())
		s.dns = [2]*dns.Server{
			{PacketConn: pc, Handler: dns.HandlerFunc(s.serveDNS)},
			{Listener: l, Handler: dns.HandlerFunc(s.serveDNS)},
		}
		return nil
	}
	return fmt.Errorf("listen for DNS: %w", err)
}

// Close ends it, as a crash would: what was answered with 200 is kept in the
// file, open requests are cut.
func (s *Server) Close() error {
	close(s.closed)
	err := s.web.Close()
	for _, d := range s.dns {
		if d.Listener != nil {
			_ = d.Listener.Close()
		}
		if d.PacketConn != nil {
			_ = d.PacketConn.Close()
		}
		_ = d.Shutdown() // it may not have begun
	}
	s.done.Wait()
	return err
}

// URL is where its web interface is.
func (s *Server) URL() string {
	scheme := "http://"
	if s.opt.TLS != nil {
		scheme = "https://"
	}
	return scheme + s.http.Addr().String() + s.opt.Base
}

// DNS is where it answers, over UDP and TCP.
func (s *Server) DNS() netip.AddrPort { return s.at }

// Rewrites are those that it holds, in its own order.
func (s *Server) Rewrites() []Rewrite {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept.Rewrites)
}

// Edit changes the rewrites as a person's hand would.
func (s *Server) Edit(change func([]Rewrite) []Rewrite) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Rewrites = change(slices.Clone(s.kept.Rewrites))
	return s.save()
}

// Writes counts the requests for changes of rewrites.
func (s *Server) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Logins counts the tries to log in.
func (s *Server) Logins() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

// Requests are the methods and paths that were asked for, oldest first.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.paths)
}

// DropSessions forgets who is logged in.
func (s *Server) DropSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Sessions = nil
}

// handler takes the base off the path.
func (s *Server) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lost := s.lost(); lost != nil {
			select { // a line that is down says nothing
			case <-lost:
			case <-s.closed:
			case <-r.Context().Done():
			}
			panic(http.ErrAbortHandler)
		}
		path, ok := strings.CutPrefix(r.URL.Path, s.opt.Base)
		s.mu.Lock()
		s.paths = append(s.paths, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		s.serve(w, r, path)
	})
}
