package dnsserver

import (
	"encoding/binary"
	"fmt"

	"github.com/miekg/dns"
)

// rrset is the records of one type at one name, in the library's form and
// prepared for the wire.
type rrset struct {
	rrtype uint16
	count  uint16
	ttl    uint32
	// body holds the records, the owner of each a pointer to the question's
	// name. Names inside are not compressed.
	body []byte
	rrs  []dns.RR
	// target is where a CNAME leads.
	target landing
}

// landing is where a name lies in the snapshot.
type landing struct {
	name string // wire form, lower case; as written in the record otherwise
	// node is the one of that name when exact, else the closest name above it
	// that exists, and nil outside all zones.
	node  *node
	exact bool
}

// ownerPointer is a compression pointer to the name of the question.
const ownerPointer = 0xc000 | headerLen

// rrFixed counts the octets of a record with a compressed owner, before its
// data.
const rrFixed = 12

// newRRset prepares records of one owner and type. Duplicates are dropped, and
// all take the lowest TTL (RFC 2181 sections 5 and 5.2).
func newRRset(rrs []dns.RR) (rrset, error) {
	set := rrset{rrtype: rrs[0].Header().Rrtype, ttl: rrs[0].Header().Ttl}
	for _, rr := range rrs {
		set.ttl = min(set.ttl, rr.Header().Ttl, 1<<31-1)
	}
	for _, rr := range rrs {
		if holds(set.rrs, rr) {
			continue
		}
		c := dns.Copy(rr)
		c.Header().Ttl = set.ttl
		body, err := packBody(c)
		if err != nil {
			return rrset{}, fmt.Errorf("record %s %s: %w", rr.Header().Name, dns.TypeToString[set.rrtype], err)
		}
		set.rrs = append(set.rrs, c)
		set.body = append(set.body, body...)
		set.count++
	}
	if len(set.body) > maxMessage-headerLen-maxName-optLen-4 {
		return rrset{}, fmt.Errorf("records %s %s: %d octets do not fit in a message of 65535", rrs[0].Header().Name, dns.TypeToString[set.rrtype], len(set.body))
	}
	return set, nil
}

func holds(rrs []dns.RR, rr dns.RR) bool {
	for _, other := range rrs {
		if dns.IsDuplicate(other, rr) {
			return true
		}
	}
	return false
}

// packBody packs a record with the question's name as its owner.
func packBody(rr dns.RR) ([]byte, error) {
	packed, owner, err := packFull(rr)
	if err != nil {
		return nil, err
	}
	body := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(packed)-owner), ownerPointer)
	return append(body, packed[owner:]...), nil
}

// packFull packs a record without compression and says how long its owner is.
func packFull(rr dns.RR) (packed []byte, owner int, err error) {
	buf := make([]byte, dns.Len(rr)+maxName)
	n, err := dns.PackRR(rr, buf, 0, nil, false)
	if err != nil {
		return nil, 0, err
	}
	name, err := wireName(rr.Header().Name)
	if err != nil {
		return nil, 0, err
	}
	return buf[:n], len(name), nil
}

// find gives the set of a type, or nil.
func (n *node) find(t uint16) *rrset {
	for i := range n.sets {
		if n.sets[i].rrtype == t {
			return &n.sets[i]
		}
	}
	return nil
}
