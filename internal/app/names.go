package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"sync"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// names is the built-in DNS server, if the configuration has one, and what was
// published to it last.
type names struct {
	log *slog.Logger
	// sites of the configuration in place, and the last answers; used by the
	// loop alone.
	sites []sites.Site
	last  map[sites.PoolID]sites.Answer

	secret dnsserver.Secret  // of DNS cookies; nil has the server make one
	judge  *clock.Judge      // of the clock that signatures are made by
	signed map[string][]byte // DS records of the keys that the last run signed with, by zone

	mu     sync.Mutex
	server *dnsserver.Server // nil if there is none
	stored map[string]uint32 // the serials of zones that are not served, and older ones of others
	kept   keptKeys          // of the zones that are served
	stop   context.CancelFunc
	// serving has every server that has not ended yet, those that a reload has
	// left out too.
	serving sync.WaitGroup
}

func newNames(cfg *config.Config, state *store.State, judge *clock.Judge, log *slog.Logger) (*names, error) {
	n := &names{log: log, judge: judge, sites: cfg.Sites.Sites, last: make(map[sites.PoolID]sites.Answer), stored: map[string]uint32{}, signed: state.Values[kindKeys]}
	maps.Copy(n.stored, state.Serials)
	secret, err := cookieSecret(cfg.StatePath)
	if err != nil {
		log.Warn("DNS cookies do not outlive this run as they should", "error", err)
	}
	n.secret = secret
	if cfg.DNS == nil {
		return n, nil
	}
	n.server, n.kept, err = n.make(cfg, true)
	return n, err
}

// make makes a server, at a start or for a reload.
func (n *names) make(cfg *config.Config, starts bool) (*dnsserver.Server, keptKeys, error) {
	keyed, kept, err := withKeys(cfg, n.keys(), n.signed, starts, n.log)
	if err != nil {
		return nil, nil, err
	}
	n.mu.Lock()
	serials := maps.Clone(n.stored)
	n.mu.Unlock()
	s, err := dnsserver.New(keyed, dnsserver.Options{
		Log: n.log, Serials: serials, CookieSecret: n.secret,
		Earliest: n.judge.Earliest(), Trust: func() bool { _, cause := n.judge.Now(); return cause == "" },
	})
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the DNS server: %w", err)
	}
	return s, kept, nil
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

// everyPool lists the pools of a configuration.
func everyPool(list []sites.Site) (ids []sites.PoolID) {
	for i := range list {
		for j := range list[i].Pools {
			ids = append(ids, sites.PoolID{Site: i, Pool: j})
		}
	}
	return ids
}

func (n *names) get() *dnsserver.Server {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.server
}

// keys gives those of the zones that are served. Nobody changes it.
func (n *names) keys() keptKeys {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept
}

func (n *names) serials() map[string]uint32 {
	if s := n.get(); s != nil {
		return s.Serials()
	}
	return nil
}

// reserve says which serials are to be stored beside others.
func (n *names) reserve(stored map[string]uint32) map[string]uint32 {
	if s := n.get(); s != nil {
		return s.Reserve(stored)
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

// run answers from a server whose addresses are open.
func (n *names) run(s *dnsserver.Server) {
	ctx, stop := context.WithCancel(context.Background())
	n.mu.Lock()
	n.server, n.stop = s, stop
	n.mu.Unlock()
	n.serving.Go(func() {
		if err := s.Serve(ctx); err != nil {
			n.log.Error("the DNS server has ended", "error", err)
		}
	})
}

// retire ends the server beside the caller, once it has answered what it has
// taken in.
func (n *names) retire() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server != nil {
		maps.Copy(n.stored, n.server.Serials())
	}
	if n.stop != nil {
		n.stop()
	}
	n.server, n.stop = nil, nil
}

// close ends it and waits for that, which takes at most two seconds.
func (n *names) close() {
	n.retire()
	n.serving.Wait()
}

// renaming is another configuration of the names, ready to be put in place.
type renaming struct {
	names *names
	cfg   *config.Config
	// change is that of the server in place; fresh is a server where there was
	// none. At most one is set.
	change *dnsserver.Change
	fresh  *dnsserver.Server
	kept   keptKeys
	ended  bool
}

// prepare does all of a reload that can fail. The owner ends it with commit or
// discard.
func (n *names) prepare(cfg *config.Config) (*renaming, error) {
	r := &renaming{names: n, cfg: cfg}
	s := n.get()
	var err error
	switch {
	case cfg.DNS == nil:
	case s != nil:
		var keyed *dnsserver.Config
		if keyed, r.kept, err = withKeys(cfg, n.keys(), n.signed, false, n.log); err == nil {
			r.change, err = s.Prepare(keyed)
		}
	default:
		n.serving.Wait() // the one that left may hold the port for a moment
		if r.fresh, r.kept, err = n.make(cfg, false); err == nil {
			err = r.fresh.Listen()
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// commit puts it in place, with every answer that the rules give now: no name is
// served before its answer is there. It is called in the loop's goroutine.
func (r *renaming) commit(m *sites.Machine) {
	n := r.names
	n.sites = r.cfg.Sites.Sites
	clear(n.last)
	for _, id := range everyPool(n.sites) {
		a := m.Answer(id)
		n.last[id] = a
		s := &n.sites[id.Site]
		switch pool := s.Pools[id.Pool].Name; {
		case r.change != nil:
			r.change.SetAnswer(s.Name, pool, a)
		case r.fresh != nil:
			r.fresh.SetAnswer(s.Name, pool, a)
		}
	}
	switch {
	case r.change != nil:
		n.mu.Lock()
		n.kept = r.kept
		maps.Copy(n.stored, n.server.Serials()) // of zones that leave, and come back to another server
		n.mu.Unlock()
		r.change.Commit()
	case r.fresh != nil:
		n.mu.Lock()
		n.kept = r.kept
		n.mu.Unlock()
		n.run(r.fresh)
	default:
		n.retire()
	}
	r.ended = true
}

// discard gives it up, if it has not been put in place.
func (r *renaming) discard() {
	switch {
	case r.ended:
	case r.change != nil:
		r.change.Discard()
	case r.fresh != nil:
		// One that is served until now closes its addresses.
		ctx, stop := context.WithCancel(context.Background())
		stop()
		if err := r.fresh.Serve(ctx); err != nil {
			r.names.log.Error("close the addresses of a configuration that was given up", "error", err)
		}
	}
	r.ended = true
}
