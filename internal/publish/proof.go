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

// proof chooses the first name that is no wildcard, is desired and was seen.
func (m *member) proof(resolver netip.Addr) (Proof, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept.Disabled != nil || m.target.DryRun {
		return Proof{}, false
	}
	foreign := map[providers.Key]bool{}
	for _, c := range m.st.plan.Conflicts {
		foreign[c.Key] = true
	}
	for _, r := range m.desired.Records {
		key := r.Key()
		if r.Name[0] == '*' || foreign[key] || !m.eye.proves(key, resolver) {
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
		return Proof{Name: r.Name, V6: key.Family == sites.IPv6, Expect: expect}, true
	}
	return Proof{}, false
}

// saw notes that a server gives an RRset as it should be.
func (e *eye) saw(k providers.Key, server netip.AddrPort) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sees[k] = true
	if !slices.Contains(e.proof[k], server.Addr()) {
		e.proof[k] = append(e.proof[k], server.Addr())
	}
}

// others asks the servers once that were not seen to answer a set yet.
func (e *eye) others(ctx context.Context, servers []netip.AddrPort, s set) {
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
			e.saw(s.key, server)
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
