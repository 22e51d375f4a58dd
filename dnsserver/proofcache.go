package dnsserver

import (
	"math/bits"
	"sync/atomic"
)

// proof is the signatures of one set of one name, ready for messages. It never
// changes.
type proof struct {
	hash       uint64
	rrtype     uint16
	count      uint16
	ttl, extra uint32
	owner      int    // octets of key
	key        string // the owner in lower-cased wire form, and what the set holds
	body       []byte // records, the owner of each a pointer to the question's name
	// It is used from one time until another, Unix seconds. A clock that was wrong
	// when it was made, and has been set right, ends its use.
	from, until int64
}

// proofKey names a set by all that its signatures depend on.
type proofKey struct {
	owner  []byte // lower-cased wire form
	rrtype uint16
	ttl    uint32
	// extra is a SOA's serial, and which of more addresses than an answer holds
	// are in it.
	extra   uint32
	content []byte
}

func (k *proofKey) hash() uint64 {
	return fold(hashName(k.owner) ^ bits.RotateLeft64(hashName(k.content), 17) ^ scramble(uint64(k.rrtype)<<48^uint64(k.ttl)<<24^uint64(k.extra)))
}

// proofWays is how many places a proof may lie in.
const proofWays = 4

// proofCache keeps proofs in bounded memory, without locks: one that needs room
// takes the place of another, which is made again when it is asked for.
type proofCache struct {
	slots []atomic.Pointer[proof]
	// most is the longest content that is kept, in octets.
	most int
	next atomic.Uint32 // the place to give up
}

// newProofCache makes one of a number of places that is that power of two.
func newProofCache(power, most int) *proofCache {
	return &proofCache{slots: make([]atomic.Pointer[proof], 1<<power), most: most}
}

// ways gives the places of a hash.
func (c *proofCache) ways(h uint64) []atomic.Pointer[proof] {
	at := int(h) & (len(c.slots) - proofWays)
	return c.slots[at : at+proofWays]
}

// get gives what was kept and counts now, or nil.
func (c *proofCache) get(k *proofKey, now int64) *proof {
	h := k.hash()
	ways := c.ways(h)
	for i := range ways {
		if p := ways[i].Load(); p != nil && p.hash == h && p.is(k) && now >= p.from && now < p.until {
			return p
		}
	}
	return nil
}

// is says whether a proof is of this very set.
func (p *proof) is(k *proofKey) bool {
	return p.rrtype == k.rrtype && p.ttl == k.ttl && p.extra == k.extra &&
		p.key[:p.owner] == string(k.owner) && p.key[p.owner:] == string(k.content)
}

// put keeps a proof: in place of an older one of the set, in a free place, or at
// the cost of another.
func (c *proofCache) put(k *proofKey, p *proof) {
	if len(k.content) > c.most {
		return
	}
	ways := c.ways(p.hash)
	free := -1
	for i := range ways {
		switch old := ways[i].Load(); {
		case old == nil:
			free = i
		case old.hash == p.hash && old.is(k):
			ways[i].Store(p)
			return
		}
	}
	if free < 0 {
		free = int(c.next.Add(1)) % proofWays
	}
	ways[free].Store(p)
}
