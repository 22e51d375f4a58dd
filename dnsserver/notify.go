package dnsserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Times of NOTIFY (RFC 1996 section 3.6).
const (
	// notifyGather is how long changes that follow each other are told together.
	notifyGather = 100 * time.Millisecond
	notifyFirst  = 500 * time.Millisecond // until the second try
	notifyLast   = time.Minute            // between two tries at most
	notifyTries  = 12                     // about five minutes; then the secondary's own refresh is left
)

// notifier tells secondaries of changes. Its goroutines belong to Serve.
type notifier struct {
	wake chan struct{}
	// exchange sends a message and waits for the answer that check takes. Tests
	// set it before Serve; nil asks over UDP.
	exchange func(ctx context.Context, to netip.AddrPort, msg []byte, check func([]byte) bool) error

	mu    sync.Mutex
	state map[notifyTarget]SecondaryState
	taken map[notifyTarget]uint32 // the last serials that were sent
}

// notifyTarget is one secondary of one zone.
type notifyTarget struct {
	zone string // wire name
	addr netip.AddrPort
}

// SecondaryState is what is known of one secondary of one zone.
type SecondaryState struct {
	Zone string
	Addr netip.AddrPort
	// Serial is the last one that it was told of, Answered whether it has said that
	// it heard, or taken the zone since. Fault is why not: "" while it is being told.
	Serial   uint32
	Answered bool
	Fault    string
}

// ring lets the notifier look for what has changed.
func (n *notifier) ring() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// telling is one secondary that is being told, or was.
type telling struct {
	serial uint32
	key    *tsigKey
	stop   context.CancelFunc
}

// knows says whether the secondary is being told of this, or was. One whose key was
// put right is told again.
func (t *telling) knows(n *news) bool {
	return t.serial == n.serial && t.key.same(n.key)
}

// news is one change that a secondary is to be told of.
type news struct {
	notifyTarget
	zone   *zone
	serial uint32
	key    *tsigKey
}

// notifySecondaries tells secondaries of the zones' serials, those of the start
// too, until ctx ends.
func (s *Server) notifySecondaries(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	known := map[notifyTarget]*telling{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.notify.wake:
		}
		gather := time.NewTimer(notifyGather)
		select {
		case <-ctx.Done():
			gather.Stop()
			return
		case <-gather.C:
		}
		s.tell(ctx, &wg, known)
	}
}

// tell begins to tell what is new. Who is being told of an older serial is told
// of this one in its place.
func (s *Server) tell(ctx context.Context, wg *sync.WaitGroup, known map[notifyTarget]*telling) {
	wanted := s.news()
	for target, t := range known {
		if _, ok := wanted[target]; !ok {
			t.stop()
			delete(known, target)
			s.notify.forget(target)
		}
	}
	for target, n := range wanted {
		t := known[target]
		if t != nil && t.knows(&n) {
			continue
		}
		if t != nil {
			t.stop()
		}
		own, stop := context.WithCancel(ctx)
		known[target] = &telling{n.serial, n.key, stop}
		wg.Go(func() {
			defer stop()
			s.tellOne(own, n)
		})
	}
}

// news lists the secondaries with the serials that they should have. Zones of
// which not all is known yet are left out.
func (s *Server) news() map[notifyTarget]news {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[notifyTarget]news{}
	for wire, z := range s.snap.Load().zones {
		h := s.changes[wire]
		if h == nil || !h.view.ready {
			continue
		}
		for _, to := range z.transfer.notify {
			target := notifyTarget{wire, to.addr}
			out[target] = news{target, z, z.serial.Load(), to.key}
		}
	}
	return out
}

// tellOne tells one secondary of a serial until it answers.
func (s *Server) tellOne(ctx context.Context, n news) {
	log := s.log.With("zone", zoneKey(n.zone), "secondary", n.addr, "serial", n.serial)
	state := SecondaryState{Zone: zoneKey(n.zone), Addr: n.addr, Serial: n.serial}
	s.notify.note(n.notifyTarget, state)
	exchange := s.notify.exchange
	if exchange == nil {
		exchange = s.exchangeUDP
	}
	var err error
	wait := notifyFirst
	for range notifyTries {
		m := newNotify(&n, uint64(s.now().Unix()))
		until, stop := context.WithTimeout(ctx, wait)
		err = exchange(until, n.addr, m.octets, m.check)
		switch {
		case ctx.Err() != nil:
			stop()
			return
		case err == nil:
			stop()
			s.told(n.notifyTarget, state, m.refusal)
			if m.refusal != nil {
				log.Warn("a secondary does not take the word of a change", "error", m.refusal)
			} else {
				log.Debug("a secondary knows of a change")
			}
			return
		case m.doubtful != nil:
			err = m.doubtful
		}
		<-until.Done()
		stop()
		if ctx.Err() != nil {
			return
		}
		wait = min(2*wait, notifyLast)
	}
	err = fmt.Errorf("no answer to %d messages: %w", notifyTries, err)
	s.told(n.notifyTarget, state, err)
	log.Warn("a secondary cannot be told of a change", "error", err)
}

// told notes how telling ended.
func (s *Server) told(to notifyTarget, state SecondaryState, err error) {
	state.Answered = err == nil
	if err != nil {
		state.Fault = err.Error()
	}
	s.notify.note(to, state)
}

// took notes that a zone was sent to an address, which needs not be told any more what
// it has.
func (n *notifier) took(zone string, to netip.Addr, serial uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for target, state := range n.state {
		if target.zone == zone && target.addr.Addr() == to {
			if n.taken == nil {
				n.taken = map[notifyTarget]uint32{}
			}
			n.taken[target] = serial
			n.state[target] = n.judge(target, state)
		}
	}
}

// judge gives a state in view of what the secondary has taken. It is called under mu.
func (n *notifier) judge(to notifyTarget, state SecondaryState) SecondaryState {
	if has, ok := n.taken[to]; ok && !after(state.Serial, has) {
		state.Answered, state.Fault = true, ""
	}
	return state
}

// note keeps a state, unless one of a later serial is there.
func (n *notifier) note(to notifyTarget, state SecondaryState) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == nil {
		n.state = map[notifyTarget]SecondaryState{}
	}
	if old, ok := n.state[to]; !ok || !after(old.Serial, state.Serial) {
		n.state[to] = n.judge(to, state)
	}
}

func (n *notifier) forget(to notifyTarget) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.state, to)
	delete(n.taken, to)
}

// list gives the states by zone and address.
func (n *notifier) list() []SecondaryState {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.SortedFunc(maps.Values(n.state), func(a, b SecondaryState) int {
		return cmp.Or(strings.Compare(a.Zone, b.Zone), a.Addr.Compare(b.Addr))
	})
}
