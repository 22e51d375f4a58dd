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
	"reflect"
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
	// SetNow stores a value and everything that was set before, and returns when
	// that lasts.
	SetNow(ctx context.Context, key string, value []byte) error
}

// Deps are what the publisher needs. None of the functions waits unless it has a
// context.
type Deps struct {
	Store Store
	// Tell enters an event. It is made when its turn comes; ok false enters
	// none.
	Tell func(event func() (e sites.Event, ok bool))
	// Ask asks a DNS server for the addresses of a name.
	Ask func(ctx context.Context, server netip.AddrPort, name string, v6 bool) ([]netip.Addr, error)
	Log *slog.Logger
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
	lost    map[string]bool // sites that cannot be seen
	closed  bool
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
	p := &Publisher{deps: d, lost: map[string]bool{}}
	p.life, p.die = context.WithCancel(context.Background())
	return p
}

// Change is another configuration, ready to be put in place.
type Change struct {
	p       *Publisher
	targets []*target
	fresh   []*member
	old     map[string]*member
}

// Use prepares a configuration and puts it in place.
func (p *Publisher) Use(list []Target) error {
	c, err := p.Prepare(list)
	if err == nil {
		c.Commit()
	}
	return err
}

// Prepare does all of a change of the configuration that can fail. It dials
// nothing and changes nothing. One change is prepared and committed at a time.
func (p *Publisher) Prepare(list []Target) (*Change, error) {
	c := &Change{p: p, old: map[string]*member{}}
	for _, m := range p.find("") {
		c.old[m.key] = m
	}
	stored := p.deps.Store.Get()
	for _, spec := range list {
		t := &target{Target: spec}
		for i := range spec.Servers {
			m, err := p.member(t, &spec.Servers[i], c.old, stored)
			if err != nil {
				return nil, fmt.Errorf("target %s: %w", spec.Name, err)
			}
			if c.old[m.key] != m {
				c.fresh = append(c.fresh, m)
			}
			t.members = append(t.members, m)
		}
		c.targets = append(c.targets, t)
	}
	return c, nil
}

// Commit puts it in place. Targets that stay as they are go on; others are
// stopped and begin anew, once what they were about has ended. It waits for
// nothing.
func (c *Change) Commit() {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	stay := map[*member]bool{}
	for _, t := range c.targets {
		for _, m := range t.members {
			stay[m] = true
			m.configure(&t.Target)
		}
	}
	for _, m := range c.old {
		if !stay[m] {
			m.stop()
		}
	}
	p.targets = c.targets
	if !p.closed {
		for _, m := range c.fresh {
			p.all.Go(func() { m.run(p.life) })
		}
	}
}

// member gives the member of a server: the one in place if it stays.
func (p *Publisher) member(t *target, s *Server, old map[string]*member, stored map[string][]byte) (*member, error) {
	key := t.Name + " " + s.Name
	was := old[key]
	if was != nil && reflect.DeepEqual(was.server.Config, s.Config) && was.kind == t.Kind {
		return was, nil
	}
	provider, err := s.Connect()
	if err != nil {
		return nil, err
	}
	m := newMember(p, key, t, s, provider)
	m.old = was
	if was == nil {
		m.restore(stored[key])
	}
	return m, nil
}

// Left names the servers that a configuration has no more: what we own there
// cannot be reached from now on.
func (p *Publisher) Left(list []Target) (gone []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stay := map[string]bool{}
	for _, t := range list {
		for _, s := range t.Servers {
			stay[t.Name+" "+s.Name] = true
		}
	}
	for _, t := range p.targets {
		for _, m := range t.members {
			if !stay[m.key] && m.holds() {
				gone = append(gone, m.title())
			}
		}
	}
	return gone
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

// Seen says whether a site can be seen: that a target of one that cannot does
// not answer either is no news.
func (p *Publisher) Seen(site string, seen bool) {
	p.mu.Lock()
	p.lost[site] = !seen
	p.mu.Unlock()
	if seen {
		p.Compare(site)
	}
}

func (p *Publisher) isLost(site string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost[site]
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
	deniedPause  = 5 * time.Minute
	deniedTries  = 3
	inspectEvery = time.Hour
)
