package dnsserver

import (
	"bytes"
	"encoding/binary"
	"net/netip"

	"github.com/miekg/dns"
)

// maxChain is how many CNAMEs of one answer are followed.
const maxChain = 16

// maxPointer is the largest offset that a compression pointer can hold.
const maxPointer = 0x3fff

// worker answers messages one after another. Each belongs to one goroutine at a
// time; what it holds is reused.
type worker struct {
	server *Server
	count  *counters
	turn   uint32 // moves the rotation on
	q      query
	out    reply

	snap *snapshot
	from netip.Addr
	// site is the client's; asked says that it has been looked up for this
	// message.
	site  int32
	asked bool
	// cookie is what the message's says, once it has been looked at; signer the
	// key that signed it, nil for none; sending a zone that is to be sent in place
	// of an answer.
	cookie  cookieState
	signer  *signer
	sending *transfer
	nth     uint64 // among all messages over the limit
	signs   allowance
	proving
}

// step is where the hot path stands while it follows a chain of CNAMEs.
type step struct {
	node    node // of the name when exact, else the closest one above it
	exact   bool
	pos     int // of the name in the message
	nameLen int
}

// hot answers the query that has been read into w.q. It gives 0 for what it
// leaves to the slow path.
func (w *worker) hot(dst []byte, tcp bool) int {
	q := &w.q
	n, exact := w.snap.find(q)
	if n == nil {
		return w.seal(dst, dns.RcodeRefused, false, q.end)
	}
	limit := min(q.limit(tcp), len(dst)) - w.optSize()
	r := &w.out
	*r = reply{buf: dst[:limit], n: q.end}
	if q.end > limit {
		return 0
	}
	copy(dst[headerLen:], q.msg[headerLen:q.end])
	w.proves, w.late = q.do && w.snap.signs, false
	if w.proves {
		w.now = w.server.signTime()
	}
	rcode, aa, ok := w.follow(step{n, exact, headerLen, q.nameLen})
	if !ok || r.full {
		if ok && w.late {
			return w.cutOff(dst, rcode, aa)
		}
		return 0 // where names are compressed further, it may fit
	}
	return w.seal(dst, rcode, aa, r.n)
}

// follow puts the records of a name into the answer, and those of the names that
// CNAMEs lead to.
func (w *worker) follow(at step) (rcode int, aa, ok bool) {
	if w.proves {
		w.owner, w.pos = w.q.name(), at.pos
	}
	next, rcode, aa, ok := w.answerAt(at)
	if !ok || next == nil {
		return rcode, aa, ok
	}
	rcode, ok = w.chase(next)
	return rcode, true, ok // AA speaks of the first owner (RFC 1035 section 4.1.1)
}

// chase goes on from the CNAME that is last in the message.
func (w *worker) chase(cname set) (rcode int, ok bool) {
	var seen [maxChain][]byte
	for i := range seen {
		to, exact := cname.leadsTo()
		target, n := cname.target(), w.snap.names.node(to)
		seen[i] = target
		if i+1 == maxChain || n == nil || w.visited(seen[:i], target) {
			break
		}
		at := step{n, exact, w.out.tail - len(target), len(target)}
		if at.pos > maxPointer-maxName {
			return 0, false
		}
		if w.proves {
			w.owner, w.pos = target, at.pos
		}
		next, rcode, _, ok := w.answerAt(at)
		if !ok || next == nil {
			return rcode, ok
		}
		cname = next
	}
	return dns.RcodeSuccess, true
}

// visited says whether a name was asked for or a target before.
func (w *worker) visited(seen [][]byte, name []byte) bool {
	for _, s := range seen {
		if bytes.Equal(s, name) {
			return true
		}
	}
	return bytes.Equal(w.q.name(), name)
}

