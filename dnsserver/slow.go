package dnsserver

import (
	"encoding/binary"
	"errors"

	"github.com/miekg/dns"
)

// rcodeNone asks for no error.
const rcodeNone = -1

// slow answers what the hot path leaves. It always answers, but for a zone that
// is to be sent: w.sending.
func (w *worker) slow(dst, msg []byte, tcp bool) int {
	w.count.slow.Add(1)
	w.signer, w.sending = nil, nil
	return w.full(dst, msg, tcp)
}

// full answers a whole message on the library's types.
func (w *worker) full(dst, msg []byte, tcp bool) int {
	m, rcode := w.examine(msg)
	switch {
	case rcode != rcodeNone:
		return w.errorReply(dst, msg, rcode, false)
	case w.q.tsig > 0 && w.signer == nil:
		return w.signed(dst, msg, tcp)
	}
	return w.answer(dst, m, tcp)
}

// bare answers a message whose signature has been verified and taken off.
func (w *worker) bare(dst, msg []byte, tcp bool) int {
	if w.q.usual(msg) {
		if n := w.hot(dst, tcp); n > 0 {
			return n
		}
	}
	return w.full(dst, msg, tcp)
}

// answer answers a well-formed question.
func (w *worker) answer(dst []byte, m *dns.Msg, tcp bool) int {
	q := &w.q
	switch t := q.qtype; {
	case t == dns.TypeOPT:
		return w.errorReply(dst, q.msg, dns.RcodeFormatError, false)
	case q.qclass == dns.ClassCHAOS:
		return w.chaos(dst, m, tcp)
	case q.qclass != dns.ClassINET:
		return w.errorReply(dst, q.msg, dns.RcodeRefused, false)
	case t == dns.TypeAXFR, t == dns.TypeIXFR:
		return w.transferAsked(dst, m, tcp)
	case t == dns.TypeNXNAME: // RFC 9824 section 3.5
		return w.explain(dst, w.errorReply(dst, q.msg, dns.RcodeFormatError, false), dns.ExtendedErrorCodeInvalidQueryType)
	case isMeta(t) && t != dns.TypeANY:
		return w.errorReply(dst, q.msg, dns.RcodeNotImplemented, false)
	}
	r := resolver{snap: w.snap, site: w.clientSite, turn: w.turn, client: w.from, most: maxAddresses, qtype: q.qtype}
	if w.snap.signs {
		r.proves, r.co, r.now, r.signs = q.do, q.co, w.server.signTime(), &w.signs
	}
	out := r.resolve(m.Question[0].Name)
	if errors.Is(r.fault, errSignLater) {
		w.count.deferred.Add(1)
		return w.cutOff(dst, dns.RcodeSuccess, out.aa)
	}
	if r.fault != nil {
		w.server.cannotSign(r.fault)
		out.rcode = dns.RcodeServerFailure
	}
	if out.rcode == dns.RcodeRefused || out.rcode == dns.RcodeServerFailure {
		return w.errorReply(dst, q.msg, out.rcode, false)
	}
	return w.pack(dst, m, &out, tcp)
}

// examine reads a whole message, and says which error it earns. What could be
// read of question, EDNS and TSIG is in w.q, for the error's answer.
func (w *worker) examine(msg []byte) (*dns.Msg, int) {
	q := &w.q
	q.msg, q.end, q.edns, q.do = msg, 0, false, false
	q.asks, q.tsig = false, 0
	opcode := int(msg[2] >> 3 & 0xf)
	one := binary.BigEndian.Uint16(msg[4:]) == 1 && q.readQuestion(msg)
	version, malformed := byte(0), true
	if one {
		version, malformed = q.readSections(msg)
	} else if opcode == dns.OpcodeQuery && q.wantsCookie(msg) {
		return nil, dns.RcodeSuccess
	}
	switch opcode {
	case dns.OpcodeQuery:
	case dns.OpcodeNotify, dns.OpcodeUpdate:
		return nil, dns.RcodeRefused
	default:
		return nil, dns.RcodeNotImplemented
	}
	if malformed { // also QDCOUNT other than 1 (RFC 9619), but for a cookie's sake
		return nil, dns.RcodeFormatError
	}
	if version != 0 {
		return nil, dns.RcodeBadVers
	}
	m := new(dns.Msg)
	if err := m.Unpack(q.ignoring(msg)); err != nil || len(m.Question) != 1 {
		return nil, dns.RcodeFormatError
	}
	return m, rcodeNone
}

