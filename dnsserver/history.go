package dnsserver

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/miekg/dns"
)

// Bounds of what is kept of a zone's changes. A secondary that is further behind
// takes the whole zone.
const (
	maxDiffs     = 4096
	maxDiffBytes = 1 << 20
)

// history is what has changed in a zone that is transferred, as its secondaries
// see it: it has one diff for every serial that was given out, since a start or
// since the oldest was forgotten. Server.mu guards it; diffs never change.
type history struct {
	site  string
	view  view // at the last serial; not ready where nobody may take the zone yet
	diffs []*diff
	bytes int
}

// raw is a record in a transfer: its owner in wire form, and its type, class,
// TTL and data as they go into a message that has the zone's name at offset 12.
type raw struct{ owner, rest string }

// diff takes a zone from one serial to the next.
type diff struct {
	from, to uint32
	// oldSOA and newSOA belong to the serials.
	oldSOA, newSOA raw
	removed, added []raw
	// hosts are changes of names that share their addresses.
	hosts []hostDiff
	bytes int
}

// hostDiff is one change of the addresses of several names.
type hostDiff struct {
	names          []string
	removed, added []string // rest of a raw
}

// view is what a zone's services give to secondaries, by number of the service.
// That of a history changes with it, under Server.mu.
type view struct {
	ready bool // all of it is known
	hosts map[int]hostView
}

// hostView is what the names of one service give.
type hostView struct {
	body *poolBody
	ttl  uint32
}

// viewOf gives the addresses that secondaries get. Their TTL is that of quiet
// times (A9): secondaries are not told when a change is near.
func (s *snapshot) viewOf(z *zone) view {
	v := view{ready: true, hosts: map[int]hostView{}}
	for number := range z.transfer.hosts {
		e, b := s.services[number-1].pick(z.transfer.site)
		if b == nil {
			return view{}
		}
		v.hosts[number] = hostView{b, e.quiet()}
	}
	return v
}

// quiet gives the TTL of quiet times, within the bounds of the wire.
func (e *serviceEntry) quiet() uint32 {
	return uint32(min(max(int64(e.ttl.Seconds()), minServiceTTL), maxServiceTTL))
}

// records gives the addresses as records, without the owner.
func (h hostView) records() []string {
	var out []string
	for _, f := range []struct {
		rrtype uint16
		*addresses
	}{{dns.TypeA, &h.body.v4.all}, {dns.TypeAAAA, &h.body.v6.all}} {
		for i := range f.list {
			b := binary.BigEndian.AppendUint16(nil, f.rrtype)
			b = binary.BigEndian.AppendUint16(b, dns.ClassINET)
			b = binary.BigEndian.AppendUint32(b, h.ttl)
			b = binary.BigEndian.AppendUint16(b, uint16(f.width))
			out = append(out, string(append(b, f.data[i*f.width:(i+1)*f.width]...)))
		}
	}
	return out
}

// soaAt gives a zone's SOA record with a serial.
func (z *zone) soaAt(serial uint32) raw {
	rr := z.raws(z.soa, z.wire)[0]
	b := []byte(rr.rest)
	binary.BigEndian.PutUint32(b[len(b)-20:], serial)
	return raw{rr.owner, string(b)}
}

// raws gives a set's records as they are transferred.
func (z *zone) raws(s set, owner string) []raw {
	b := make([]byte, s.bodyLen())
	s.put(b, headerLen, headerLen)
	out := make([]raw, 0, s.count())
	for len(b) > 0 {
		n := rrFixed + int(binary.BigEndian.Uint16(b[rrFixed-2:]))
		out = append(out, raw{owner, string(b[2:n])})
		b = b[n:]
	}
	return out
}

// record takes in that a zone has got a serial because a pool's addresses changed,
// and lets its secondaries know. It looks at nothing but what the pool answers:
// thousands of pools may change together. It is called under Server.mu.
func (s *Server) record(sn *snapshot, z *zone, p *pool, serial uint32) {
	h := s.changes[z.wire]
	if h == nil {
		return
	}
	d := &diff{from: serial - 1, to: serial, oldSOA: z.soaAt(serial - 1), newSOA: z.soaAt(serial)}
	if !h.view.ready {
		h.add(d, sn.viewOf(z))
		s.notify.ring()
		return
	}
	next := h.view
	for _, number := range z.transfer.uses[p] {
		e, b := sn.services[number-1].pick(z.transfer.site)
		if b == nil { // where nobody serves, the first pool may be one that is not known
			next = view{}
			break
		}
		before, now := next.hosts[number], hostView{b, e.quiet()}
		d.host(z.transfer.hosts[number], before.records(), now.records())
		next.hosts[number] = now
	}
	h.add(d, next)
	s.notify.ring()
}

