package dnsserver

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
)

// Sizes of the table of strangers: sets of a few slots each, and how many of
// them are shown.
const (
	strangerSets  = 256
	strangerSlots = 4
	strangersTop  = 10
)

// strangers counts the sources that match no view, in fixed memory. A source
// that finds its set full takes the place and the count of the rarest one, so
// that a frequent one is never lost.
type strangers struct {
	mu   sync.Mutex
	sets [strangerSets][strangerSlots]stranger
}

type stranger struct {
	addr  [16]byte
	count uint64
}

// note counts a source. It never waits: what comes while another worker counts
// is left out.
func (t *strangers) note(a netip.Addr) {
	if !t.mu.TryLock() {
		return
	}
	defer t.mu.Unlock()
	key := a.As16()
	set := &t.sets[setOf(key)]
	rarest := 0
	for i := range set {
		if set[i].addr == key && set[i].count > 0 {
			set[i].count++
			return
		}
		if set[i].count < set[rarest].count {
			rarest = i
		}
	}
	set[rarest].addr = key
	set[rarest].count++
}

// setOf spreads addresses over the sets (FNV-1a).
func setOf(key [16]byte) int {
	h := uint32(2166136261)
	for _, c := range key {
		h = (h ^ uint32(c)) * 16777619
	}
	return int(h>>24 ^ h&0xff)
}

// top lists the most frequent sources.
func (t *strangers) top() []Source {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Source
	for i := range t.sets {
		for _, s := range t.sets[i] {
			if s.count > 0 {
				all = append(all, Source{netip.AddrFrom16(s.addr).Unmap(), s.count})
			}
		}
	}
	slices.SortFunc(all, func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Addr.Compare(b.Addr))
	})
	return all[:min(len(all), strangersTop)]
}
