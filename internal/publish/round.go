package publish

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/logging"
	"github.com/dnsteer/dnsteer/providers"
)

// aim is what a round was made for: what is newer than that, it knows nothing of.
type aim struct {
	version, orders uint64
	desired         Desired
}

// round makes one round.
func (m *member) round(life context.Context) {
	ctx, cancel := context.WithCancel(life)
	defer cancel()
	if !m.take(ctx) {
		return
	}
	defer m.give()
	m.mu.Lock()
	if m.stopped || m.kept.Disabled != nil || m.halted() {
		m.mu.Unlock()
		m.glance(ctx)
		return
	}
	m.cancel = cancel
	m.kicked = false
	goal := aim{m.version, m.orders, m.desired}
	r := m.make(m.free)
	m.mu.Unlock()
	start := time.Now()
	out, err := m.sync(ctx, r)
	if err == nil && !r.DryRun {
		err = m.settle(ctx, r.Stale)
	}
	m.mu.Lock()
	m.cancel = nil
	held := errors.Is(err, providers.ErrStale) && m.halted()
	m.mu.Unlock()
	if life.Err() != nil {
		return // it is the stop that has ended it
	}
	result := resultOf(err)
	if held {
		result = Held
	}
	m.p.deps.Meter.Synced(m.name, m.server.Name, result, time.Since(start))
	m.ended(ctx, &goal, &out, err)
	m.mu.Lock()
	m.met = goal.orders
	close(m.turned)
	m.turned = make(chan struct{})
	m.mu.Unlock()
}

// take takes the provider, which one at a time may use.
func (m *member) take(ctx context.Context) bool {
	select {
	case m.busy <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *member) give() { <-m.busy }

// make makes a round. The caller holds mu.
func (m *member) make(free bool) *providers.Round {
	version := m.version
	guard := m.target.DeleteGuard
	if free {
		guard = 100
	}
	return &providers.Round{
		Provider: m.provider,
		Input: providers.Input{
			Desired: m.desired.Records, Emptied: m.desired.Emptied, Untouched: m.desired.Unknown, Traits: m.traits,
			Owned: fromKept(m.kept.Owned), Last: m.kept.last(), Unsure: m.kept.unsure(), Leave: m.leave(time.Now()),
			Policy: providers.Policy{CreateOnly: m.target.CreateOnly, DeleteGuard: guard, KeepDrift: m.target.Drift != Repair},
		},
		Keep: m.claim, Ready: m.ready, ListWithin: listWithin, Deadline: callWithin, DryRun: m.target.DryRun,
		Late: slices.Clone(m.st.late),
		Stale: func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.version != version || m.stopped || m.kept.Disabled != nil || m.halted()
		},
	}
}

// sync carries a round out. A panic in a provider is its own error.
func (m *member) sync(ctx context.Context, r *providers.Round) (out providers.Outcome, err error) {
	err = m.contain(func() (err error) {
		out, err = r.Sync(ctx)
		return err
	})
	return out, err
}

// settle sets what a target has beside its records. It is looked at in each
// comparison, for a hand may change it when no record moves.
func (m *member) settle(ctx context.Context, stale func() bool) error {
	s, ok := m.provider.(providers.Settler)
	switch {
	case !ok:
		return nil
	case stale():
		return providers.ErrStale
	}
	return m.contain(func() error { return providers.Within(ctx, callWithin, s.Settle) })
}

// contain makes an error of a panic.
func (m *member) contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			m.p.deps.Log.Error("a target's provider has panicked", "target", m.title(), "panic", v, "stack", string(debug.Stack()))
			err = &providers.Error{Class: providers.Permanent, Err: fmt.Errorf("a fault in dnsteer itself: %s", logging.Panic(v))}
		}
	}()
	return f()
}

// ended takes in how a round has ended.
func (m *member) ended(ctx context.Context, goal *aim, out *providers.Outcome, err error) {
	now := time.Now()
	m.mu.Lock()
	first := m.st.compared.IsZero()
	if out.Listing.Entries != nil || err == nil {
		m.st.plan, m.st.listing = out.Last, out.Listing
	}
	m.st.writes += uint64(out.Writes)
	if out.Writes > 0 {
		m.st.changed = now
	}
	aborted := m.stopped || m.kept.Disabled != nil
	soon := out.Untried() && (out.Taken || len(m.st.late) == 0) // it may take the rest
	if err == nil || len(out.Last.Changes) > 0 {                // otherwise it was not read
		m.st.late = out.Late(m.st.late)
	}
	m.mu.Unlock()
	m.remember(out, err)
	switch {
	case errors.Is(err, providers.ErrStale) || err != nil && aborted:
		return
	case err != nil:
		m.failed(now, goal.desired, out, soon, err)
		if !partly(out) {
			return
		}
		m.mu.Lock()
		m.st.compared = now
		m.mu.Unlock()
	default:
		m.mu.Lock()
		m.st.compared, m.st.done = now, goal.version
		if m.orders == goal.orders {
			m.free, m.ordered = false, false
		}
		m.unsure, m.otherwise = false, nil
		m.st.err, m.st.class, m.st.fails, m.st.retry, m.st.refused = nil, providers.Transient, 0, time.Time{}, nil
		m.mu.Unlock()
		m.p.deps.Log.Debug("a target was compared", "target", m.title(), "writes", out.Writes)
		m.solved(slotFailed, m.title()+" holds what it should again.")
	}
	m.drifted(now, out)
	m.conflicts(&out.Last)
	if !m.settings().DryRun {
		m.inspect(ctx, now)
		m.look(out, first)
	}
}

// remember keeps what a round has learnt of the target.
func (m *member) remember(out *providers.Outcome, err error) {
	m.save(func(k *kept) {
		if !m.traits.Marks {
			k.Owned = toKept(out.Owned)
		}
		if out.Verified != nil && (err == nil || partly(out)) && !m.target.DryRun {
			k.verified(out)
		}
		if m.traits.Marks {
			k.Owned = nil
		}
	})
}

// partly says that a round went through, and the target has refused some of it: the
// rest is as it should be.
func partly(out *providers.Outcome) bool { return out.Verified != nil && len(out.Refused) > 0 }

// inspect asks a target now and then what else a person should know of it.
func (m *member) inspect(ctx context.Context, now time.Time) {
	m.mu.Lock()
	fresh := !m.st.lookedAt.IsZero() && now.Sub(m.st.lookedAt) < inspectEvery
	m.mu.Unlock()
	if fresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	var found providers.Inspection
	err := m.contain(func() (err error) {
		found, err = m.provider.Inspect(ctx)
		return err
	})
	if err != nil {
		m.p.deps.Log.Debug("a target does not tell of itself", "target", m.title(), "error", err)
	}
	m.mu.Lock()
	m.st.lookedAt = now
	if err == nil {
		m.st.looked = found
	}
	m.mu.Unlock()
}
