package dnsserver

import (
	"encoding/binary"
	"net"

	"github.com/miekg/dns"
)

// proving is what the hot path keeps while it proves what it says: in an answer
// with DNSSEC, where one of the zones is signed.
type proving struct {
	proves bool
	late   bool   // something is not signed now, because too much is
	owner  []byte // the name at hand in lower case
	pos    int    // where it lies in the message
	now    int64  // Unix seconds
	types  []uint16
	rdata  []byte
}

// asksForProof says whether a type is one that a signed zone's every name has.
func asksForProof(t uint16) bool { return t == dns.TypeNSEC || t == dns.TypeRRSIG }

// cutOff answers with TC set: what proves the answer does not fit, and without it
// the answer is worth nothing.
func (w *worker) cutOff(dst []byte, rcode int, aa bool) int {
	n := w.errorReply(dst, w.q.msg, rcode, true)
	if aa {
		dst[2] |= flagAA
	}
	return n
}

// proof adds signatures with a TTL, owned by the name at pos. It gives their
// number.
func (r *reply) proof(p *proof, pos int, ttl uint32) uint16 {
	b := r.take(len(p.body))
	if b == nil {
		return 0
	}
	copy(b, p.body)
	for len(b) > 0 {
		binary.BigEndian.PutUint16(b, uint16(0xc000|pos))
		binary.BigEndian.PutUint32(b[6:], ttl)
		b = b[rrFixed+int(binary.BigEndian.Uint16(b[rrFixed-2:])):]
	}
	return p.count
}

// find gives the signatures of a set, made from its records where they are not
// kept. It is nil where nothing is to be added: the answer is full already, or it is
// made so because they cannot be made, or not now.
func (w *worker) find(z *zone, kept *proofCache, k *proofKey, records func() []dns.RR) *proof {
	if w.out.full {
		return nil
	}
	if p := kept.get(k, w.now); p != nil {
		return p
	}
	if !w.signs.begin(kept == z.signer.made) {
		w.count.deferred.Add(1)
		w.out.full, w.late = true, true
		return nil
	}
	defer w.signs.end()
	p, err := z.signer.prepare(k, records(), w.now)
	if err != nil {
		w.out.full = true
		return nil
	}
	kept.put(k, p)
	return p
}

// keeps says where the signatures of the name at hand are kept. Those of names that
// askers make up, by a wildcard or because they are missing, have a place apart.
func (w *worker) keeps(z *zone, n node) *proofCache {
	if n != nil && string(n.name()) == string(w.owner) {
		return z.signer.real
	}
	return z.signer.made
}

// proveSet adds what proves a set of a node, which is last in the message.
func (w *worker) proveSet(z *zone, n node, s set) {
	if z.signer == nil || w.out.full {
		return
	}
	k := proofKey{owner: w.owner, rrtype: s.rrtype(), content: s.body()}
	if k.rrtype == dns.TypeSOA {
		k.extra = binary.BigEndian.Uint32(w.out.buf[w.out.n-20:])
	}
	if p := w.find(z, w.keeps(z, n), &k, func() []dns.RR { return s.signable(&k, z) }); p != nil {
		w.out.an += w.out.proof(p, w.pos, binary.BigEndian.Uint32(s.body()[6:]))
	}
}

// signable gives a set as the records that a key names.
func (s set) signable(k *proofKey, z *zone) []dns.RR {
	rrs := s.records(string(k.owner), z.wire)
	for _, rr := range rrs {
		if soa, ok := rr.(*dns.SOA); ok {
			soa.Serial = k.extra
		}
	}
	return rrs
}

// most gives the TTL that addresses of a service have at most. Signatures bear it,
// and count for lower ones too (RFC 4035 section 5.3.3).
func (e *serviceEntry) most() uint32 {
	unsettled := uint32(min(max(int64(e.unsettled.Seconds()), minServiceTTL), maxServiceTTL))
	return max(e.quiet(), unsettled)
}

// addressKey names what an answer gives of addresses at a turn.
func addressKey(owner []byte, a *addresses, ttl, turn uint32) proofKey {
	k := proofKey{owner: owner, rrtype: dns.TypeA, ttl: ttl, content: a.data}
	if a.width == net.IPv6len {
		k.rrtype = dns.TypeAAAA
	}
	if len(a.list) > maxAddresses {
		k.extra = uint32(rotation(turn, len(a.list)) + 1)
	}
	return k
}

