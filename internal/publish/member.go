package publish

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// member is one server of a target, and the goroutine that keeps it.
type member struct {
	p                     *Publisher
	key, name, site, kind string
	traits                providers.Traits
	server                *Server
	circuit               *providers.Circuit // of its credentials; the provider is behind it
	provider              providers.Provider
	old                   *member // the one that it takes the place of; nil once that has ended
	wake                  chan struct{}
	done                  chan struct{}
	busy                  chan struct{} // holds one while the provider is in use
	eye                   *eye
	alone                 atomic.Bool // the target has no other server

	mu     sync.Mutex
	target Target // without servers
	kept   kept
	heir   *member // what is kept is that one's now
	// desired is what it is to hold; version counts the changes of it. Nothing
	// is sent before it is known.
	desired Desired
	known   bool
	version uint64
	// kicked asks for a comparison, free lets removals go that the guard holds.
	kicked, free bool
	// ordered: an operator's order lets it go though its site is held. orders counts
	// those orders and the ones that set free: only a round that began after the last
	// of them ends what they let go, and met is up to which the last that has ended knew them.
	ordered   bool
	orders    uint64
	met       uint64
	stopped   bool
	cancel    context.CancelFunc // of the round under way
	st        standing
	turned    chan struct{} // is closed when the next round has ended
	repairs   map[providers.Key][]time.Time
	born      time.Time
	lookUntil time.Time // it was found changed, and is looked at again until then
	doubted   time.Time // when an answer last led to a comparison
	// unsure: it is held, and to be read because of an answer; otherwise are the
	// RRsets that were then read to be other than they should be.
	unsure    bool
	otherwise map[providers.Key]bool
	strange   []time.Time // comparisons that found what another instance may do
	stranger  string      // and what the last one has left there of it
}

// standing is how a member fares.
type standing struct {
	err   error
	class providers.Class
	since time.Time // when it began to fail
	fails int       // rounds in a row
	// refused are the RRsets that the target would not change, where the rest of
	// the last round went through; late those that are to be tried last.
	refused  []providers.Refusal
	late     []providers.Key
	retry    time.Time // zero where nothing is to be tried by itself
	compared time.Time
	changed  time.Time
	writes   uint64
	done     uint64 // the version that was verified
	plan     providers.Plan
	listing  providers.Listing
	lookedAt time.Time // of the inspection
	looked   providers.Inspection
}

func newMember(p *Publisher, key string, t *target, s *Server, provider providers.Provider) *member {
	m := &member{
		p: p, key: key, name: t.Name, site: t.Site, kind: t.Kind, traits: t.Traits, server: s, provider: provider,
		wake: make(chan struct{}, 1), done: make(chan struct{}), busy: make(chan struct{}, 1),
		repairs: map[providers.Key][]time.Time{}, turned: make(chan struct{}), born: time.Now(),
	}
	m.alone.Store(len(t.Servers) == 1)
	m.eye = newEye(m)
	return m
}

// configure takes the settings that need no other provider.
func (m *member) configure(t *Target) {
	m.mu.Lock()
	m.alone.Store(len(t.Servers) == 1)
	spec := *t
	spec.Servers = nil // what makes them is another function each time
	changed := !reflect.DeepEqual(m.target, spec)
	m.target = spec
	m.kicked = m.kicked || changed
	if m.old != nil && !m.known && m.old.site == m.site {
		m.old.mu.Lock()
		m.desired, m.known = m.old.desired, m.old.known
		m.old.mu.Unlock()
		m.version++
	}
	if changed {
		m.st.retry = time.Time{}
	}
	m.mu.Unlock()
	m.rouse()
}

func (m *member) rouse() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// settings gives the target's, as they are now.
func (m *member) settings() Target {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.target
}

