package dnsserver

import (
	"slices"

	"github.com/miekg/dns"
)

// What a signed name lacks is denied by one NSEC record at the very name, whose
// next name is the next that there could be: it says of nothing else (RFC 9824).
// Of a missing name it says that it has the type NXNAME.

// successor appends the first name behind another in the canonical order (RFC 4034
// section 6.1), in lower-cased wire form.
func successor(dst, name []byte) []byte {
	if len(name)+2 <= maxName {
		return append(append(dst, 1, 0), name...) // a child
	}
	// There is no room for a child: a longer label, or a greater one.
	for len(name) > 1 {
		n := int(name[0])
		label, rest := name[1:1+n], name[1+n:]
		if n < 63 && len(name) < maxName {
			dst = append(append(dst, byte(n+1)), label...)
			return append(append(dst, 0), rest...)
		}
		for i, c := range slices.Backward(label) {
			if c == 0xff {
				continue
			}
			if c++; c == 'A' {
				c = 'Z' + 1 // capitals sort as the small letters that they are
			}
			dst = append(append(dst, byte(i+1)), label[:i]...)
			return append(append(dst, c), rest...)
		}
		name = rest
	}
	return append(dst, 0)
}

// appendBitmap appends types in the form of an NSEC record (RFC 4034 section
// 4.1.2). They are in order, each there once.
func appendBitmap(dst []byte, types []uint16) []byte {
	for len(types) > 0 {
		window := types[0] >> 8
		start := len(dst)
		dst = append(dst, byte(window), 0)
		for len(types) > 0 && types[0]>>8 == window {
			at := int(types[0] & 0xff)
			for len(dst) < start+2+at/8+1 {
				dst = append(dst, 0)
			}
			dst[start+2+at/8] |= 0x80 >> (at % 8)
			types = types[1:]
		}
		dst[start+1] = byte(len(dst) - start - 2)
	}
	return dst
}

// has says what a pool gives of a family; of a pool of which nothing is known,
// that it gives something: nobody is to remember the contrary.
func (b *poolBody) has(t uint16) bool {
	switch {
	case b == nil:
		return true
	case t == dns.TypeA:
		return len(b.v4.all.list) > 0
	default:
		return len(b.v6.all.list) > 0
	}
}

// typesOf appends the types of a node, for its NSEC record; nil is a name that is
// missing. The body is that of its service.
func typesOf(dst []uint16, n node, body *poolBody) []uint16 {
	if n == nil {
		return append(dst, dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNXNAME)
	}
	start := len(dst)
	if n.has(nodeCut) { // all else there is the child's
		dst = append(dst, dns.TypeNS)
		if n.find(dns.TypeDS) != nil {
			dst = append(dst, dns.TypeDS)
		}
		return append(dst, dns.TypeRRSIG, dns.TypeNSEC)
	}
	s, count := n.sets()
	for range count {
		dst = append(dst, s.rrtype())
		s = s.next()
	}
	if n.service() > 0 {
		for _, t := range [...]uint16{dns.TypeA, dns.TypeAAAA} {
			if body.has(t) {
				dst = append(dst, t)
			}
		}
	}
	dst = append(dst, dns.TypeRRSIG, dns.TypeNSEC)
	slices.Sort(dst[start:])
	return dst
}
