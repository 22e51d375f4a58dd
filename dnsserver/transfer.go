package dnsserver

import (
	"encoding/binary"
	"maps"
	"net/netip"
	"sync/atomic"

	"github.com/miekg/dns"
)

// maxTransfers is how many zones are sent at a time.
const maxTransfers = 16

// transfers counts what is sent to secondaries.
type transfers struct {
	now               atomic.Int64 // being sent
	full, incremental atomic.Uint64
	refused, failed   atomic.Uint64
}

// transfer is a zone, or what has changed in it, on its way to a secondary: one
// serial of it, whatever happens meanwhile. What a service answers with no address
// at all is not in it: a name without records cannot be transferred.
type transfer struct {
	server *Server
	snap   *snapshot
	zone   *zone
	serial uint32
	view   view
	// diffs are sent in place of the zone; nil for the whole of it.
	diffs []*diff

	to     netip.Addr
	head   []byte // header and question, as all messages have them
	opt    []byte // OPT record of the first message; nil for none
	signer *signer
	fixed  int // octets for OPT record and signature
}

// transferAsked answers a question for a zone as a whole or for its changes.
func (w *worker) transferAsked(dst []byte, m *dns.Msg, tcp bool) int {
	refuse := func(rcode int) int {
		w.server.transfer.refused.Add(1)
		return w.errorReply(dst, w.q.msg, rcode, false)
	}
	z := w.snap.zones[string(w.q.name())]
	incremental := w.q.qtype == dns.TypeIXFR
	switch {
	case z == nil:
		return refuse(dns.RcodeNotAuth) // RFC 5936 section 2.2.1
	case !z.transfer.may(w.from, w.signer), !tcp && !incremental:
		return refuse(dns.RcodeRefused)
	}
	t := &transfer{server: w.server, zone: z}
	var since uint32
	if incremental {
		soa, ok := first(m.Ns).(*dns.SOA)
		if !ok {
			return refuse(dns.RcodeFormatError) // RFC 1995 section 3
		}
		since = soa.Serial
	}
	if !t.capture(since, incremental) {
		// Names would be missing that have addresses in a moment.
		return refuse(dns.RcodeServerFailure)
	}
	t.prepare(w)
	if incremental && (!tcp || !after(t.serial, since)) {
		// Over UDP this tells the secondary to come over TCP (RFC 1995 section 2).
		return t.only(w, dst)
	}
	if w.server.transfer.now.Add(1) > maxTransfers {
		w.server.transfer.now.Add(-1)
		return refuse(dns.RcodeServerFailure)
	}
	w.sending = t
	return 0
}

func first(rrs []dns.RR) dns.RR {
	if len(rrs) == 0 {
		return nil
	}
	return rrs[0]
}

// capture takes one moment of the zone. It is false where not all of the zone is
// known yet.
func (t *transfer) capture(since uint32, incremental bool) bool {
	s := t.server
	s.mu.Lock()
	defer s.mu.Unlock()
	t.snap = s.snap.Load()
	z, h := t.snap.zones[t.zone.wire], s.changes[t.zone.wire]
	if z == nil || h == nil || !h.view.ready {
		return false
	}
	t.zone, t.serial = z, z.serial.Load()
	if incremental {
		t.diffs = h.since(since)
	}
	if t.diffs == nil {
		t.view = view{true, maps.Clone(h.view.hosts)}
	}
	return true
}

// prepare makes what the messages begin with, and their signature.
func (t *transfer) prepare(w *worker) {
	q := &w.q
	t.to = w.from
	t.head = append(make([]byte, 0, q.end), q.msg[:q.end]...)
	clear(t.head[2:headerLen])
	t.head[2] = flagQR | flagAA | q.msg[2]&flagRD
	t.head[5] = 1
	if w.signer != nil {
		c := *w.signer
		t.signer, t.fixed = &c, c.key.room()
	}
	if n := w.optSize(); n > 0 { // RFC 5936 section 2.2.5
		t.opt = make([]byte, n)
		w.putOPT(t.opt, 0)
		t.fixed += n
	}
}

// only writes the answer that is nothing but the SOA record.
func (t *transfer) only(w *worker, dst []byte) int {
	m := messages{zone: t.zone, buf: dst, n: copy(dst, t.head)}
	soa := t.zone.soaAt(t.serial)
	if !m.fits(soa, min(w.q.limit(false), len(dst))-w.optSize()) {
		return w.errorReply(dst, w.q.msg, dns.RcodeSuccess, true)
	}
	m.put(soa)
	binary.BigEndian.PutUint16(dst[6:], 1)
	if w.q.edns {
		m.n += w.putOPT(dst[m.n:], 0)
		dst[11]++
	}
	w.count.reply(dns.RcodeSuccess)
	return m.n
}

// send writes the messages of the transfer, built in buf, one after another. It
// gives the number of records.
func (t *transfer) send(buf []byte, write func(msg []byte) error) (records int, err error) {
	m := &messages{t: t, zone: t.zone, buf: buf, write: write}
	m.begin()
	soa := t.zone.soaAt(t.serial)
	if m.add(soa) && t.content(m) && m.add(soa) {
		m.flush()
	}
	if m.err == nil {
		t.server.notify.took(t.zone.wire, t.to, t.serial)
	}
	return m.total, m.err
}

// content sends all between the two SOA records.
func (t *transfer) content(m *messages) bool {
	if t.diffs == nil {
		return t.whole(m)
	}
	for _, d := range t.diffs {
		if !m.add(d.oldSOA) || !d.each(m.add, true) || !m.add(d.newSOA) || !d.each(m.add, false) {
			return false
		}
	}
	return true
}

// each goes over the records that were removed, or added.
func (d *diff) each(f func(raw) bool, removed bool) bool {
	list := d.added
	if removed {
		list = d.removed
	}
	for _, r := range list {
		if !f(r) {
			return false
		}
	}
	for _, h := range d.hosts {
		rest := h.added
		if removed {
			rest = h.removed
		}
		for _, name := range h.names {
			for _, r := range rest {
				if !f(raw{name, r}) {
					return false
				}
			}
		}
	}
	return true
}

// whole sends the zone.
func (t *transfer) whole(m *messages) bool {
	t.snap.names.walk(t.zone, func(n node) bool {
		s, count := n.sets()
		owner := string(n.name())
		for range count {
			if s.rrtype() != dns.TypeSOA {
				for _, r := range t.zone.raws(s, owner) {
					if !m.add(r) {
						return false
					}
				}
			}
			s = s.next()
		}
		if i := n.service(); i > 0 {
			for _, r := range t.view.hosts[i].records() {
				if !m.add(raw{owner, r}) {
					return false
				}
			}
		}
		return true
	})
	return m.err == nil
}
