package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// reply is an answer under construction.
type reply struct {
	buf        []byte // as long as the answer may be, without the OPT record
	n          int
	an, ns, ar uint16
	full       bool // something did not fit
	tail       int  // the end of the last set
}

// take gives room for n more octets, or nil.
func (r *reply) take(n int) []byte {
	if r.full || r.n+n > len(r.buf) {
		r.full = true
		return nil
	}
	b := r.buf[r.n : r.n+n]
	r.n += n
	return b
}

// set adds a prepared set of the zone, owned by the name at hand.
func (r *reply) set(s set, at step, z *zone) {
	b := r.take(s.bodyLen())
	if b == nil {
		return
	}
	s.put(b, at.pos, at.suffix(len(z.wire)))
	r.an += s.count()
	r.tail = r.n
	if s.rrtype() == dns.TypeSOA {
		setSerial(b, z)
	}
}

// setOwners lets every record of b be owned by the name at pos.
func setOwners(b []byte, pos int) {
	for len(b) > 0 {
		binary.BigEndian.PutUint16(b, uint16(0xc000|pos))
		b = b[rrFixed+int(binary.BigEndian.Uint16(b[rrFixed-2:])):]
	}
}

// setSerial puts the zone's serial into a SOA record, which ends with five
// numbers of 4 octets.
func setSerial(b []byte, z *zone) {
	binary.BigEndian.PutUint32(b[len(b)-20:], z.serial.Load())
}

// addresses adds address records, at most maxAddresses, beginning with another
// one at each turn.
func (r *reply) addresses(a *addresses, t uint16, ttl, turn uint32, pos int) {
	count := min(len(a.list), maxAddresses)
	size := rrFixed + a.width
	b := r.take(count * size)
	if b == nil {
		return
	}
	r.an += uint16(count)
	i := rotation(turn, len(a.list))
	for range count {
		binary.BigEndian.PutUint32(b, uint32(0xc000|pos)<<16|uint32(t))
		binary.BigEndian.PutUint16(b[4:], dns.ClassINET)
		binary.BigEndian.PutUint32(b[6:], ttl)
		binary.BigEndian.PutUint16(b[10:], uint16(a.width))
		copy(b[rrFixed:size], a.data[i*a.width:(i+1)*a.width])
		b = b[size:]
		if i++; i == len(a.list) {
			i = 0
		}
	}
}

// rotation says which of count addresses is first at a turn. Turns are spread by
// a multiplication: clients that ask for A and AAAA in turn would otherwise get
// the same first address every time.
func rotation(turn uint32, count int) int {
	const spread = 0x9e3779b1 // 2^32 by the golden ratio
	return int(uint64(turn*spread) * uint64(count) >> 32)
}

// negative adds the SOA of a negative answer (RFC 2308 section 3). Those about
// the names of services are kept for a minute at most.
func (r *reply) negative(z *zone, at step, service bool) {
	b := r.take(z.soa.bodyLen())
	if b == nil {
		return
	}
	apex := at.suffix(len(z.wire))
	z.soa.put(b, apex, apex)
	r.ns++
	binary.BigEndian.PutUint32(b[6:], z.negativeTTL(service))
	setSerial(b, z)
}

// negativeTTL gives the TTL of a negative answer.
func (z *zone) negativeTTL(service bool) uint32 {
	if service {
		return min(z.negTTL, maxServiceNeg)
	}
	return z.negTTL
}

// suffix gives the offset in the message of a name at or above this one, by its
// length.
func (at step) suffix(nameLen int) int { return at.pos + at.nameLen - nameLen }

// referral adds a delegation's name servers.
func (r *reply) referral(cut node, at step, z *zone) {
	ns := cut.find(dns.TypeNS)
	if b := r.take(ns.bodyLen()); b != nil {
		ns.put(b, at.suffix(len(cut.name())), at.suffix(len(z.wire)))
		r.ns += ns.count()
	}
}

// glue adds the addresses of a delegation's name servers.
func (r *reply) glue(cut node) {
	glue := cut.glue()
	if glue == nil {
		return
	}
	if b := r.take(glue.bodyLen()); b != nil {
		copy(b, glue.body())
		r.ar += glue.count()
	}
}
