package publish

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// Proof is a record of ours that a site's resolver was seen to answer.
type Proof struct {
	Name string
	V6   bool
	// Expect are the addresses of the nodes that may serve the name: an answer of
	// others is none of ours.
	Expect []netip.Addr

	m   *member
	key providers.Key
}

// Heard takes what a resolver has answered to it. What is not desired has the
// target compared: somebody may have changed it there. It waits for nothing.
func (p Proof) Heard(found []netip.Addr) {
	if p.m == nil {
		return
	}
	wrong := len(found) == 0
	for _, a := range found {
		wrong = wrong || !slices.Contains(p.Expect, a)
	}
	p.m.heard(p.key, found, wrong)
}

// doubtPause is the least time between two comparisons that answers lead to.
const doubtPause = 20 * time.Second

func (m *member) heard(key providers.Key, found []netip.Addr, wrong bool) {
	now := time.Now()
	m.mu.Lock()
	var desired []netip.Addr
	for _, r := range m.desired.Records {
		if r.Key() == key {
			desired = append(desired, r.Addr)
		}
	}
	compare := func(list []netip.Addr) []netip.Addr {
		return slices.Compact(slices.SortedFunc(slices.Values(list), netip.Addr.Compare))
	}
	differs := len(desired) > 0 && !slices.Equal(compare(found), compare(desired))
	held := m.halted()
	refused := slices.ContainsFunc(m.st.refused, func(f providers.Refusal) bool { return f.Key == key })
	doubt := differs && (held && wrong || !held && m.version == m.st.brought && !refused) && now.Sub(m.doubted) >= doubtPause
	if doubt {
		m.doubted, m.unsure = now, held
	}
	m.mu.Unlock()
	if wrong && differs {
		m.eye.mistrust(key)
	}
	switch {
	case doubt && held:
		m.rouse()
	case doubt:
		m.kick()
	}
}

// glance reads a target that is held and whose resolver answers otherwise than it
// may. What it holds is no proof then: a hand that has changed the record of the
// witness while the site could not be seen would keep it from ever being seen
// again. That it can be read proves the line; nothing is written (E8). The caller
// has the provider.
func (m *member) glance(ctx context.Context) {
	var r *providers.Round
	due := func() bool {
		unsure := m.unsure && !m.stopped() && m.kept.Disabled == nil && m.halted()
		m.unsure = false
		r = m.make(false)
		return unsure
	}
	var out providers.Outcome
	err := m.aside(ctx, listWithin, due, func(ctx context.Context) (err error) {
		r.DryRun, r.Stale = true, nil
		out, err = r.Sync(ctx)
		return err
	})
	if err != nil {
		m.p.deps.Log.Debug("a target that is held cannot be read", "target", m.title(), "error", err)
		return
	}
	otherwise := m.touched(&out.First)
	for _, d := range out.First.Drifts {
		otherwise[d.Key()] = true
	}
	for i := range out.First.Changes {
		otherwise[out.First.Changes[i].Key] = true
	}
	m.mu.Lock()
	m.otherwise = otherwise
	m.mu.Unlock()
}

// Proof gives a record that a resolver of a site was seen to give, for the
// witness to ask for (O3). ok is false before that, and where nothing is
// published at the moment.
func (p *Publisher) Proof(site string, resolver netip.Addr) (Proof, bool) {
	for _, m := range p.of(site) {
		if proof, ok := m.proof(resolver); ok {
			return proof, true
		}
	}
	return Proof{}, false
}

// proof chooses the first name that is no wildcard, is desired and was seen, and
// that nobody else has changed or has records of: what is answered for that says
// nothing of the line (O3).
func (m *member) proof(resolver netip.Addr) (Proof, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept.Disabled != nil || m.target.DryRun {
		return Proof{}, false
	}
	touched := m.touched(&m.st.plan)
	for _, r := range m.desired.Records {
		key := r.Key()
		if r.Name[0] == '*' || touched[key] || !m.eye.proves(key, resolver) || m.shadowed(key) || m.otherwise[key] && m.eye.mistrusts(key) {
			continue
		}
		var expect []netip.Addr
		for _, a := range m.desired.Nodes[r.Name] {
			if sites.FamilyOf(a) == key.Family {
				expect = append(expect, a)
			}
		}
		// Until a move has come there, and everywhere, what was there before is ours
		// as well.
		for _, k := range append(fromKept(m.kept.Last), m.desired.Records...) {
			if k.Key() == key && !slices.Contains(expect, k.Addr) {
				expect = append(expect, k.Addr)
			}
		}
		return Proof{Name: r.Name, V6: key.Family == sites.IPv6, Expect: expect, m: m, key: key}, true
	}
	return Proof{}, false
}

// touched are the RRsets of a plan that others have records of, or that are left
// other than they should be: it is what a hand has changed there.
func (m *member) touched(p *providers.Plan) map[providers.Key]bool {
	list := map[providers.Key]bool{}
	for _, c := range p.Conflicts {
		list[c.Key] = true
	}
	for _, h := range p.Held {
		list[h.Key] = true
	}
	return list
}

// shadowed says whether something else at the target may be answered in place of
// an RRset, and is. The caller holds mu.
func (m *member) shadowed(k providers.Key) bool {
	return m.eye.mistrusts(k) && slices.ContainsFunc(m.st.listing.Shadows, func(s providers.Shadow) bool { return s.Name == k.Name })
}

// mistrust notes that an RRset is answered otherwise than it may be.
func (e *eye) mistrust(k providers.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wrong[k] = true
}

func (e *eye) mistrusts(k providers.Key) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wrong[k]
}

// saw notes that a server gives an RRset as it should be. It is false, and nothing is
// noted, where something else is looked for by now: it may be to be otherwise.
func (e *eye) saw(turn uint64, k providers.Key, server netip.AddrPort) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.turn != turn {
		return false
	}
	e.sees[k] = true
	delete(e.wrong, k)
	if !slices.Contains(e.proof[k], server.Addr()) {
		e.proof[k] = append(e.proof[k], server.Addr())
	}
	return true
}

// others asks the servers once that were not seen to answer a set yet.
func (e *eye) others(ctx context.Context, turn uint64, servers []netip.AddrPort, s set) {
	for _, server := range servers {
		if e.proves(s.key, server.Addr()) {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(askPause):
		}
		if seen, _ := e.ask(ctx, server, s); seen {
			e.saw(turn, s.key, server)
		}
	}
}

// proves says whether a server was seen to answer an RRset since it is desired:
// one that is being moved was.
func (e *eye) proves(k providers.Key, server netip.Addr) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.proof[k], server)
}
