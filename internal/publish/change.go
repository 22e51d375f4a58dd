package publish

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/dnsteer/dnsteer/providers"
)

// Change is another configuration, ready to be put in place.
type Change struct {
	p       *Publisher
	targets []*target
	fresh   []*member
	old     map[string]*member
	// circuits of all that is configured now.
	circuits map[any]*providers.Circuit
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
	c := &Change{p: p, old: map[string]*member{}, circuits: map[any]*providers.Circuit{}}
	for _, m := range p.find("") {
		c.old[m.key] = m
	}
	stored := p.deps.Store.Get()
	for _, spec := range list {
		t := &target{Target: spec}
		for i := range spec.Servers {
			m, err := c.member(t, &spec.Servers[i], stored)
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
	keys := c.swap()
	for _, key := range slices.Sorted(maps.Keys(c.old)) {
		if !keys[key] {
			c.old[key].depart()
		}
	}
	c.p.orphaned(func(key string) bool { return keys[key] || c.old[key] != nil })
}

// swap puts it in place, and gives the keys of its members.
func (c *Change) swap() (keys map[string]bool) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range c.fresh {
		m.place()
	}
	stay := map[*member]bool{}
	keys = map[string]bool{}
	for _, t := range c.targets {
		for _, m := range t.members {
			stay[m], keys[m.key] = true, true
			m.configure(&t.Target)
		}
	}
	for _, m := range c.old {
		if !stay[m] {
			m.end()
		}
	}
	p.targets, p.circuits = c.targets, c.circuits
	if !p.closed {
		for _, m := range c.fresh {
			p.all.Go(m.run)
		}
	}
	return keys
}

// member gives the member of a server: the one in place if it stays.
func (c *Change) member(t *target, s *Server, stored map[string][]byte) (*member, error) {
	key := t.Name + " " + s.Name
	was := c.old[key]
	circuit := c.circuit(s)
	if was != nil && reflect.DeepEqual(was.server.Config, s.Config) && was.kind == t.Kind && was.site == t.Site && was.traits == t.Traits {
		return was, nil
	}
	provider, err := s.Connect()
	if err != nil {
		return nil, err
	}
	m := newMember(c.p, key, t, s, circuit.Guard(provider))
	m.circuit = circuit
	m.old = was
	if was == nil {
		m.restore(stored[key])
	} else {
		m.busy <- struct{}{} // until it has inherited
	}
	return m, nil
}

// circuit gives that of a server: credentials that were refused stay so over a
// change of anything else.
func (c *Change) circuit(s *Server) *providers.Circuit {
	login := s.Login
	if login == nil {
		return providers.NewCircuit(providers.CircuitTries)
	}
	if c.circuits[login] == nil {
		c.p.mu.Lock()
		c.circuits[login] = c.p.circuits[login]
		c.p.mu.Unlock()
	}
	if c.circuits[login] == nil {
		c.circuits[login] = providers.NewCircuit(providers.CircuitTries)
	}
	return c.circuits[login]
}

// Circuit gives that of the credentials of a server that is configured, by its Login, for
// calls beside those of the publisher.
func (p *Publisher) Circuit(login any) *providers.Circuit {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.circuits[login]; login != nil && c != nil {
		return c
	}
	return providers.NewCircuit(providers.CircuitTries)
}

// Gone is a server that a configuration has no more.
type Gone struct {
	// Title names it for people.
	Target, Server, Title string
	// Stays: its target is configured still, with other servers. Marks: what is ours
	// there is known by its marks, whatever the server is called.
	Stays, Marks bool
}

// Left lists the servers that a configuration has no more and that hold something of
// ours, which cannot be reached from now on.
func (p *Publisher) Left(list []Target) (gone []Gone) {
	p.mu.Lock()
	defer p.mu.Unlock()
	servers, targets := map[string]bool{}, map[string]bool{}
	for _, t := range list {
		targets[t.Name] = true
		for _, s := range t.Servers {
			servers[t.Name+" "+s.Name] = true
		}
	}
	for _, t := range p.targets {
		for _, m := range t.members {
			if !servers[m.key] && m.holds() {
				gone = append(gone, Gone{Target: m.name, Server: m.server.Name, Title: m.title(), Stays: targets[m.name], Marks: m.traits.Marks})
			}
		}
	}
	return gone
}
