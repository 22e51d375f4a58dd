package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// The names of a snapshot and their records lie in one arena of octets without
// pointers, each name beside its records: looking a name up touches few lines of
// memory, and the garbage collector has nothing to follow, however many names
// there are. Numbers are little-endian, what goes into messages is not.

// nodeUnit is what nodes begin at multiples of, in octets; the unit of a ref. A
// node lies in no more lines of the cache than it must.
const (
	nodeUnit = 8
	nodeLine = 64
)

// ref is where a node lies in the arena, 0 for none.
type ref uint32

// node is a name that exists, perhaps only because of names below it (RFC 4592
// section 2.2.2), as it lies in the arena. It is nil where there is none.
//
//	0  octets of the name
//	1  flags
//	2  number of sets
//	4  zone, in the order of the snapshot
//	8  service that A and AAAA come from, counted from 1; 0 for none
//	12 links, where the flag says so
//	   the name in lower-cased wire form, the sets, the glue
//
// Links are what most nodes have none of:
//
//	0  ref of the child "*"
//	4  ref of the delegation that the name lies at or below, or of the name above
//	   it whose DNAME covers it
//	8  offset of the glue of a delegation in the node; 0 for none
type node []byte

const (
	nodeHead  = 12
	nodeLinks = 12
)

// Flags of a node.
const (
	nodeApex      = 1 << iota // of its zone
	nodeCut                   // a delegation
	nodeBelowCut              // a delegation or below one
	nodeBelowName             // covered by a DNAME
	nodeDNAME                 // owns one
	nodeLinked                // has links
)

func (n node) has(flag byte) bool { return n[1]&flag != 0 }
func (n node) zone() int          { return int(binary.LittleEndian.Uint32(n[4:])) }
func (n node) service() int       { return int(binary.LittleEndian.Uint32(n[8:])) }
func (n node) wild() ref          { return ref(n.link(0)) }
func (n node) over() ref          { return ref(n.link(4)) }

// link reads one of the links.
func (n node) link(at int) uint32 {
	if !n.has(nodeLinked) {
		return 0
	}
	return binary.LittleEndian.Uint32(n[nodeHead+at:])
}

// head counts the octets before the name.
func (n node) head() int {
	if n.has(nodeLinked) {
		return nodeHead + nodeLinks
	}
	return nodeHead
}

// name is the node's, in lower-cased wire form.
func (n node) name() []byte {
	at := n.head()
	return n[at : at+int(n[0])]
}

// glue gives the addresses that belong to a referral (RFC 9471): a set of whole
// records with their owners in full, or nil.
func (n node) glue() set {
	if at := n.link(8); at != 0 {
		return set(n[at:])
	}
	return nil
}

// sets gives the first of the node's sets, and how many there are.
func (n node) sets() (first set, count int) {
	return set(n[n.head()+int(n[0]):]), int(binary.LittleEndian.Uint16(n[2:]))
}

// find gives the set of a type, or nil.
func (n node) find(t uint16) set {
	s, count := n.sets()
	for range count {
		if s.rrtype() == t {
			return s
		}
		s = s.next()
	}
	return nil
}

// set is the records of one type at one name, as they lie in the arena.
//
//	0  type
//	2  number of records
//	4  octets of the body
//	6  number of tails
//	8  tails, 2 octets each: where the pointers to the apex lie in the body
//	   the body: records as they go into a message
//
// That of a CNAME has two fields more:
//
//	the name that it leads to, in lower case
//	ref of that node, or of the closest name above it that exists; 0 outside all
//	zones
//	whether that name exists itself
type set []byte

const (
	setHead = 8
	setLead = 5 // octets of the two last fields
)

func (s set) rrtype() uint16 { return binary.LittleEndian.Uint16(s) }
func (s set) count() uint16  { return binary.LittleEndian.Uint16(s[2:]) }
func (s set) bodyLen() int   { return int(binary.LittleEndian.Uint16(s[4:])) }
func (s set) tails() int     { return int(binary.LittleEndian.Uint16(s[6:])) }

// leadsTo gives the node that a CNAME leads to, or the closest above it, and
// whether it is that name's.
func (s set) leadsTo() (to ref, exact bool) {
	b := s[s.size()-setLead:]
	return ref(binary.LittleEndian.Uint32(b)), b[4] != 0
}

// body holds the records, the owner of each a pointer to the question's name.
// Names inside are not compressed but against the zone's apex.
func (s set) body() []byte {
	at := setHead + 2*s.tails()
	return s[at : at+s.bodyLen()]
}

// target is the name that a CNAME leads to, in lower case.
func (s set) target() []byte {
	at := setHead + 2*s.tails() + s.bodyLen()
	return s[at : at+s.bodyLen()-rrFixed]
}

// size counts the octets of a set.
func (s set) size() int {
	n := setHead + 2*s.tails() + s.bodyLen()
	if s.rrtype() == dns.TypeCNAME {
		n += s.bodyLen() - rrFixed + setLead
	}
	return n
}

func (s set) next() set { return s[s.size():] }

// put copies the records to b, with their owner and the zone's apex at these
// offsets of the message.
func (s set) put(b []byte, owner, apex int) {
	copy(b, s.body())
	if owner != headerLen {
		setOwners(b, owner)
	}
	for i := range s.tails() {
		at := binary.LittleEndian.Uint16(s[setHead+2*i:])
		binary.BigEndian.PutUint16(b[at:], uint16(0xc000|apex))
	}
}

// records gives the set on the library's types, as the wire name's.
func (s set) records(owner, apex string) []dns.RR {
	msg := make([]byte, headerLen, headerLen+len(owner)+len(apex)+s.bodyLen())
	msg = append(append(msg, owner...), apex...)
	start := len(msg)
	msg = append(msg, s.body()...)
	s.put(msg[start:], headerLen, headerLen+len(owner))
	return unpackAll(msg, start)
}

// whole gives records that have their owners in full.
func (s set) whole() []dns.RR {
	if s == nil {
		return nil
	}
	return unpackAll(s.body(), 0)
}

// unpackAll reads the records from off to the end. They have been read once when
// they were prepared.
func unpackAll(msg []byte, off int) (out []dns.RR) {
	for off < len(msg) {
		rr, next, err := dns.UnpackRR(msg, off)
		if err != nil || next <= off {
			return out
		}
		out, off = append(out, rr), next
	}
	return out
}
