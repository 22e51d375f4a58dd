package dnsserver

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"sort"

	"github.com/dnsteer/dnsteer/sites"
)

// Networks whose clients ip_hash sends to the same node: one home or office
// over IPv4 and IPv6.
const (
	networkBits4 = 24
	networkBits6 = 56
)

// share is one node's part of an rrset, under a policy that answers one node at
// a time (rule A8).
type share struct {
	addresses
	hash   uint64 // of the node's name
	weight uint64
	upTo   uint64 // the sum of the weights up to this one's
}

// shares are the nodes of one family that a policy chooses among. Those of
// weight 0 are left out as long as another has more.
type shares struct {
	policy sites.Policy
	nodes  []share
	even   bool // all weigh the same
}

func newShares(a *sites.Answer, list func(*sites.AnswerNode) []netip.Addr, width int) shares {
	s := shares{policy: a.Policy, even: true}
	if a.Policy == sites.PolicyAll {
		return s
	}
	weighty := false
	for i := range a.Nodes {
		n := &a.Nodes[i]
		if in := list(n); len(in) > 0 {
			s.nodes = append(s.nodes, share{addresses: newAddresses(in, width), hash: hashOf(n.Name), weight: uint64(max(0, n.Weight))})
			weighty = weighty || n.Weight > 0
		}
	}
	if weighty {
		s.nodes = slices.DeleteFunc(s.nodes, func(n share) bool { return n.weight == 0 })
	}
	sum := uint64(0)
	for i := range s.nodes {
		n := &s.nodes[i]
		if !weighty {
			n.weight = 1
		}
		sum += n.weight
		n.upTo = sum
		s.even = s.even && n.weight == s.nodes[0].weight
	}
	return s
}

// choose gives the node that a client is answered at a turn. It is nil for all
// of them: where there is no choice, or no client.
func (s *shares) choose(client netip.Addr, turn uint32) *share {
	switch {
	case len(s.nodes) == 0 || !client.IsValid():
		return nil
	case len(s.nodes) == 1:
		return &s.nodes[0]
	case s.policy == sites.PolicyIPHash:
		return s.byNetwork(networkOf(client))
	default: // by weight, or by load, which is in the weights
		return s.byWeight(scramble(uint64(turn)))
	}
}

// byWeight gives a node for a random number, each with a probability in
// proportion to its weight.
func (s *shares) byWeight(random uint64) *share {
	total := s.nodes[len(s.nodes)-1].upTo
	at, _ := bits.Mul64(random, total)
	return &s.nodes[sort.Search(len(s.nodes), func(i int) bool { return s.nodes[i].upTo > at })]
}

// byNetwork gives the node whose hash with the network is highest (rendezvous
// hashing): it depends on nothing but the two names, and a node that leaves or
// comes moves no client between the others. Weights scale the chances by the
// logarithm of the hash, which keeps the order of nodes that weigh the same.
func (s *shares) byNetwork(network uint64) *share {
	best := &s.nodes[0]
	if s.even {
		top := scramble(best.hash ^ network)
		for i := 1; i < len(s.nodes); i++ {
			n := &s.nodes[i]
			if h := scramble(n.hash ^ network); h > top {
				best, top = n, h
			}
		}
		return best
	}
	top := math.Inf(-1)
	for i := range s.nodes {
		n := &s.nodes[i]
		// Between 0 and 1, both excluded.
		chance := (float64(scramble(n.hash^network)>>12) + 0.5) / (1 << 52)
		if score := math.Log(chance) / float64(n.weight); score > top {
			best, top = n, score
		}
	}
	return best
}

// networkOf gives a number for a client's network.
func networkOf(client netip.Addr) uint64 {
	if client.Is4() {
		b := client.As4()
		return scramble(uint64(binary.BigEndian.Uint32(b[:]) >> (32 - networkBits4)))
	}
	b := client.As16()
	// The top bit tells it from every IPv4 one.
	return scramble(binary.BigEndian.Uint64(b[:8])>>(64-networkBits6) | 1<<63)
}

// hashOf spreads a name over 64 bits, the same in every process.
func hashOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return scramble(h.Sum64())
}

// scramble maps numbers one to one to others that look random, also for numbers
// that follow each other (the finalizer of SplitMix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