// signable gives the addresses that a key names.
func (a *addresses) signable(k *proofKey) []dns.RR {
	h := dns.RR_Header{Name: textName(string(k.owner)), Rrtype: k.rrtype, Class: dns.ClassINET, Ttl: k.ttl}
	var rrs []dns.RR
	for i := range min(len(a.list), maxAddresses) {
		ip := a.list[(i+int(max(k.extra, 1))-1)%len(a.list)].AsSlice()
		if k.rrtype == dns.TypeA {
			rrs = append(rrs, &dns.A{Hdr: h, A: ip})
		} else {
			rrs = append(rrs, &dns.AAAA{Hdr: h, AAAA: ip})
		}
	}
	return rrs
}

// proveAddresses adds what proves addresses with a TTL.
func (w *worker) proveAddresses(z *zone, n node, a *addresses, k proofKey, shown uint32) {
	if p := w.find(z, w.keeps(z, n), &k, func() []dns.RR { return a.signable(&k) }); p != nil {
		w.out.an += w.out.proof(p, w.pos, shown)
	}
}

// proveAbsence adds what proves that a node has no record of the type, or, for
// nil, that the name at hand is missing. The SOA record is last in the message.
func (w *worker) proveAbsence(z *zone, n node, at step, body *poolBody) {
	r := &w.out
	if r.full {
		return
	}
	ttl := z.negativeTTL(n != nil && n.service() > 0)
	k := proofKey{owner: z.apex.name(), rrtype: dns.TypeSOA, content: z.soa.body(), extra: binary.BigEndian.Uint32(r.buf[r.n-20:])}
	if p := w.find(z, z.signer.real, &k, func() []dns.RR { return z.soa.signable(&k, z) }); p != nil {
		r.ns += r.proof(p, at.suffix(len(z.wire)), ttl)
	}
	w.types = typesOf(w.types[:0], n, body)
	w.proveTypes(z, w.keeps(z, n), w.owner, at.pos, ttl)
}

// proveCut adds what proves a delegation: its DS records, or that there are none.
func (w *worker) proveCut(z *zone, cut node, at step) {
	pos, r := at.suffix(len(cut.name())), &w.out
	ds := cut.find(dns.TypeDS)
	if ds == nil {
		w.types = typesOf(w.types[:0], cut, nil)
		w.proveTypes(z, z.signer.real, cut.name(), pos, z.negativeTTL(false))
		return
	}
	b := r.take(ds.bodyLen())
	if b == nil {
		return
	}
	ds.put(b, pos, headerLen)
	r.ns += ds.count()
	k := proofKey{owner: cut.name(), rrtype: dns.TypeDS, content: ds.body()}
	if p := w.find(z, z.signer.real, &k, func() []dns.RR { return ds.signable(&k, z) }); p != nil {
		r.ns += r.proof(p, pos, binary.BigEndian.Uint32(b[6:]))
	}
}

// proveTypes adds an NSEC record of the types in w.types, owned by the name at
// pos, and what proves it.
func (w *worker) proveTypes(z *zone, kept *proofCache, owner []byte, pos int, ttl uint32) {
	r := &w.out
	w.rdata = successor(w.rdata[:0], owner)
	next := len(w.rdata)
	w.rdata = appendBitmap(w.rdata, w.types)
	b := r.take(rrFixed + len(w.rdata))
	if b == nil {
		return
	}
	binary.BigEndian.PutUint32(b, uint32(0xc000|pos)<<16|uint32(dns.TypeNSEC))
	binary.BigEndian.PutUint16(b[4:], dns.ClassINET)
	binary.BigEndian.PutUint32(b[6:], ttl)
	binary.BigEndian.PutUint16(b[10:], uint16(len(w.rdata)))
	copy(b[rrFixed:], w.rdata)
	r.ns++
	k := proofKey{owner: owner, rrtype: dns.TypeNSEC, ttl: ttl, content: w.rdata[next:]}
	if p := w.find(z, kept, &k, func() []dns.RR { return nsecOf(&k, w.types) }); p != nil {
		r.ns += r.proof(p, pos, ttl)
	}
}

// nsecOf gives the NSEC record that a key names.
func nsecOf(k *proofKey, types []uint16) []dns.RR {
	h := dns.RR_Header{Name: textName(string(k.owner)), Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: k.ttl}
	return []dns.RR{&dns.NSEC{Hdr: h, NextDomain: textName(string(successor(nil, k.owner))), TypeBitMap: types}}
}