// movesOn says whether secondaries get other records of a zone now that a pool serves
// with the addresses that it gave as a last resort, or the other way round: names that
// are not at their site are answered from the first pool that serves. It is called
// under Server.mu.
func (s *Server) movesOn(sn *snapshot, z *zone, p *pool) bool {
	h := s.changes[z.wire]
	if h == nil || !h.view.ready {
		return false
	}
	return slices.ContainsFunc(z.transfer.uses[p], func(number int) bool {
		e, b := sn.services[number-1].pick(z.transfer.site)
		was := h.view.hosts[number]
		return b == nil || e.quiet() != was.ttl || !b.answer.SameRecords(was.body.answer)
	})
}

// host adds a change of the addresses of names.
func (d *diff) host(names, before, now []string) {
	h := hostDiff{names: names, removed: without(before, now), added: without(now, before)}
	if len(h.removed)+len(h.added) == 0 {
		return
	}
	d.hosts = append(d.hosts, h)
	for _, list := range [][]string{names, h.removed, h.added} {
		for _, s := range list {
			d.bytes += len(s)
		}
	}
}

// without gives the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// add takes a diff in, at the cost of the oldest where there are too many. Where
// what was before is not known, or what is now, no diff leads from the old
// serials to this one.
func (h *history) add(d *diff, next view) {
	known := h.view.ready && next.ready
	if h.view = next; !known {
		h.diffs, h.bytes = nil, 0
		return
	}
	d.bytes += 128 // the frame of it
	for _, list := range [][]raw{d.removed, d.added} {
		for _, r := range list {
			d.bytes += len(r.owner) + len(r.rest)
		}
	}
	h.diffs, h.bytes = append(h.diffs, d), h.bytes+d.bytes
	drop := 0
	for len(h.diffs)-drop > maxDiffs || h.bytes > maxDiffBytes && drop < len(h.diffs) {
		h.bytes -= h.diffs[drop].bytes
		drop++
	}
	if drop > 0 { // diffs that are being sent stay as they are
		h.diffs = slices.Clone(h.diffs[drop:])
	}
}

// since gives the diffs that lead from a serial to the last one.
func (h *history) since(serial uint32) []*diff {
	i := slices.IndexFunc(h.diffs, func(d *diff) bool { return d.from == serial })
	if i < 0 {
		return nil
	}
	return h.diffs[i:len(h.diffs):len(h.diffs)]
}

// static gives the records of a zone that do not come from services, without the
// SOA.
func (s *snapshot) static(z *zone) map[raw]bool {
	out := map[raw]bool{}
	s.names.walk(z, func(n node) bool {
		set, count := n.sets()
		owner := string(n.name())
		for range count {
			if set.rrtype() != dns.TypeSOA {
				for _, r := range z.raws(set, owner) {
					out[r] = true
				}
			}
			set = set.next()
		}
		return true
	})
	return out
}

// diffOf begins the diff between a zone and what takes its place: the records
// that do not come from services. It is nil where there is nothing to compare
// with.
func diffOf(old *snapshot, before *zone, sn *snapshot, z *zone) *diff {
	if before == nil || before.transfer == nil || z.transfer == nil {
		return nil
	}
	d := &diff{}
	if before.digest == z.digest {
		return d
	}
	was, is := old.static(before), sn.static(z)
	for r := range was {
		if !is[r] {
			d.removed = append(d.removed, r)
		}
	}
	for r := range is {
		if !was[r] {
			d.added = append(d.added, r)
		}
	}
	return d
}

// hostsOf gives what every name of a service gives.
func (z *zone) hostsOf(v view) map[string]hostView {
	out := map[string]hostView{}
	for number, h := range v.hosts {
		for _, name := range z.transfer.hosts[number] {
			out[name] = h
		}
	}
	return out
}

// hostsChanged completes a diff with the names of services.
func (d *diff) hostsChanged(was, is map[string]hostView) {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		var records []string
		now, ok := is[name]
		if ok {
			records = now.records()
		}
		if now != was[name] {
			d.host([]string{name}, was[name].records(), records)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[name]; !ok {
			d.host([]string{name}, nil, is[name].records())
		}
	}
}

// empty says whether a diff changes nothing.
func (d *diff) empty() bool { return len(d.removed)+len(d.added)+len(d.hosts) == 0 }
