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
	old                   *member         // the one that it takes the place of; nil once that has ended
	life                  context.Context // from when it is in place until it is stopped
	end                   context.CancelFunc
	wake                  chan struct{}
	done                  chan struct{}
	busy                  chan struct{} // holds one while the provider is in use, or old is not done
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
	// of them ends what they let go.
	ordered   bool
	orders    uint64
	cancel    context.CancelFunc // of the round under way
	looking   context.CancelFunc // of a call that gives way; nil where there is none
	st        standing
	turned    chan struct{}  // is closed when the next round has ended
	begun     providers.Plan // found, and written to, since a round last went through
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
	shut  int       // of these the last ones, which did not go through
	// through: the last round went through, but for refused, which are the RRsets that
	// the target would not change, and for what it has beside its records; late are
	// those that are to be tried last.
	through  bool
	refused  []providers.Refusal
	late     []providers.Key
	retry    time.Time // zero where nothing is to be tried by itself
	compared time.Time
	changed  time.Time
	writes   uint64
	done     uint64 // the version that was verified
	brought  uint64 // the version that it was brought to, but for refused
	orders   uint64 // those that the last round knew of which tells how it fares
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
		m.version++ // a round under way goes by the settings before
		m.yield()
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
		m.yield()
		if m.st.class != providers.Denied && m.st.class != providers.Permanent || m.st.through {
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
	m.yield()
	if m.st.class == providers.Transient || m.st.class == providers.Declined || m.st.through {
		m.st.retry = time.Time{}
	}
	m.mu.Unlock()
	m.rouse()
}

// stopped says whether it has left the configuration, or another takes its place.
func (m *member) stopped() bool { return m.life.Err() != nil }

// run keeps the target until its life ends: then it ends what is under way, and closes
// the provider.
func (m *member) run() {
	defer close(m.done)
	defer m.eye.close()
	defer m.close()
	if m.old != nil {
		select {
		case <-m.old.done:
		case <-m.p.life.Done():
			return
		}
		m.inherit()
		m.give()
	}
	m.work()
	m.take(m.p.life) // from whoever uses it still; it is not given back
}

// work makes the rounds that are due.
func (m *member) work() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		due, wait := m.due(time.Now())
		if due {
			m.round()
			continue
		}
		timer.Reset(wait)
		select {
		case <-m.life.Done():
			return
		case <-m.wake:
		case <-timer.C:
		}
	}
}

// place has its life begin: operators' orders are for this one from now on, though the
// one that it takes the place of has not ended yet.
func (m *member) place() {
	m.life, m.end = context.WithCancel(m.p.life)
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

// inherit takes over from the member that this one takes the place of.
func (m *member) inherit() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.old.mu.Lock()
	defer m.old.mu.Unlock()
	m.kept, m.begun = m.old.kept.clone(), m.old.begun
	m.old.heir, m.old = m, nil
	m.store()
}

// before gives the member that this one takes the place of and that has not ended yet;
// nil for none.
func (m *member) before() *member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.old
}

// present gives the member that has what is kept, with its mu held: m, or the one that
// took its place.
func (m *member) present() *member {
	for {
		m.mu.Lock()
		heir := m.heir
		if heir == nil {
			return m
		}
		m.mu.Unlock()
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

// holds says whether anything of ours is there.
func (m *member) holds() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.kept.Last)+len(m.kept.Owned)+len(m.kept.Flight) > 0
}