// answerAt puts in what one name gives. next is the CNAME to follow.
func (w *worker) answerAt(at step) (next set, rcode int, aa, ok bool) {
	n, t := at.node, w.q.qtype
	if t == dns.TypeDS && at.exact && n.has(nodeApex) {
		if up := w.snap.parents[string(n.name())]; up != nil {
			n = up
		}
	}
	z := w.snap.zoneOf(n)
	if n.has(nodeBelowCut) && !(t == dns.TypeDS && at.exact && n.has(nodeCut)) {
		cut := w.snap.names.node(n.over())
		w.out.referral(cut, at, z)
		if w.proves && z.signer != nil {
			w.proveCut(z, cut, at)
		}
		w.out.glue(cut)
		return nil, dns.RcodeSuccess, false, true
	}
	if n.has(nodeBelowName) || !at.exact && n.has(nodeDNAME) {
		return nil, 0, false, false // the slow path makes the CNAME
	}
	if !at.exact {
		wild := w.snap.names.node(n.wild())
		if wild == nil {
			if z.signer != nil && asksForProof(t) {
				return nil, 0, false, false // the slow path makes the record
			}
			w.out.negative(z, at, false)
			if w.proves && z.signer != nil {
				return nil, w.prove(nil, at, z, nil), true, true
			}
			return nil, dns.RcodeNameError, true, true
		}
		n = wild
	}
	return w.data(n, at, z)
}

// data puts in the records of a node that the name matches.
func (w *worker) data(n node, at step, z *zone) (next set, rcode int, aa, ok bool) {
	t, svc := w.q.qtype, w.snap.serviceOf(n)
	var body *poolBody
	if svc != nil && (t == dns.TypeA || t == dns.TypeAAAA) {
		e, b := svc.pick(w.clientSite())
		if b == nil {
			return nil, 0, false, false
		}
		f := &b.v4
		if t == dns.TypeAAAA {
			f = &b.v6
		}
		if len(f.all.list) > 0 {
			give := f.give(w.from, w.turn)
			w.out.addresses(give, t, e.seconds(b), w.turn, at.pos)
			if w.proves && z.signer != nil && !w.out.full {
				w.proveAddresses(z, n, give, addressKey(w.owner, give, e.most(), w.turn), e.seconds(b))
			}
			return nil, dns.RcodeSuccess, true, true
		}
		body = b
	}
	if set := n.find(t); set != nil {
		w.out.set(set, at, z)
		if w.proves {
			w.proveSet(z, n, set)
		}
		return nil, dns.RcodeSuccess, true, true
	}
	if z.signer != nil && asksForProof(t) {
		return nil, 0, false, false // the slow path makes the record
	}
	if set := n.find(dns.TypeCNAME); set != nil {
		w.out.set(set, at, z)
		if w.proves {
			w.proveSet(z, n, set)
		}
		return set, dns.RcodeSuccess, true, true
	}
	w.out.negative(z, at, svc != nil)
	if w.proves && z.signer != nil {
		return nil, w.prove(n, at, z, body), true, true
	}
	return nil, dns.RcodeSuccess, true, true
}

// prove puts in what proves that a node has no record of the type, or, for nil,
// that the name is missing. body is what its service gives, where that has been
// looked at. The rcode is then none of a missing name, unless that is asked for (RFC
// 9824 section 5.1): old validators would refuse it.
func (w *worker) prove(n node, at step, z *zone, body *poolBody) (rcode int) {
	if n != nil && n.service() > 0 && body == nil {
		_, body = w.snap.serviceOf(n).pick(w.clientSite())
	}
	w.proveAbsence(z, n, at, body)
	if n == nil && w.q.co {
		return dns.RcodeNameError
	}
	return dns.RcodeSuccess
}

// clientSite gives the client's site and notes clients that no view knows.
func (w *worker) clientSite() int32 {
	if w.asked {
		return w.site
	}
	site, known := w.snap.siteOf(w.from)
	if !known {
		w.count.unmatched.Add(1)
		w.server.strangers.note(w.from)
	}
	w.site, w.asked = site, true
	return site
}

// seal writes the header, and the OPT record that answers one (RFC 6891 section
// 6.1.1), around the records that end at n.
func (w *worker) seal(dst []byte, rcode int, aa bool, n int) int {
	q, r := &w.q, &w.out
	if rcode == dns.RcodeRefused {
		*r = reply{}
		copy(dst[headerLen:n], q.msg[headerLen:n])
	}
	dst[0], dst[1] = q.msg[0], q.msg[1]
	flags := flagQR | q.msg[2]&flagRD
	if aa {
		flags |= flagAA
	}
	dst[2], dst[3] = flags, byte(rcode)
	binary.BigEndian.PutUint16(dst[4:], 1)
	binary.BigEndian.PutUint16(dst[6:], r.an)
	binary.BigEndian.PutUint16(dst[8:], r.ns)
	ar := r.ar
	if q.edns {
		n += w.putOPT(dst[n:], 0)
		ar++
	}
	binary.BigEndian.PutUint16(dst[10:], ar)
	w.count.reply(rcode)
	return n
}
