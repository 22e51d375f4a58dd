package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// special makes a round of another kind, with what it leads to, unless not gives an error
// when its turn has come: another order may have come before it. What it has learnt is kept
// before a round after it learns what is newer.
func (m *member) special(ctx context.Context, not func() error, how func(*providers.Round)) error {
	defer m.kick()
	return m.use(ctx, func(ctx context.Context) error {
		if err := not(); err != nil {
			return err
		}
		r := m.other(how)
		out, err := m.sync(ctx, r)
		m.mu.Lock()
		m.found(time.Now(), &out, err)
		m.mu.Unlock()
		m.remember(&turn{Outcome: out, synced: err == nil})
		return err
	})
}

// studyAgain is how long a look that has given way waits for what is to be sent to begin.
const studyAgain = 500 * time.Millisecond

// study makes a round of another kind that changes nothing, unless not gives an error. It
// gives way to what is to be sent, and is made again after that.
func (m *member) study(ctx context.Context, not func() error, how func(*providers.Round)) (out providers.Outcome, err error) {
	for {
		err = m.use(ctx, func(ctx context.Context) error {
			if err := not(); err != nil {
				return err
			}
			r := m.other(how)
			r.DryRun = true
			return m.aside(ctx, listWithin, func() bool { return true }, func(ctx context.Context) (err error) {
				out, err = r.Sync(ctx)
				return err
			})
		})
		if !errors.Is(err, errGaveWay) || ctx.Err() != nil {
			return out, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(studyAgain):
		}
	}
}

// other makes a round of another kind, which only a stop ends for what is newer.
func (m *member) other(how func(*providers.Round)) *providers.Round {
	m.mu.Lock()
	r := m.make(false)
	m.mu.Unlock()
	r.Stale = m.stopped
	how(r)
	return r
}

// use makes a call with the provider, which ends when the member is stopped.
func (m *member) use(ctx context.Context, call func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.life, cancel)()
	err := fmt.Errorf("what is under way at %s has not ended in time: try again", m.title())
	if m.take(ctx) {
		err = call(ctx)
		m.give()
	}
	if err != nil && m.stopped() && m.p.life.Err() == nil {
		return fmt.Errorf("a change of the configuration has ended what was under way at %s: try again", m.title())
	}
	return err
}
