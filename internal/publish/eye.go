package publish

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// How the site's resolver is asked after a push: at most twice a second, and
// more slowly once it is late.
const (
	askPause  = 500 * time.Millisecond
	askSlow   = 10 * time.Second
	askWithin = 2 * time.Second
	lateAfter = 30 * time.Second // or the TTL, if that is longer
	askMost   = 8                // RRsets of one push that are asked for
)

// eye asks the site's resolver until it gives what was pushed. It never holds a
// push back.
type eye struct {
	m *member

	mu   sync.Mutex
	stop context.CancelFunc
	done sync.WaitGroup
	sees map[providers.Key]bool
	late bool          // what is not seen is overdue
	took time.Duration // the last push, until it was seen
	// proof has who was seen to answer an RRset since it is desired.
	proof map[providers.Key][]netip.Addr
	// wrong are RRsets that a resolver answered otherwise than they may be, and
	// was not seen to answer right since.
	wrong map[providers.Key]bool
	busy  bool   // something is asked for
	turn  uint64 // how often that was begun
}

func newEye(m *member) *eye {
	return &eye{m: m, sees: map[providers.Key]bool{}, proof: map[providers.Key][]netip.Addr{}, wrong: map[providers.Key]bool{}}
}

// desire forgets the RRsets that are not desired any more.
func (e *eye) desire(list []providers.Record) {
	stay := map[providers.Key]bool{}
	for _, r := range list {
		stay[r.Key()] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.sees, func(k providers.Key, _ bool) bool { return !stay[k] })
	maps.DeleteFunc(e.proof, func(k providers.Key, _ []netip.Addr) bool { return !stay[k] })
	maps.DeleteFunc(e.wrong, func(k providers.Key, _ bool) bool { return !stay[k] })
}

// close ends the asking.
func (e *eye) close() {
	e.mu.Lock()
	if e.stop != nil {
		e.stop()
	}
	e.mu.Unlock()
	e.done.Wait()
}

// forget says that nothing is known of what can be seen.
func (e *eye) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop != nil {
		e.stop()
	}
	e.turn++ // what is on its way counts no more
	e.busy = false
	clear(e.sees)
	clear(e.proof)
	clear(e.wrong)
}

// again are the RRsets to look for once more, if nothing is looked for: what was
// answered wrong, and one where none is proven.
func (e *eye) again(desired []providers.Record, skip func(providers.Key) bool) map[providers.Key]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := maps.Clone(e.wrong)
	if e.busy || len(e.proof) > 0 && len(list) == 0 {
		return nil
	}
	for _, r := range desired {
		if k := r.Key(); len(e.proof) == 0 && len(list) == 0 && r.Name[0] != '*' && !skip(k) {
			list[k] = true
		}
	}
	return list
}

// unseen are the RRsets that are looked for and were not seen yet.
func (e *eye) unseen() map[providers.Key]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := map[providers.Key]bool{}
	for k, seen := range e.sees {
		if e.busy && !seen {
			list[k] = true
		}
	}
	return list
}

// unprove forgets who was seen to answer an RRset.
func (e *eye) unprove(k providers.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.proof, k)
}

func (e *eye) unsee(k providers.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sees, k)
}

// watch looks for sets in place of those that were looked for.
func (e *eye) watch(servers []netip.AddrPort, sets []set) {
	ctx, stop := context.WithCancel(e.m.p.life)
	e.mu.Lock()
	if e.stop != nil {
		e.stop()
	}
	e.stop, e.late, e.busy = stop, false, true
	e.turn++
	turn := e.turn
	for _, s := range sets {
		e.sees[s.key] = false
	}
	e.mu.Unlock()
	e.done.Go(func() {
		defer stop()
		e.run(ctx, turn, servers, sets)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.busy = e.busy && e.turn != turn
	})
}

// run asks until everything is seen, or something else is looked for.
func (e *eye) run(ctx context.Context, mine uint64, servers []netip.AddrPort, sets []set) {
	start := time.Now()
	late, pause := lateAfter, askPause
	for _, s := range sets {
		late = max(late, s.ttl)
	}
	told := false
	var last string
	for turn := 0; ; turn++ {
		if sets = e.wanted(sets); len(sets) == 0 {
			e.m.solved(slotVisible, fmt.Sprintf("What was pushed to %s and could not be seen is not wanted there any more.", e.m.title()))
			return
		}
		s := sets[0]
		seen, what := e.ask(ctx, servers[turn%len(servers)], s)
		if ctx.Err() != nil {
			return
		}
		if seen {
			if !e.saw(mine, s.key, servers[turn%len(servers)]) {
				return
			}
			if sets = sets[1:]; len(sets) == 0 {
				e.finished(time.Since(start))
				e.others(ctx, mine, servers, s)
				return
			}
		} else {
			last = what
			sets = append(sets[1:], s)
		}
		if !told && time.Since(start) >= late {
			told, pause = true, askSlow
			e.mu.Lock()
			e.late = true
			e.mu.Unlock()
			e.m.problem(slotVisible, sites.Warning, fmt.Sprintf("What was pushed to %s cannot be seen after %s: %s. Clients may still get the old answer: check that they ask this server, and that nothing on it hides the record.", e.m.title(), late, last), false)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// wanted leaves out the sets that have left since they are looked for.
func (e *eye) wanted(sets []set) []set {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(sets, func(s set) bool {
		_, stays := e.sees[s.key]
		return !stays
	})
}

func (e *eye) finished(took time.Duration) {
	e.mu.Lock()
	e.took = took
	e.mu.Unlock()
	e.m.p.deps.Meter.Visible(e.m.name, e.m.server.Name, took)
	e.m.p.deps.Log.Debug("what was pushed can be seen", "target", e.m.title(), "after", took)
	e.m.solved(slotVisible, fmt.Sprintf("What was pushed to %s can be seen now.", e.m.title()))
}

// ask asks once, and says what came where it was something else.
func (e *eye) ask(ctx context.Context, server netip.AddrPort, s set) (bool, string) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	name := s.key.Name
	if rest, wild := strings.CutPrefix(name, "*."); wild {
		name = "dnsteer-probe." + rest
	}
	got, err := e.m.p.deps.Ask(ctx, server, name, s.key.Family == sites.IPv6)
	switch {
	case err != nil:
		return false, fmt.Sprintf("%s does not answer for %s (%v)", server, name, err)
	case len(got) == 0:
		return false, fmt.Sprintf("%s gives no address for %s", server, name)
	}
	for _, a := range got {
		if !slices.Contains(s.accept, a) {
			return false, fmt.Sprintf("%s gives %s for %s", server, a, name)
		}
	}
	return true, ""
}

// state says whether an RRset can be seen; nil while that is not known. One that
// was answered otherwise since cannot.
func (e *eye) state(k providers.Key) *bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v, ok := e.sees[k]; ok && (v || e.late || e.wrong[k]) {
		v = v && !e.wrong[k]
		return &v
	}
	return nil
}
