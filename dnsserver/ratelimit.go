package dnsserver

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// RateLimit bounds the answers over UDP to the clients of one network, a /24 of
// IPv4 or a /56 of IPv6, so that this server is of no use for floods towards
// forged senders. Loopback, private and link-local clients are exempt, and
// senders that prove their address by a cookie (RFC 7873) or who they are by a
// signature (TSIG): a secondary asks for all its zones at once.
type RateLimit struct {
	// PerSecond is how many answers go out, in a burst as many; 0 for no limit.
	PerSecond int
	// Slip is which of the answers over the limit leaves as a truncated one, so
	// that a real client comes back over TCP: 2 for each second; 0 for none.
	Slip int
	// DryRun counts what would be held back and answers it.
	DryRun bool
}

// Sizes of the table of clients, and of the networks that are counted together.
const (
	limitSets     = 1 << 14
	limitSlots    = 4
	limitBits4    = 24
	limitBits6    = 56
	limitTimeBits = 48 // of a slot: microseconds, nine years
	limitTimeMask = 1<<limitTimeBits - 1
)

// limiter counts the answers of networks in fixed memory, without locks. A slot
// holds a part of the network's hash and the time until which its answers are
// used up (the generic cell rate algorithm). Where all slots of a set are taken,
// the network that is furthest from its limit loses its place.
type limiter struct {
	seed    maphash.Seed
	started time.Time
	sets    [limitSets][limitSlots]atomic.Uint64
}

// over says whether a network has had its answers; one that has not is counted.
func (l *limiter) over(from netip.Addr, now time.Time, perSecond int) bool {
	h := maphash.Comparable(l.seed, limitNetwork(from))
	set, tag := &l.sets[h%limitSets], h&^limitTimeMask
	const second = uint64(time.Second / time.Microsecond)
	step := second / uint64(perSecond)
	at := uint64(max(0, now.Sub(l.started)/time.Microsecond)) + 1 // 0 is a free slot
	for {
		slot, old := slotOf(set, tag)
		until := at
		if old&^limitTimeMask == tag {
			until = max(at, old&limitTimeMask)
		}
		if until+step > at+second {
			return true
		}
		if slot.CompareAndSwap(old, tag|(until+step)&limitTimeMask) {
			return false
		}
	}
}

// slotOf gives the slot of a tag, or the one that is given up for it.
func slotOf(set *[limitSlots]atomic.Uint64, tag uint64) (slot *atomic.Uint64, value uint64) {
	for i := range set {
		v := set[i].Load()
		if v != 0 && v&^limitTimeMask == tag {
			return &set[i], v
		}
		if slot == nil || v&limitTimeMask < value&limitTimeMask {
			slot, value = &set[i], v
		}
	}
	return slot, value
}

// limitNetwork gives the network of a client.
func limitNetwork(a netip.Addr) netip.Prefix {
	bits := limitBits6
	if a.Is4() {
		bits = limitBits4
	}
	p, err := a.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// local says whether a client is one of a network of our own, where one address
// may ask for thousands.
func local(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast()
}

// limited says whether a message over UDP is one too many, where there is a limit.
// Its question, cookie and signature have been found where it has one question of
// opcode 0.
func (w *worker) limited(msg []byte) bool {
	r := &w.snap.rate
	if local(w.from) || w.cookieOf() == cookieValid {
		return false
	}
	if !w.server.limiter.over(w.from, w.server.now(), r.PerSecond) || w.keyed(msg) {
		return false
	}
	w.nth = w.count.limited.Add(1)
	return !r.DryRun
}

// slip answers some of the messages that are too many, in a form that is hardly
// longer than the question but shows a real client the way: over TCP, or with
// the cookie that comes along (RFC 7873 section 5.2.3).
func (w *worker) slip(dst, msg []byte) int {
	if every := w.snap.rate.Slip; every == 0 || w.nth%uint64(every) != 0 || w.q.end == 0 {
		w.count.drop(dropLimited)
		return 0
	}
	w.count.slipped.Add(1)
	if w.cookieOf() != cookieNone {
		return w.errorReply(dst, msg, dns.RcodeBadCookie, false)
	}
	return w.errorReply(dst, msg, dns.RcodeSuccess, true)
}
