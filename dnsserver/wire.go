package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// Sizes of the protocol, in octets.
const (
	headerLen  = 12
	maxName    = 255
	optLen     = 11
	minUDP     = 512  // RFC 1035 section 4.2.1
	maxUDP     = 1232 // what passes everywhere unfragmented (RFC 9715)
	maxMessage = 65535
)

// Bits of the header's third and fourth octet.
const (
	flagQR = 0x80
	flagAA = 0x04
	flagTC = 0x02
	flagRD = 0x01
)

// query is a question as it is read from its octets. One is reused for many
// messages.
type query struct {
	msg []byte
	// end is the offset behind the question; 0 when none could be read.
	end int
	// nameLen counts the octets of the name, the final zero included; the name
	// begins at headerLen.
	nameLen int
	// lower is the name in lower case, and starts the offsets of its labels in
	// it, that of the root included.
	lower  [maxName]byte
	starts [128]uint8
	labels int // without the root

	qtype, qclass uint16

	edns bool
	do   bool
	// co is that compact answers may say NXDOMAIN (RFC 9824 section 5.1); of no
	// meaning without do.
	co   bool
	size uint16 // the sender's UDP size, when edns
	// asks says that there are options that are answered: cookie is the first one's
	// contents (RFC 7873), nil for none, and nsid that there is one (RFC 5001). Both
	// are of an earlier query otherwise.
	asks   bool
	nsid   bool
	cookie []byte
	tsig   int // offset of the TSIG record; 0 for none
	// row and rowEnd are where the EDNS options lie in a message whose sections have
	// been read; 0 for none.
	row, rowEnd int
}

// name gives the lower-cased name. It is valid until the next read.
func (q *query) name() []byte { return q.lower[:q.nameLen] }

// readQuestion reads the only question of a message. A name with a compression
// pointer is refused: nothing stands before it that it could point to.
func (q *query) readQuestion(msg []byte) bool {
	q.msg, q.end, q.edns, q.do = msg, 0, false, false
	q.asks = false
	off, labels := headerLen, 0
	for {
		if off >= len(msg) || off-headerLen >= maxName {
			return false
		}
		n := int(msg[off])
		q.starts[labels] = uint8(off - headerLen)
		off++
		if n == 0 {
			break
		}
		if off += n; n > 63 {
			return false
		}
		labels++
	}
	if off+4 > len(msg) {
		return false
	}
	q.nameLen = off - headerLen
	lowerInto(q.lower[:q.nameLen], msg[headerLen:off])
	q.labels = labels
	q.qtype = binary.BigEndian.Uint16(msg[off:])
	q.qclass = binary.BigEndian.Uint16(msg[off+2:])
	q.end = off + 4
	return true
}

// usual reads a whole message and says whether it has the form that nearly
// every query has: one question of class IN, an ordinary type, and at most one
// OPT record of version 0, with nothing behind it. Whatever it takes, the
// library's unpacker takes too.
func (q *query) usual(msg []byte) bool {
	q.end, q.edns, q.asks, q.tsig = 0, false, false, 0
	// QR and opcode 0; TC and AA are of no meaning in a query.
	if msg[2]&0xf8 != 0 || binary.BigEndian.Uint64(msg[4:])&^1 != 1<<48 {
		return false
	}
	if !q.readQuestion(msg) || q.qclass != dns.ClassINET || isMeta(q.qtype) {
		return false
	}
	if msg[11] == 0 {
		return q.end == len(msg)
	}
	return q.readOPT(msg[q.end:])
}

// isMeta says whether a type asks for something else than the records of that
// type (RFC 6895 section 3.1).
func isMeta(t uint16) bool { return t == dns.TypeOPT || t >= 128 && t <= 255 }

// readOPT reads an OPT record (RFC 6891) that must fill b.
func (q *query) readOPT(b []byte) bool {
	if len(b) < optLen || b[0] != 0 || binary.BigEndian.Uint16(b[1:]) != dns.TypeOPT || b[6] != 0 {
		return false
	}
	if int(binary.BigEndian.Uint16(b[9:])) != len(b)-optLen || len(b) > optLen && !q.options(b[optLen:]) {
		return false
	}
	q.edns = true
	q.size = binary.BigEndian.Uint16(b[3:])
	q.do, q.co = b[7]&0x80 != 0, b[7]&0x40 != 0
	return true
}

