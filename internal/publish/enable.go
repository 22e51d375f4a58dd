package publish

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/providers"
)

// enableWithin is how long an order to enable waits for what comes of it.
const enableWithin = 20 * time.Second

// Enable has a target caught up with, be its site held or not. It also has refused credentials tried
// again, and lets removals go that the guard holds. It returns when the servers
// were caught up with; later says which will be later, and why. The error is that
// of those which could not be: they are enabled all the same.
func (p *Publisher) Enable(ctx context.Context, name string) (later string, err error) {
	ctx, cancel := context.WithTimeout(ctx, enableWithin)
	defer cancel()
	orders := map[*member]uint64{}
	p.obey(name, func(m *member) { orders[m] = m.enable() })
	for m := range orders {
		p.retry(m.circuit)
	}
	// An order that could not be stored is in force all the same.
	unstored := p.each(name, func(*member) error { return p.deps.Store.Flush(ctx) })
	if unstored != nil {
		return "", unstored
	}
	var waits []string
	err = p.each(name, func(m *member) error {
		wait, err := m.caughtUp(ctx, orders[m])
		if wait != "" {
			waits = append(waits, wait)
		}
		return err
	})
	return strings.Join(waits, " "), err
}

// enable has nothing hold the next round back but the circuit. It gives the order's
// number.
func (m *member) enable() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ordain(nil)
	m.st.retry = time.Time{}
	m.kicked, m.free, m.ordered = true, true, m.p.holds(m.site)
	m.orders++
	m.yield()
	return m.orders
}

// retry has credentials tried again by all that use them.
func (p *Publisher) retry(c *providers.Circuit) {
	c.Retry()
	for _, m := range p.find("") {
		if m.circuit == c {
			m.rouse()
		}
	}
}

// caughtUp waits until a server was caught up with by a round that knew of an order. It
// gives why that is to be waited for longer, or the error.
func (m *member) caughtUp(ctx context.Context, order uint64) (wait string, err error) {
	m.mu.Lock()
	known, stopped := m.known, m.stopped()
	m.mu.Unlock()
	next := m.circuit.Next()
	switch {
	case stopped:
		return "", ErrUnknown
	case !known:
		return fmt.Sprintf("%s is caught up with when its site was seen.", m.title()), nil
	case next.After(time.Now()):
		return "", fmt.Errorf("%s is enabled, but not caught up with: its credentials were refused just before, and are tried again at %s, so that nobody is locked out",
			m.title(), clock.Told(next, time.Now()))
	}
	for {
		m.mu.Lock()
		own := m.st.orders >= order // what earlier rounds have met says nothing of it
		err, current, dry := m.st.err, m.st.done == m.version, m.target.DryRun
		turned := m.turned
		m.mu.Unlock()
		switch {
		case !own:
		case err != nil && m.p.isLost(m.site):
			return m.unseen(), nil
		case err != nil:
			return "", fmt.Errorf("%s is enabled, but not caught up with: %w", m.title(), err)
		case current && dry:
			return fmt.Sprintf("%s is enabled, and only looked at: it has dry_run set, so nothing is sent to it.", m.title()), nil
		case current:
			return "", nil
		}
		select {
		case <-turned:
		case <-m.life.Done():
			return fmt.Sprintf("%s is enabled, and a change of the configuration has come before it was caught up with: \"dnsteer target show %s\" says how it goes.", m.title(), m.name), nil
		case <-ctx.Done():
			if m.p.isLost(m.site) {
				return m.unseen(), nil
			}
			return fmt.Sprintf("%s is enabled and being caught up with; that takes longer than this command waits. \"dnsteer target show %s\" says how it goes.", m.title(), m.name), nil
		}
	}
}

// unseen says why a target of a site that cannot be seen is caught up with later.
func (m *member) unseen() string {
	return fmt.Sprintf("%[1]s is enabled, and does not answer: nothing of %[2]s can be seen. It is tried again by itself, and caught up with once the line is back; \"dnsteer explain %[2]s\" says more.", m.title(), m.site)
}
