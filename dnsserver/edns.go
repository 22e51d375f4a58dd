package dnsserver

import (
	"bytes"
	"encoding/binary"

	"github.com/miekg/dns"
)

// options reads a row of EDNS options. known is false where the row or one of
// them is malformed, or where the library may refuse the contents of one that it
// looks into: they are left to it, and what follows them is read.
func (q *query) options(b []byte) (known bool) {
	q.cookie, q.nsid, known = nil, false, true
	for len(b) > 0 {
		if len(b) < 4 {
			return false
		}
		code, n := binary.BigEndian.Uint16(b), int(binary.BigEndian.Uint16(b[2:]))
		if len(b) < 4+n {
			return false
		}
		switch {
		case !plain(code, b[4:4+n]):
			known = false
		case code == dns.EDNS0COOKIE:
			if q.cookie == nil { // RFC 7873 section 5.2: others are ignored
				q.cookie, q.asks = b[4:4+n], true
			}
		case code == dns.EDNS0NSID:
			q.nsid, q.asks = true, true
		}
		b = b[4+n:]
	}
	return known
}

// known says whether this server looks into options of a code. Others are ignored,
// whatever they hold (RFC 6891 section 6.1.2).
func known(code uint16) bool {
	switch code {
	case dns.EDNS0NSID, dns.EDNS0SUBNET, dns.EDNS0COOKIE, dns.EDNS0TCPKEEPALIVE, dns.EDNS0PADDING:
		return true
	default:
		return false
	}
}

// ignoring gives a message in a form in which the library looks into no option that
// this server ignores: it would refuse an empty one of RFC 9660, as dig +zoneversion
// sends it. The sections have been read.
func (q *query) ignoring(msg []byte) []byte {
	cloned := false
	for at := q.row; at > 0 && at+4 <= q.rowEnd; at += 4 + int(binary.BigEndian.Uint16(msg[at+2:])) {
		if code := binary.BigEndian.Uint16(msg[at:]); known(code) || code >= firstUnknownOption {
			continue
		}
		if !cloned {
			msg, cloned = bytes.Clone(msg), true
		}
		binary.BigEndian.PutUint16(msg[at:], firstUnknownOption)
	}
	return msg
}

// wrongCookie says whether a row of options, which may be malformed otherwise,
// holds a cookie of a length that none has (RFC 7873 section 5.2.2).
func wrongCookie(b []byte) bool {
	for len(b) >= 4 {
		code, n := binary.BigEndian.Uint16(b), int(binary.BigEndian.Uint16(b[2:]))
		if len(b) < 4+n {
			return false
		}
		if code == dns.EDNS0COOKIE && !plain(code, b[4:4+n]) {
			return true
		}
		b = b[4+n:]
	}
	return false
}

// wantsCookie says whether a message asks for nothing but a cookie of ours: it has no
// question, and one of the sender's (RFC 7873 section 5.4).
func (q *query) wantsCookie(msg []byte) bool {
	if binary.BigEndian.Uint16(msg[4:]) != 0 {
		return false
	}
	version, malformed := q.readSections(msg)
	return !malformed && version == 0 && q.tsig == 0 && q.edns && q.asks && q.cookie != nil
}

// optSize is how many octets the answer's OPT record takes; 0 where the query
// has none.
func (w *worker) optSize() int {
	switch q := &w.q; {
	case !q.edns:
		return 0
	case !q.asks:
		return optLen
	default:
		return optLen + w.optionsSize()
	}
}

// optionsSize is how many octets the options take that answer the query's.
func (w *worker) optionsSize() (n int) {
	if w.q.cookie != nil {
		n += 4 + clientCookie + serverCookie
	}
	if w.q.nsid && w.snap.serverID != "" {
		n += 4 + len(w.snap.serverID)
	}
	return n
}

// putOPT writes our OPT record with the upper bits of the rcode, and the options
// that answer the query's.
func (w *worker) putOPT(b []byte, extended byte) int {
	const size = maxUDP
	copy(b, []byte{0, 0, byte(dns.TypeOPT), size >> 8, size & 0xff, extended, 0, 0, 0, 0, 0})
	if w.q.do {
		b[7] = 0x80
		if w.q.co && w.snap.signs {
			b[7] |= 0x40
		}
	}
	if !w.q.asks {
		return optLen
	}
	return w.putOptions(b)
}

// putOptions completes an OPT record by its options.
func (w *worker) putOptions(b []byte) int {
	n := optLen
	if w.q.cookie != nil {
		n += w.putCookie(b[n:])
	}
	if id := w.snap.serverID; w.q.nsid && id != "" {
		b[n], b[n+1] = 0, byte(dns.EDNS0NSID)
		binary.BigEndian.PutUint16(b[n+2:], uint16(len(id)))
		n += 4 + copy(b[n+4:], id)
	}
	binary.BigEndian.PutUint16(b[9:], uint16(n-optLen))
	return n
}

// explain adds a reason (RFC 8914) to an error's answer of n octets, whose OPT
// record, where there is one, is the last.
func (w *worker) explain(dst []byte, n int, reason uint16) int {
	const size = 6
	if !w.q.edns || n+size > len(dst) {
		return n
	}
	length := dst[n-w.optSize()+optLen-2:]
	binary.BigEndian.PutUint16(length, binary.BigEndian.Uint16(length)+size)
	copy(dst[n:], []byte{0, byte(dns.EDNS0EDE), 0, 2, byte(reason >> 8), byte(reason)})
	return n + size
}
