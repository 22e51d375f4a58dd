package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// names is the built-in DNS server, if the configuration has one, and what was
// published to it last.
type names struct {
	log    *slog.Logger
	sites  []sites.Site // of the configuration in place; used by the loop alone
	last   map[sites.PoolID]sites.Answer
	failed chan error

	mu     sync.Mutex
	server *dnsserver.Server // nil if there is none
	stored map[string]uint32
	stop   context.CancelFunc
	done   chan struct{}
}

func newNames(cfg *config.Config, stored map[string]uint32, log *slog.Logger) (*names, error) {
	n := &names{log: log, sites: cfg.Sites.Sites, last: make(map[sites.PoolID]sites.Answer), stored: stored}
	if cfg.DNS == nil {
		return n, nil
	}
	s, err := dnsserver.New(cfg.DNS, dnsserver.Options{Log: log, Serials: stored})
	if err != nil {
		return nil, fmt.Errorf("prepare the DNS server: %w", err)
	}
	n.server = s
	return n, nil
}

// publish puts the answers of pools in place. It is called by the loop alone.
func (n *names) publish(m *sites.Machine, touched []sites.PoolID) {
	server := n.get()
	for _, id := range touched {
		a := m.Answer(id)
		if last, ok := n.last[id]; ok && last.Equal(a) {
			continue
		}
		n.last[id] = a
		if server != nil {
			s := &n.sites[id.Site]
			server.SetAnswer(s.Name, s.Pools[id.Pool].Name, a)
		}
	}
}

func (n *names) get() *dnsserver.Server {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.server
}

func (n *names) serials() map[string]uint32 {
	if s := n.get(); s != nil {
		return s.Serials()
	}
	return nil
}

func (n *names) addresses() []netip.AddrPort {
	if s := n.get(); s != nil {
		return s.Addrs()
	}
	return nil
}

// listen opens the addresses and begins to answer.
func (n *names) listen() error {
	s := n.get()
	if s == nil {
		return nil
	}
	if err := s.Listen(); err != nil {
		return err
	}
	n.run(s)
	return nil
}

func (n *names) run(s *dnsserver.Server) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	n.mu.Lock()
	n.server, n.stop, n.done = s, stop, done
	n.mu.Unlock()
	go func() {
		defer close(done)
		if err := s.Serve(ctx); err != nil {
			n.log.Error("the DNS server has ended", "error", err)
		}
	}()
}

// close answers what has been taken in, and ends.
func (n *names) close() {
	n.mu.Lock()
	stop, done := n.stop, n.done
	n.server, n.stop, n.done = nil, nil, nil
	n.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// reload takes another configuration, wholly or not at all. It is called in the
// loop's goroutine; the answers follow at once by republish.
func (n *names) reload(cfg *config.Config) error {
	s := n.get()
	switch {
	case s != nil && cfg.DNS != nil:
		if err := s.Reload(cfg.DNS); err != nil {
			return err
		}
	case cfg.DNS != nil:
		s, err := dnsserver.New(cfg.DNS, dnsserver.Options{Log: n.log, Serials: n.stored})
		if err != nil {
			return fmt.Errorf("prepare the DNS server: %w", err)
		}
		if err := s.Listen(); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		n.run(s)
	case s != nil:
		n.close()
	}
	n.sites = cfg.Sites.Sites
	clear(n.last)
	return nil
}
