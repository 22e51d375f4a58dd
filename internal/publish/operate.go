package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// ErrUnknown is a target that is not configured.
var ErrUnknown = errors.New("there is no such target")

// Planned is what a push to one server would change.
type Planned struct {
	Name, Server string
	Err          error
	Plan         providers.Plan
	// Repair is when what somebody has changed is put right, where that waits.
	Repair time.Time
}

// Plan lists what is at a target now and says what a push would change; at all
// targets for "". It changes nothing. Denied credentials count here too.
func (p *Publisher) Plan(ctx context.Context, name string) ([]Planned, error) {
	members := p.find(name)
	if len(members) == 0 && name != "" {
		return nil, ErrUnknown
	}
	list := make([]Planned, len(members))
	var all sync.WaitGroup
	for i, m := range members { // one that is silent holds up no other
		all.Go(func() {
			list[i] = Planned{Name: m.name, Server: m.server.Name}
			out, err := m.peek(ctx)
			list[i].Plan, list[i].Err = out.First, err
			m.mu.Lock()
			list[i].Repair = m.repairAgain(out.First.Held)
			m.mu.Unlock()
		})
	}
	all.Wait()
	return list, nil
}

// peek makes a round that changes nothing.
func (m *member) peek(ctx context.Context) (providers.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	known := func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.known {
			return errors.New("what it should hold is not known yet: its site was not seen since the start")
		}
		return nil
	}
	return m.study(ctx, known, func(*providers.Round) {})
}

// Disable has nothing sent to a target from now on, and removes nothing. What is
// under way ends first, within ctx.
func (p *Publisher) Disable(ctx context.Context, name string, o Order) error {
	p.obey(name, func(m *member) { m.disable(o) })
	return p.each(name, func(m *member) error {
		err := p.deps.Store.Flush(ctx)
		_ = m.use(ctx, func(context.Context) error { return nil })
		return err
	})
}

// obey has an order in force at all servers of a target that are configured at this
// moment; of one that is unknown there are none.
func (p *Publisher) obey(name string, f func(*member)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.those(name) {
		if m.name == name {
			f(m)
		}
	}
}

// Disabled says whether an operator has a target left alone.
func (p *Publisher) Disabled(name string) bool {
	return slices.ContainsFunc(p.find(name), (*member).disabled)
}

func (m *member) disabled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept.Disabled != nil
}

// disable has the order in force.
func (m *member) disable(o Order) {
	m.mu.Lock()
	m.ordain(&o)
	if m.cancel != nil {
		m.cancel()
	}
	m.yield()
	m.mu.Unlock()
	m.eye.forget()
}

// ordain keeps whether it is disabled. The one that it takes the place of keeps it too: what
// that one stores until it has ended stands for both. The caller holds mu.
func (m *member) ordain(o *Order) {
	m.kept.Disabled = o
	m.store()
	if m.old != nil {
		m.old.mu.Lock()
		defer m.old.mu.Unlock()
		m.old.ordain(o)
	}
}

func (p *Publisher) each(name string, f func(*member) error) error {
	members := p.find(name)
	if len(members) == 0 || name == "" {
		return ErrUnknown
	}
	var errs []error
	for _, m := range members {
		errs = append(errs, f(m))
	}
	return errors.Join(errs...)
}

// Adopt takes over records of others that are addresses of nodes that may serve
// their name, of one host name or of all for "". Where do is false it only says
// which.
func (p *Publisher) Adopt(ctx context.Context, name, host string, do bool) (found []providers.Entry, err error) {
	err = p.each(name, func(m *member) error {
		list, err := m.adopt(ctx, host, do)
		found = append(found, list...)
		return err
	})
	return found, err
}

func (m *member) adopt(ctx context.Context, host string, do bool) ([]providers.Entry, error) {
	out, err := m.peek(ctx)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	desired, owned := m.desired, fromKept(m.kept.Owned)
	m.mu.Unlock()
	var found []providers.Entry
	var adopt []providers.Record
	for _, e := range out.Listing.Entries {
		mine := e.Marked || slices.ContainsFunc(owned, func(r providers.Record) bool { return r.Name == e.Name && r.Addr == e.Addr })
		if mine || e.Fixed || e.Disabled || host != "" && e.Name != host || !slices.Contains(desired.Nodes[e.Name], e.Addr) {
			continue
		}
		found, adopt = append(found, e), append(adopt, e.Record)
	}
	if !do || len(found) == 0 {
		return found, nil
	}
	return found, m.special(ctx, m.leftAlone, func(r *providers.Round) { r.Adopt = adopt })
}

// Purge removes all that is ours from a target and disables it: it would be
// filled again otherwise. Where do is false it only says what.
func (p *Publisher) Purge(ctx context.Context, name string, o Order, do bool) (found []providers.Entry, err error) {
	if do {
		if err := p.each(name, (*member).onlyLooked); err != nil {
			return nil, err
		}
		if err := p.Disable(ctx, name, o); err != nil {
			return nil, err
		}
	}
	err = p.each(name, func(m *member) error {
		var all []providers.Entry
		nothing := func(r *providers.Round) {
			r.Desired, r.Emptied, r.Input.Last, r.Leave, r.Untouched = nil, nil, nil, nil, nil
			r.Policy = providers.Policy{DeleteGuard: 100}
		}
		out, err := m.study(ctx, func() error { return nil }, nothing)
		if err != nil {
			return err
		}
		for _, c := range out.First.Changes {
			all = append(all, c.Remove...)
		}
		found = append(found, all...)
		if !do {
			return nil
		}
		return m.special(ctx, m.leftToUs, nothing)
	})
	return found, err
}

// onlyLooked refuses what would write to a target that is only looked at.
func (m *member) onlyLooked() error {
	if m.settings().DryRun {
		return fmt.Errorf("%s has dry_run set, so nothing is sent to it: take that out of the configuration first", m.title())
	}
	return nil
}

// leftAlone refuses what would write to a target that is disabled, or only looked at.
func (m *member) leftAlone() error {
	if m.disabled() {
		return fmt.Errorf("%s is disabled, so nothing is sent to it: enable it first", m.title())
	}
	return m.onlyLooked()
}

// leftToUs refuses to empty a target that is filled again, or only looked at.
func (m *member) leftToUs() error {
	if !m.disabled() {
		return fmt.Errorf("%s was enabled meanwhile, so nothing is removed there", m.title())
	}
	return m.onlyLooked()
}
