package sites

import (
	"net/netip"
	"slices"
	"time"
)

// Source says who serves a pool.
type Source uint8

// Who serves a pool.
const (
	Empty      Source = iota // nobody, and nothing is answered
	Own                      // nodes of its own
	Emergency                // another site (A4)
	LastResort               // nothing is left, but something is answered (A5)
	Removed                  // nothing is left, and nothing is answered (A5)
)

// nothing says whether nothing can serve the pool (A5).
func (s Source) nothing() bool { return s == LastResort || s == Removed }

// Answer is what a pool gives at a moment: plain addresses, in the pool's
// order, without duplicates.
type Answer struct {
	IPv4, IPv6 []netip.Addr
	Source     Source
	// Nodes are the same addresses, node by node, for a policy that chooses
	// among them (A8); nil for PolicyAll.
	Nodes  []AnswerNode
	Policy Policy
	// From names the site whose nodes are answered; the pool's own site unless
	// Source is Emergency.
	From string
	// Horizon is how long nothing is expected to change, rounded down to the
	// TTLs that the site and its services use. A name whose TTL is larger is
	// unsettled and takes the lesser of its own and TTLUnsettled (A9).
	Horizon time.Duration
}

// AnswerNode is one node in an Answer.
type AnswerNode struct {
	Name string
	// Weight is relative to the other nodes': the configured one, times the
	// share by load under PolicyLeastLoad.
	Weight     int
	IPv4, IPv6 []netip.Addr
}

// Forever is the Horizon of a pool with no change in sight.
const Forever time.Duration = 1<<63 - 1

// Serves says whether the pool gives anything but a last resort: a service
// that is not at the client's site is answered from the first that does.
func (a Answer) Serves() bool { return a.Source == Own || a.Source == Emergency }

// TTL gives the TTL of a name of the pool whose own TTL in quiet times is ttl
// (A9).
func (a Answer) TTL(ttl, unsettled time.Duration) time.Duration {
	if a.Horizon < ttl {
		return min(ttl, unsettled)
	}
	return ttl
}

// Equal says whether two answers are the same in every respect.
func (a Answer) Equal(b Answer) bool {
	return a.SameRecords(b) && a.Source == b.Source && a.From == b.From && a.Horizon == b.Horizon &&
		a.Policy == b.Policy && slices.EqualFunc(a.Nodes, b.Nodes, AnswerNode.equal)
}

func (n AnswerNode) equal(o AnswerNode) bool {
	return n.Name == o.Name && n.Weight == o.Weight && slices.Equal(n.IPv4, o.IPv4) && slices.Equal(n.IPv6, o.IPv6)
}

// SameRecords says whether two answers hold the same addresses: what a serial
// depends on.
func (a Answer) SameRecords(b Answer) bool {
	return slices.Equal(a.IPv4, b.IPv4) && slices.Equal(a.IPv6, b.IPv6)
}

// String is "own", "emergency:SITE", "last_resort" or "empty".
func (a Answer) String() string {
	switch a.Source {
	case Own:
		return "own"
	case Emergency:
		return "emergency:" + a.From
	case LastResort:
		return "last_resort"
	case Empty, Removed:
		return "empty"
	default:
		return "empty"
	}
}