// plain says whether an option is well formed, of a code that is answered or
// ignored.
func plain(code uint16, b []byte) bool {
	switch {
	case code == dns.EDNS0NSID, code == dns.EDNS0PADDING:
		return true
	case code == dns.EDNS0COOKIE:
		return len(b) == clientCookie || len(b) >= minCookie && len(b) <= maxCookie
	case code == dns.EDNS0SUBNET:
		return plainSubnet(b)
	case code == dns.EDNS0TCPKEEPALIVE:
		return len(b) == 0
	default:
		return code >= firstUnknownOption
	}
}

// firstUnknownOption is above all options that anybody looks into.
const firstUnknownOption = 64

// plainSubnet says whether b is a well-formed client subnet (RFC 7871 section
// 6). It steers nothing: views go by who asks.
func plainSubnet(b []byte) bool {
	if len(b) < 4 || b[3] != 0 || len(b)-4 != (int(b[2])+7)/8 {
		return false
	}
	switch binary.BigEndian.Uint16(b) {
	case 1:
		return b[2] <= 32
	case 2:
		return b[2] <= 128
	default:
		return false
	}
}

// limit gives the largest answer, in octets, that the sender takes.
func (q *query) limit(tcp bool) int {
	switch {
	case tcp:
		return maxMessage
	case !q.edns:
		return minUDP
	default:
		return int(min(max(q.size, minUDP), maxUDP))
	}
}

// lowerInto copies src to dst, ASCII letters in lower case (RFC 4343). The
// lengths of labels in a name are below all letters.
func lowerInto(dst, src []byte) {
	dst = dst[:len(src)]
	if len(src) < 8 {
		for i, c := range src {
			if c-'A' <= 'Z'-'A' {
				c += 'a' - 'A'
			}
			dst[i] = c
		}
		return
	}
	last := len(src) - 8
	for i := 0; i < last; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], lower8(binary.LittleEndian.Uint64(src[i:])))
	}
	binary.LittleEndian.PutUint64(dst[last:], lower8(binary.LittleEndian.Uint64(src[last:]))) // some again
}

// lower8 puts 8 octets in lower case at once: the top bit of each says whether
// it is a letter, and moves to where the cases differ.
func lower8(x uint64) uint64 {
	const each = 0x0101010101010101
	low := x & (0x7f * each)
	letter := (low + (0x80-'A')*each) &^ (low + (0x7f-'Z')*each) &^ x & (0x80 * each)
	return x | letter>>2
}

// wireName gives a name in lower-cased wire form, the key of the name index.
func wireName(text string) (string, error) {
	var b [maxName + 1]byte
	n, err := dns.PackDomainName(dns.Fqdn(text), b[:], 0, nil, false)
	if err != nil {
		return "", err
	}
	lowerInto(b[:n], b[:n])
	return string(b[:n]), nil
}

// lowerString gives a wire name in lower case.
func lowerString(name []byte) string {
	b := make([]byte, len(name))
	lowerInto(b, name)
	return string(b)
}

// wireLen gives the length of the uncompressed name that b begins with.
func wireLen(b []byte) int {
	n := 0
	for b[n] != 0 {
		n += 1 + int(b[n])
	}
	return n + 1
}

// textName gives the presentation form of a wire name, with the final dot.
func textName(wire string) string {
	s, _, err := dns.UnpackDomainName([]byte(wire), 0)
	if err != nil {
		return "(malformed name)"
	}
	return s
}

// parentOf cuts the first label off a wire name; "" for the root.
func parentOf(wire string) string {
	if wire == "" || wire[0] == 0 {
		return ""
	}
	return wire[1+int(wire[0]):]
}

// labelsOf counts the labels of a wire name, without the root.
func labelsOf(wire string) int {
	n := 0
	for wire != "" && wire[0] != 0 {
		wire = wire[1+int(wire[0]):]
		n++
	}
	return n
}

// within says whether a wire name is zone or below it.
func within(wire, zone string) bool {
	for n := wire; n != ""; n = parentOf(n) {
		if n == zone {
			return true
		}
	}
	return false
}

// skipRR gives the offset behind the record at off, or 0 when it is malformed
// or not whole.
func skipRR(msg []byte, off int) (next int, rrtype uint16) {
	for {
		if off >= len(msg) {
			return 0, 0
		}
		n := int(msg[off])
		off++
		if n == 0 {
			break
		}
		if n&0xc0 == 0xc0 {
			off++
			break
		}
		if n > 63 {
			return 0, 0
		}
		off += n
	}
	if off+10 > len(msg) {
		return 0, 0
	}
	rrtype = binary.BigEndian.Uint16(msg[off:])
	off += 10 + int(binary.BigEndian.Uint16(msg[off+8:]))
	if off > len(msg) {
		return 0, 0
	}
	return off, rrtype
}
