package publish

import (
	"net/netip"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// set is an RRset to be seen.
type set struct {
	key    providers.Key
	accept []netip.Addr // of which an answer must consist
	ttl    time.Duration
}

// look has what a push has changed be looked for, and what was answered wrong;
// all that is there where it is the first comparison of this run. What a hand has
// changed and is left so is not.
func (m *member) look(out *providers.Outcome, first bool) {
	m.mu.Lock()
	servers := m.asked()
	common := m.st.looked.TTL
	desired := m.desired.Records
	m.mu.Unlock()
	if len(servers) == 0 || m.p.deps.Ask == nil {
		return
	}
	changed := map[providers.Key]bool{}
	for i := range out.First.Changes {
		changed[out.First.Changes[i].Key] = true
	}
	left, touched := map[providers.Key]bool{}, m.touched(&out.Last)
	for _, h := range out.Last.Held {
		left[h.Key] = true
	}
	for i := range out.Last.Changes { // the target has refused them
		left[out.Last.Changes[i].Key] = true
	}
	for _, d := range out.First.Drifts {
		m.eye.unprove(d.Key())
	}
	again := m.eye.again(desired, func(k providers.Key) bool { return touched[k] })
	picked := picks{desired: desired, left: left, common: common}
	chosen := func(k providers.Key) bool { return first || changed[k] || again[k] }
	picked.choose(askMost, chosen)
	if unseen := m.eye.unseen(); len(picked.sets) > 0 { // these are looked for on, beside them
		picked.choose(askMost+len(unseen), func(k providers.Key) bool { return unseen[k] })
	}
	sets := picked.sets
	for _, c := range out.Last.Conflicts {
		if i := slices.IndexFunc(sets, func(s set) bool { return s.key == c.Key }); i >= 0 {
			if !c.Moving {
				sets = slices.Delete(sets, i, i+1)
				continue
			}
			sets[i].accept = append(sets[i].accept, c.Foreign...)
		}
	}
	for key := range changed {
		m.eye.unsee(key)
	}
	if len(sets) > 0 {
		m.eye.watch(servers, sets)
	}
}

// picks are the RRsets that a look chooses.
type picks struct {
	desired []providers.Record
	left    map[providers.Key]bool // that are not as desired, and left so
	common  time.Duration          // the TTL of targets that have one for all
	sets    []set
}

// choose adds those of some keys, until there are so many.
func (p *picks) choose(most int, these func(providers.Key) bool) {
	before := len(p.sets)
	for _, r := range p.desired {
		key := r.Key()
		if p.left[key] || !these(key) {
			continue
		}
		i := slices.IndexFunc(p.sets, func(s set) bool { return s.key == key })
		switch {
		case i >= 0 && i < before:
			continue // it was chosen with all its addresses
		case i < 0 && len(p.sets) >= most:
			continue
		case i < 0:
			p.sets = append(p.sets, set{key: key, ttl: max(r.TTL, p.common)})
			i = len(p.sets) - 1
		}
		p.sets[i].accept = append(p.sets[i].accept, r.Addr)
	}
}

// asked lists who is asked: the site's resolvers, of these the target itself
// where it is one, and the target where no resolver is known. The caller holds mu.
func (m *member) asked() []netip.AddrPort {
	itself := m.st.looked.DNS
	if len(m.target.Resolvers) == 0 {
		return itself
	}
	both := slices.DeleteFunc(slices.Clone(m.target.Resolvers), func(a netip.AddrPort) bool { return !slices.Contains(itself, a) })
	if len(both) > 0 {
		return both
	}
	return m.target.Resolvers
}
