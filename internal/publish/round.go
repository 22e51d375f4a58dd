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

// turn is what has come of a round.
type turn struct {
	providers.Outcome
	// synced: all records are as they should be; what failed, if anything has, is
	// what the target has beside them.
	synced bool
}

// through says that the records are as they should be, but for those that the target
// has refused to change.
func (t *turn) through() bool { return t.synced || t.Verified != nil && len(t.Refused) > 0 }

// round makes one round.
func (m *member) round() {
	ctx, cancel := context.WithCancel(m.life)
	defer cancel()
	if !m.take(ctx) {
		return
	}
	defer m.give()
	m.mu.Lock()
	if m.stopped() || m.kept.Disabled != nil || m.halted() {
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
	got := turn{Outcome: out, synced: err == nil}
	if err == nil && !r.DryRun {
		err = m.settle(ctx, &goal)
	}
	m.mu.Lock()
	m.cancel = nil
	if err != nil && ctx.Err() != nil { // an order to leave it alone has ended it, or a reload
		err = providers.ErrStale
	}
	held := errors.Is(err, providers.ErrStale) && m.halted()
	m.mu.Unlock()
	if m.p.life.Err() != nil {
		return // it is the stop that has ended it
	}
	result := resultOf(err)
	if held {
		result = Held
	}
	m.p.deps.Meter.Synced(m.name, m.server.Name, result, time.Since(start))
	m.ended(ctx, &goal, &got, err)
	m.mu.Lock()
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
			return m.version != version || m.stopped() || m.kept.Disabled != nil || m.halted()
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
func (m *member) ended(ctx context.Context, goal *aim, out *turn, err error) {
	now := time.Now()
	m.mu.Lock()
	first := m.st.compared.IsZero()
	m.found(now, &out.Outcome, err)
	aborted := m.stopped() || m.kept.Disabled != nil
	soon := out.Untried() && (out.Taken || len(m.st.late) == 0) // it may take the rest
	if err == nil || len(out.Last.Changes) > 0 {                // otherwise it was not read
		m.st.late = out.Late(m.st.late)
	}
	m.mu.Unlock()
	m.remember(out)
	stale := errors.Is(err, providers.ErrStale)
	if stale && !out.synced || err != nil && aborted {
		return
	}
	m.took(now, goal, out)
	switch {
	case stale: // and has the records as they should be, but for what is newer
	case err != nil:
		m.failed(now, goal, out, soon, err)
	default:
		m.well(goal, out)
	}
	if !out.through() {
		return
	}
	m.mu.Lock()
	out.First, m.begun = joined(m.begun, out.First), providers.Plan{}
	m.mu.Unlock()
	m.drifted(now, &out.Outcome)
	m.conflicts(&out.Last)
	if !m.settings().DryRun {
		m.inspect(ctx, goal, now)
		m.look(&out.Outcome, first)
	}
}

// found notes what a round has read and written. The caller holds mu.
func (m *member) found(now time.Time, out *providers.Outcome, err error) {
	if out.Listing.Entries != nil || err == nil {
		m.st.plan, m.st.listing = out.Last, out.Listing
	}
	m.st.writes += uint64(out.Writes)
	if out.Writes > 0 {
		m.st.changed = now
		m.begun = joined(m.begun, out.First)
	}
}

// took notes what the round has brought the target to.
func (m *member) took(now time.Time, goal *aim, out *turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.st.shut++
	if m.st.through = out.through(); m.st.through {
		m.st.compared, m.st.brought, m.st.shut = now, goal.version, 0
	}
	if !out.synced {
		return
	}
	m.st.done = goal.version
	m.unsure, m.otherwise = false, nil
	if m.orders == goal.orders {
		m.free, m.ordered = false, false
	}
}

// well takes in a round after which nothing is left to do.
func (m *member) well(goal *aim, out *turn) {
	m.mu.Lock()
	m.st.orders = goal.orders
	m.st.err, m.st.class, m.st.fails, m.st.retry, m.st.refused = nil, providers.Transient, 0, time.Time{}, nil
	m.mu.Unlock()
	m.p.deps.Log.Debug("a target was compared", "target", m.title(), "writes", out.Writes)
	m.solved(slotFailed, m.title()+" holds what it should again.")
}

// remember keeps what a round has learnt of the target.
func (m *member) remember(out *turn) {
	m.save(func(k *kept) {
		if !m.traits.Marks {
			k.Owned = toKept(out.Owned)
		}
		if out.Verified != nil && out.through() && !m.target.DryRun {
			k.verified(&out.Outcome)
		}
		if m.traits.Marks {
			k.Owned = nil
		}
	})
}