// readOdd reads a message that has not the usual form, as far as it has one question of
// opcode 0: with the records of others beside it, as of a signature or of what a
// secondary has.
func (q *query) readOdd(msg []byte) {
	if q.end == 0 && (msg[2]&0x78 != 0 || binary.BigEndian.Uint16(msg[4:]) != 1 || !q.readQuestion(msg)) {
		return
	}
	q.readSections(msg)
}

// readSections walks over the records of a message. A message that does not end
// with its last record, has a second or misplaced OPT record (RFC 6891 section
// 6.1.1), a TSIG record that is not the last (RFC 8945 section 5.1) or a cookie
// of a wrong length is malformed.
func (q *query) readSections(msg []byte) (version byte, malformed bool) {
	q.tsig, q.row, q.rowEnd = 0, 0, 0
	off := max(q.end, headerLen)
	before := int(binary.BigEndian.Uint16(msg[6:])) + int(binary.BigEndian.Uint16(msg[8:]))
	total := before + int(binary.BigEndian.Uint16(msg[10:]))
	for i := range total {
		next, t := skipRR(msg, off)
		if next == 0 {
			return 0, true
		}
		switch t {
		case dns.TypeOPT:
			if q.edns || i < before || msg[off] != 0 {
				return 0, true
			}
			q.edns = true
			q.size = binary.BigEndian.Uint16(msg[off+3:])
			version = msg[off+6]
			q.do, q.co = msg[off+7]&0x80 != 0, msg[off+7]&0x40 != 0
			q.row, q.rowEnd = off+optLen, next
			q.options(msg[q.row:next])
			malformed = wrongCookie(msg[q.row:next])
		case dns.TypeTSIG:
			if i < before || i+1 < total {
				return 0, true
			}
			q.tsig = off
		}
		off = next
	}
	return version, malformed || off != len(msg)
}

// errorReply builds an answer without records from nothing: only ID, opcode, RD
// and the question are the sender's. With truncated it has TC set.
func (w *worker) errorReply(dst, msg []byte, rcode int, truncated bool) int {
	q := &w.q
	clear(dst[:headerLen])
	copy(dst, msg[:2])
	dst[2] = flagQR | msg[2]&(0x78|flagRD)
	if truncated {
		dst[2] |= flagTC
	}
	dst[3] = byte(rcode & 0xf)
	n := headerLen
	if q.end > 0 {
		binary.BigEndian.PutUint16(dst[4:], 1)
		n += copy(dst[headerLen:], msg[headerLen:q.end])
	}
	if q.edns {
		binary.BigEndian.PutUint16(dst[10:], 1)
		n += w.putOPT(dst[n:], byte(rcode>>4))
	}
	w.count.reply(rcode)
	return n
}

// pack writes an outcome to the wire. What does not fit is left out as a whole,
// with TC set: half an rrset would be taken for the whole (RFC 2181 section 9).
func (w *worker) pack(dst []byte, in *dns.Msg, out *outcome, tcp bool) int {
	q := &w.q
	m := &dns.Msg{Question: in.Question, Answer: out.answer, Ns: out.ns, Extra: out.extra, Compress: true}
	m.Id, m.Response, m.Authoritative, m.RecursionDesired, m.Rcode = in.Id, true, out.aa, in.RecursionDesired, out.rcode
	packed, err := m.Pack()
	limit := min(q.limit(tcp), len(dst)) - w.optSize()
	if err != nil || len(packed) > limit {
		if tcp {
			return w.errorReply(dst, q.msg, dns.RcodeServerFailure, false)
		}
		n := w.errorReply(dst, q.msg, out.rcode, true)
		if out.aa {
			dst[2] |= flagAA
		}
		return n
	}
	n := copy(dst, packed)
	copy(dst[headerLen:q.end], q.msg[headerLen:q.end])
	if q.edns {
		n += w.putOPT(dst[n:], 0)
		binary.BigEndian.PutUint16(dst[10:], uint16(len(m.Extra)+1))
	}
	w.count.reply(out.rcode)
	return n
}
