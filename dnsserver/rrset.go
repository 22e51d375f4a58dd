package dnsserver

import (
	"encoding/binary"
	"fmt"

	"github.com/miekg/dns"
)

// rrset is the records of one type at one name under construction, in the
// library's form and prepared for the wire.
type rrset struct {
	rrtype uint16
	count  uint16
	ttl    uint32
	// body holds the records, the owner of each a pointer to the question's
	// name. Names inside are not compressed but against the zone's apex, to
	// which the pointers at tails lead.
	body  []byte
	tails []int
	rrs   []dns.RR
	// target is the name that a CNAME leads to, in lower-cased wire form.
	target string
}

// ownerPointer is a compression pointer to the name of the question.
const ownerPointer = 0xc000 | headerLen

// rrFixed counts the octets of a record with a compressed owner, before its
// data.
const rrFixed = 12

// newRRset prepares records of one owner and type, in the zone whose apex is
// given. Duplicates are dropped, and all take the lowest TTL (RFC 2181 sections 5
// and 5.2).
func newRRset(rrs []dns.RR, apex string) (rrset, error) {
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
		packed, owner, err := packFull(c)
		if err != nil {
			return rrset{}, fmt.Errorf("record %s %s: %w", rr.Header().Name, dns.TypeToString[set.rrtype], err)
		}
		// Slow answers are read from what is prepared.
		if _, _, err := dns.UnpackRR(packed, 0); err != nil {
			return rrset{}, fmt.Errorf("record %s %s: %w", rr.Header().Name, dns.TypeToString[set.rrtype], err)
		}
		if data := packed[owner+rrFixed-2:]; len(data) == 0 && !mayBeEmpty(c) || !holdsNames(set.rrtype, data) {
			return rrset{}, fmt.Errorf("record %s %s has no data, or not all of it", rr.Header().Name, dns.TypeToString[set.rrtype])
		}
		set.rrs = append(set.rrs, c)
		set.append(packed[owner:], apex)
		set.count++
	}
	if len(set.body) > maxMessage-headerLen-maxName-optLen-4 {
		return rrset{}, fmt.Errorf("records %s %s: %d octets do not fit in a message of 65535", rrs[0].Header().Name, dns.TypeToString[set.rrtype], len(set.body))
	}
	return set, nil
}

// mayBeEmpty says whether a record's data may have no octets. The library takes any
// such record, for the sake of updates (RFC 2136).
func mayBeEmpty(rr dns.RR) bool {
	switch rr.(type) {
	case *dns.RFC3597, *dns.NULL, *dns.APL:
		return true
	default:
		return false
	}
}

func holds(rrs []dns.RR, rr dns.RR) bool {
	for _, other := range rrs {
		if dns.IsDuplicate(other, rr) {
			return true
		}
	}
	return false
}

// append adds a packed record without its owner to the body.
func (s *rrset) append(record []byte, apex string) {
	start := len(s.body)
	s.body = binary.BigEndian.AppendUint16(s.body, ownerPointer)
	s.body = append(s.body, record[:rrFixed-2]...)
	data := record[rrFixed-2:]
	at, names := namesIn(s.rrtype)
	s.body = append(s.body, data[:at]...)
	for range names {
		n := wireLen(data[at:])
		keep := n
		if len(apex) > 2 && within(lowerString(data[at:at+n]), apex) {
			keep -= len(apex)
		}
		s.body = append(s.body, data[at:at+keep]...)
		if keep < n {
			s.tails = append(s.tails, len(s.body))
			s.body = binary.BigEndian.AppendUint16(s.body, ownerPointer)
		}
		at += n
	}
	s.body = append(s.body, data[at:]...)
	binary.BigEndian.PutUint16(s.body[start+rrFixed-2:], uint16(len(s.body)-start-rrFixed))
}

// namesIn says where the data of a type holds names that may be compressed (RFC
// 3597 section 4): how many in a row, and from which octet on. A CNAME's target
// stays whole: the records of the chain are owned by it.
func namesIn(t uint16) (at, count int) {
	switch t {
	case dns.TypeNS, dns.TypePTR:
		return 0, 1
	case dns.TypeMX:
		return 2, 1
	case dns.TypeSOA:
		return 0, 2
	default:
		return 0, 0
	}
}

// holdsNames says whether the names are there that the data of a type begins with.
func holdsNames(t uint16, data []byte) bool {
	at, names := namesIn(t)
	for range names {
		for {
			if at >= len(data) {
				return false
			}
			n := int(data[at])
			at += 1 + n
			if n == 0 {
				break
			}
		}
	}
	return true
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