// want takes what is to be there from now on.
func (m *member) want(d Desired) {
	m.mu.Lock()
	same := m.known && slices.Equal(m.desired.Records, d.Records) && slices.Equal(m.desired.Emptied, d.Emptied) && slices.Equal(m.desired.Unknown, d.Unknown)
	m.desired = d
	m.known = true
	m.eye.desire(d.Records)
	if !same {
		m.version++
		if m.st.class != providers.Denied && m.st.class != providers.Permanent || m.st.refused != nil {
			m.st.retry = time.Time{} // a move does not wait for the pause of an older one
		}
	}
	m.mu.Unlock()
	if !same {
		m.rouse()
	}
}

// kick asks for a comparison now.
func (m *member) kick() {
	m.mu.Lock()
	m.kicked = true
	if m.st.class == providers.Transient || m.st.class == providers.Declined {
		m.st.retry = time.Time{}
	}
	m.mu.Unlock()
	m.rouse()
}

// stop ends the member; its provider is closed by its goroutine.
func (m *member) stop() {
	m.mu.Lock()
	m.stopped = true
	if m.cancel != nil {
		m.cancel()
	}
	m.mu.Unlock()
	m.rouse()
}

// run keeps the target until life ends or it is stopped.
func (m *member) run(life context.Context) {
	defer close(m.done)
	defer m.eye.close()
	defer m.close()
	if m.old != nil {
		select {
		case <-m.old.done:
		case <-life.Done():
			return
		}
		m.inherit()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		due, wait := m.due(time.Now())
		if due && life.Err() == nil {
			m.round(life)
			continue
		}
		timer.Reset(wait)
		select {
		case <-life.Done():
			return
		case <-m.wake:
		case <-timer.C:
		}
		m.mu.Lock()
		stopped := m.stopped
		m.mu.Unlock()
		if stopped {
			return
		}
	}
}

// succeed has operators' orders be for this one from now on, though the one that it
// takes the place of has not ended yet.
func (m *member) succeed() {
	if m.old == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.old.mu.Lock()
	defer m.old.mu.Unlock()
	m.kept = m.old.kept.clone()
	m.free, m.ordered = m.old.free, m.old.ordered && m.old.site == m.site // what was not carried out yet
}

// inherit takes over from the member that this one takes the place of, but for what
// was ordered of this one meanwhile.
func (m *member) inherit() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.old.mu.Lock()
	defer m.old.mu.Unlock()
	ordered := m.kept.Disabled
	m.kept = m.old.kept.clone()
	m.kept.Disabled = ordered
	m.old.heir, m.old = m, nil
	m.p.deps.Store.Set(m.key, m.encode())
}

// before gives the member that this one takes the place of and that has not ended yet;
// nil for none.
func (m *member) before() *member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.old
}

// present gives the member that has what is kept: m, or the one that took its place.
func (m *member) present() *member {
	for {
		m.mu.Lock()
		heir := m.heir
		m.mu.Unlock()
		if heir == nil {
			return m
		}
		m = heir
	}
}

// close ends the session. A provider that hangs is left behind.
func (m *member) close() {
	go func() {
		if err := m.provider.Close(); err != nil {
			m.p.deps.Log.Debug("close a target", "target", m.title(), "error", err)
		}
	}()
}

// idle is how long a member sleeps that has nothing to do.
const idle = time.Hour

// due says whether a round is to be made now, or how long to wait.
func (m *member) due(now time.Time) (bool, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := m.halted()
	if m.stopped || !m.known || m.kept.Disabled != nil || held && !m.unsure || m.circuit.Spent() {
		return false, idle
	}
	if at := later(m.st.retry, m.circuit.Next()); at.After(now) {
		return false, at.Sub(now)
	}
	if held || m.kicked || m.version != m.st.done || m.st.err != nil {
		return true, 0
	}
	next := m.target.Reconcile.Next(m.st.compared)
	for _, again := range []time.Time{m.repairAgain(m.st.plan.Held), m.lookAgain()} {
		if !again.IsZero() && again.Before(next) {
			next = again
		}
	}
	if !next.After(now) {
		return true, 0
	}
	return false, min(next.Sub(now), idle)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// holds says whether anything of ours is there.
func (m *member) holds() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.kept.Last)+len(m.kept.Owned)+len(m.kept.Flight) > 0
}
