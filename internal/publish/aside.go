package publish

import (
	"context"
	"errors"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// aside makes a call that no record needs, if it is due, for at most a time. It gives way
// to what is to be sent. The caller has the provider; due is asked with mu held.
func (m *member) aside(ctx context.Context, limit time.Duration, due func() bool, call func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m.mu.Lock()
	if !due() {
		m.mu.Unlock()
		return errGaveWay
	}
	m.looking = cancel
	m.mu.Unlock()
	err := m.contain(func() error { return providers.Within(ctx, 0, call) })
	m.mu.Lock()
	m.looking = nil
	m.mu.Unlock()
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return errGaveWay
	}
	return err
}

// errGaveWay is a call that is not due, or has ended for something to be sent or a stop.
var errGaveWay = errors.New("something is to be sent")

// yield has a call that no record needs give way to what is to be sent now.
// The caller holds mu.
func (m *member) yield() {
	if m.looking != nil && (m.kept.Disabled != nil || !m.halted()) {
		m.looking()
	}
}

// inspect asks a target now and then what else a person should know of it, where
// nothing waits that is newer than the round.
func (m *member) inspect(ctx context.Context, goal *aim, now time.Time) {
	due := func() bool {
		fresh := !m.st.lookedAt.IsZero() && now.Sub(m.st.lookedAt) < inspectEvery
		return !fresh && m.version == goal.version && !m.kicked && !m.stopped() && m.kept.Disabled == nil
	}
	var found providers.Inspection
	err := m.aside(ctx, callWithin, due, func(ctx context.Context) (err error) {
		found, err = m.provider.Inspect(ctx)
		return err
	})
	if errors.Is(err, errGaveWay) {
		return
	}
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

// settle sets what a target has beside its records. It is looked at in each
// comparison, for a hand may change it when no record moves.
func (m *member) settle(ctx context.Context, goal *aim) error {
	s, ok := m.provider.(providers.Settler)
	if !ok {
		return nil
	}
	due := func() bool {
		return m.version == goal.version && !m.stopped() && m.kept.Disabled == nil && !m.halted()
	}
	err := m.aside(ctx, callWithin, due, s.Settle)
	if errors.Is(err, errGaveWay) {
		return providers.ErrStale
	}
	return err
}
