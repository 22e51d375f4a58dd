// Package genuine runs a real AdGuard Home for tests, where there is one: the
// variable ADGUARD_HOME_BIN names its program, or several with a colon between
// them. It listens on loopback and keeps its files in a folder of the test.
package genuine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Variable names the programs.
const Variable = "ADGUARD_HOME_BIN"

// The one user that it has.
const (
	Username = "dnsteer"
	Password = "pass"
	// hash is bcrypt's of Password, at its least cost.
	hash = "$2a$04$WLZakWQGI5ZVKbl9jvqA7ODEKbL.MyN1RTybgdyMpC.6/QPubA.5W"
)

// Programs gives those that there are.
func Programs() []string { return filepath.SplitList(os.Getenv(Variable)) }

// Server is a running one.
type Server struct {
	URL string
	DNS netip.AddrPort

	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs a program in a folder, with an upstream for what it does not
// rewrite. The caller stops it.
func Start(ctx context.Context, program, folder string, upstream netip.AddrPort) (*Server, error) {
	web, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "AdGuardHome.yaml")
	if err := os.WriteFile(file, configuration(web, port, upstream), 0o600); err != nil {
		return nil, fmt.Errorf("configure AdGuard Home: %w", err)
	}
	s := &Server{URL: "http://" + web.String(), DNS: port, done: make(chan struct{})}
	s.cmd = exec.CommandContext(ctx, program, "-c", file, "-w", folder, "--no-check-update")
	log := &strings.Builder{}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start AdGuard Home: %w", err)
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // it is killed
	}()
	if err := s.ready(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	return s, nil
}

// Stop kills it.
func (s *Server) Stop() {
	_ = s.cmd.Process.Kill() // it may have ended by itself
	<-s.done
}

// ready waits until its web interface and its DNS answer.
func (s *Server) ready(ctx context.Context) error {
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 600 {
		select {
		case <-s.done:
			return errors.New("AdGuard Home has ended")
		case <-tick.C:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/control/status", nil)
		if err != nil {
			return fmt.Errorf("ask AdGuard Home: %w", err)
		}
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.DNS.String())
		if err == nil {
			_ = conn.Close()
			return nil
		}
	}
	return errors.New("AdGuard Home does not come up in 30 seconds")
}

func freePort(ctx context.Context) (netip.AddrPort, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return netip.MustParseAddrPort(l.Addr().String()), nil
}

func configuration(web, port, upstream netip.AddrPort) []byte {
	return fmt.Appendf(nil, `http:
  address: %s
users:
  - name: %s
    password: %s
dns:
  bind_hosts: [127.0.0.1]
  port: %d
  upstream_dns: [%q]
  bootstrap_dns: [%q]
  ratelimit: 0
  cache_size: 0
filtering:
  filtering_enabled: true
filters: []
schema_version: 28
`, web, Username, hash, port.Port(), upstream, upstream)
}
