// Package publish keeps targets holding what the rules say. Each server of a
// target has a goroutine of its own: the newest desired state counts, and a
// target that hangs delays nobody but itself.
//
// What is to be pushed is stored before it is pushed (S1). The whole set is
// compared at each change, at the times of the configuration, and when a site or
// its resolver comes back; where nothing differs nothing is written. After an
// error nothing is known of the target: it is read again.
package publish

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// Store keeps what must survive a restart, by key. It is safe for concurrent
// use.
type Store interface {
	// Get gives what is stored.
	Get() map[string][]byte
	// Set has a value stored soon. It waits for nothing.
	Set(key string, value []byte)
	// Flush returns when everything lasts that was set before.
	Flush(ctx context.Context) error
}

// Deps are what the publisher needs. None of the functions waits unless it has a
// context.
type Deps struct {
	Store Store
	// Last is the last event that was stored before this start.
	Last uint64
	// Tell enters an event. It is made when its turn comes; ok false enters
	// none.
	Tell func(event func() (e sites.Event, ok bool))
	// Ask asks a DNS server for the addresses of a name.
	Ask func(ctx context.Context, server netip.AddrPort, name string, v6 bool) ([]netip.Addr, error)
	Log *slog.Logger
	// Meter is told what is done; nil is told nothing.
	Meter Meter
	// Jitter gives a share from 0 to 1 of a pause; nil is random.
	Jitter func() float64
}

// Drift says what becomes of a record of ours that somebody has changed.
type Drift uint8

// What becomes of it.
const (
	Repair Drift = iota // it is put right
	Report              // it is only told
	Accept              // it stands until the next move
)

// Target is what is configured of a target.
type Target struct {
	Name, Site, Kind string
	Traits           providers.Traits
	// Servers, which all get the same.
	Servers []Server
	// Reconcile is when the whole set is compared, whatever has changed.
	Reconcile  sites.Schedule
	DryRun     bool
	CreateOnly bool
	// DeleteGuard: see [providers.Policy].
	DeleteGuard int
	Drift       Drift
	// Resolvers of the site, which are asked whether they give what was pushed.
	Resolvers []netip.AddrPort
}

// Server is one server of a target.
type Server struct {
	// Name is host:port or the URL, without secrets.
	Name string
	// Connect makes the provider. It dials nothing.
	Connect func() (providers.Provider, error)
	// Config is what Connect uses: a server whose Config is another has another
	// provider.
	Config any
	// Login is comparable: servers with the same share what is known of their
	// credentials; nil is nobody else's.
	Login any
}

// Desired is what a target is to hold.
type Desired struct {
	Records []providers.Record
	// Emptied are names that are to have no address now (`on_empty: remove`).
	Emptied []string
	// Unknown are names whose answer is not known: they are left as they are.
	Unknown []string
	// Nodes are the addresses of the nodes that may serve a name, by name:
	// records of others with those can be adopted.
	Nodes map[string][]netip.Addr
}

// Publisher keeps all targets. It is safe for concurrent use.
type Publisher struct {
	deps Deps
	life context.Context
	die  context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	targets []*target
	// circuits of the log-ins that are configured, by Login.
	circuits map[any]*providers.Circuit
	closed   bool

	// seeing guards sights, which are by site. It may be locked while another
	// lock is held.
	seeing sync.Mutex
	sights map[string]sight
}

// target is a configured target with its members.
type target struct {
	Target
	members []*member
}

// New makes a publisher without targets.
func New(d Deps) *Publisher {
	if d.Jitter == nil {
		d.Jitter = rand.Float64
	}
	if d.Meter == nil {
		d.Meter = unmetered{}
	}
	p := &Publisher{deps: d, sights: map[string]sight{}, circuits: map[any]*providers.Circuit{}}
	p.life, p.die = context.WithCancel(context.Background())
	return p
}

// Want says what a target is to hold from now on. It waits for nothing.
func (p *Publisher) Want(name string, d Desired) {
	for _, m := range p.find(name) {
		m.want(d)
	}
}

// Compare has all targets of a site compared now.
func (p *Publisher) Compare(site string) {
	for _, m := range p.of(site) {
		m.kick()
	}
}

// Note learns of events that have entered, to resolve them later. It waits for
// nothing.
func (p *Publisher) Note(events []sites.Event) {
	for _, e := range events {
		if e.Target == "" {
			continue
		}
		for _, m := range p.find("") {
			if m.title() == e.Target {
				m.note(&e)
			}
		}
	}
}

// find gives the members of a target; of all for "".
func (p *Publisher) find(name string) (list []*member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.those(name)
}

// those is find for a caller that holds mu: no change of the configuration is put in
// place meanwhile.
func (p *Publisher) those(name string) (list []*member) {
	for _, t := range p.targets {
		if name == "" || t.Name == name {
			list = append(list, t.members...)
		}
	}
	return list
}

func (p *Publisher) of(site string) (list []*member) {
	for _, m := range p.find("") {
		if m.site == site {
			list = append(list, m)
		}
	}
	return list
}

// Close ends all work at once and waits for it as long as ctx lasts. Nothing is
// removed anywhere.
func (p *Publisher) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.die()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.all.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the targets did not end in time: %w", ctx.Err())
	}
}

// The limits of a member's work.
const (
	callWithin   = 10 * time.Second // one call; the first listing of a large table may take long
	listWithin   = time.Minute
	storeWithin  = 2 * time.Second
	backoffFirst = time.Second
	backoffMost  = time.Minute
	permanent    = 5 * time.Minute
	inspectEvery = time.Hour
)
