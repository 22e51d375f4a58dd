package dnsserver

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// maxAddresses is how many addresses one answer holds.
const maxAddresses = 8

// Bounds of a service name's TTL at the wire, in seconds. No answer may be
// pinned for longer by a mistake further up.
const (
	minServiceTTL = 1
	maxServiceTTL = 3600
	maxServiceNeg = 60 // of negative answers about service names
)

// poolKey names a pool of a site.
type poolKey struct{ site, pool string }

// pool is the moving part of the snapshot.
type pool struct {
	key poolKey
	// body is nil until the first SetAnswer.
	body atomic.Pointer[poolBody]
}

// poolBody is what a pool gives, prepared for the wire.
type poolBody struct {
	answer sites.Answer
	v4, v6 familyBody
}

// familyBody is what a pool gives of one family.
type familyBody struct {
	all addresses
	shares
}

// addresses is an rrset of addresses: the data of its records one after another.
type addresses struct {
	list  []netip.Addr
	data  []byte
	width int // octets of one address
}

// newBody prepares an answer, which it keeps a copy of.
func newBody(a sites.Answer) *poolBody {
	a.IPv4, a.IPv6, a.Nodes = slices.Clone(a.IPv4), slices.Clone(a.IPv6), slices.Clone(a.Nodes)
	for i := range a.Nodes {
		n := &a.Nodes[i]
		n.IPv4, n.IPv6 = slices.Clone(n.IPv4), slices.Clone(n.IPv6)
	}
	return &poolBody{
		answer: a,
		v4:     familyBody{newAddresses(a.IPv4, 4), newShares(&a, func(n *sites.AnswerNode) []netip.Addr { return n.IPv4 }, 4)},
		v6:     familyBody{newAddresses(a.IPv6, 16), newShares(&a, func(n *sites.AnswerNode) []netip.Addr { return n.IPv6 }, 16)},
	}
}

// give gives what a client is answered at a turn.
func (f *familyBody) give(client netip.Addr, turn uint32) *addresses {
	if n := f.choose(client, turn); n != nil {
		return &n.addresses
	}
	return &f.all
}

func newAddresses(in []netip.Addr, width int) addresses {
	a := addresses{list: in, width: width, data: make([]byte, 0, width*len(in))}
	for _, ip := range in {
		a.data = append(a.data, ip.AsSlice()...)
	}
	return a
}

// service is what a host name's addresses come from.
type service struct {
	number  int            // in the snapshot, from 1
	entries []serviceEntry // in the order of the configuration
	// bySite is the index into entries by site, none where it has none; nil where the
	// entries are few: a table of all sites for each name would be large.
	bySite []int32
}

// fewEntries are looked through.
const fewEntries = 8

// at gives the place of a site among the entries; none where it is not there.
func (s *service) at(site int32) int32 {
	if s.bySite != nil {
		return s.bySite[site]
	}
	for i := range s.entries {
		if s.entries[i].site == site {
			return int32(i)
		}
	}
	return none
}

// serviceEntry is a service at one site.
type serviceEntry struct {
	site           int32
	pool           *pool
	ttl, unsettled time.Duration
}

// pick gives what a client of the site is answered from: its own site's pool,
// else that of the first site that serves, else of the first. The body is nil
// when nobody has said yet what that pool gives.
func (s *service) pick(site int32) (*serviceEntry, *poolBody) {
	if site != none {
		if i := s.at(site); i != none {
			e := &s.entries[i]
			return e, e.pool.body.Load()
		}
	}
	var first *serviceEntry
	var firstBody *poolBody
	for i := range s.entries {
		e := &s.entries[i]
		b := e.pool.body.Load()
		if b == nil {
			continue
		}
		if b.answer.Serves() {
			return e, b
		}
		if first == nil {
			first, firstBody = e, b
		}
	}
	if first == nil {
		return &s.entries[0], nil
	}
	return first, firstBody
}

// seconds gives the TTL of a name of the service at the moment (rule A9),
// between 1 s and an hour.
func (e *serviceEntry) seconds(b *poolBody) uint32 {
	s := int64(b.answer.TTL(e.ttl, e.unsettled) / time.Second)
	return uint32(min(max(s, minServiceTTL), maxServiceTTL))
}
