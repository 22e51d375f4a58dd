package dnsserver

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// reason says why a message got no answer.
type reason uint8

// The reasons.
const (
	dropShort    reason = iota // fewer octets than a header
	dropResponse               // QR is set: answering would be a loop
	dropStranger               // the source is not in AllowQuery
	dropOversize               // longer than is taken
	dropLimited                // over the rate limit
	dropSend                   // the system did not take the answer
	dropNoSource               // arrived at an address that cannot answer
	dropLate                   // TCP: the client did not write or read in time
	reasons      = int(iota)
)

var reasonNames = [reasons]string{
	"short", "response", "stranger", "oversize", "limited", "send", "no_source", "late",
}

// rcodes is how many rcodes are counted apart; BADCOOKIE is the last.
const rcodes = dns.RcodeBadCookie + 1

// counters are those of one worker.
type counters struct {
	replies   [rcodes]atomic.Uint64
	dropped   [reasons]atomic.Uint64
	slow      atomic.Uint64
	unmatched atomic.Uint64
	panics    atomic.Uint64
	cookies   atomic.Uint64
	limited   atomic.Uint64
	slipped   atomic.Uint64
	deferred  atomic.Uint64
	unlogged  atomic.Uint64
	took      [len(tookBounds) + 1]atomic.Uint64
	tookSum   atomic.Uint64 // nanoseconds
	_         [64]byte      // keeps workers off each other's cache lines
}

func (c *counters) reply(rcode int) { c.replies[rcode].Add(1) }
func (c *counters) drop(r reason)   { c.dropped[r].Add(1) }

// Stats are the counts since the server was made.
type Stats struct {
	UDP, TCP Transport
	// Connections is how many TCP connections are open, Evicted how many were
	// closed to make place for others.
	Connections int
	Evicted     uint64
	// Unmatched counts queries for service names from sources that match no
	// view; Strangers lists the most frequent of these, in falling order.
	Unmatched uint64
	Strangers []Source
	// Transfers are zones that were asked for; Secondaries lists those that are
	// told of changes, by zone and address.
	Transfers   TransferStats
	Secondaries []SecondaryState
	// Signed are the zones that are signed, by name. ClockBehind says that the clock
	// says less than [Options.Earliest].
	Signed      []SignedZone
	ClockBehind bool
	// PanicAt is when the last of [Transport.Panics] was; the zero time if there was none.
	PanicAt time.Time
}

// TransferStats counts requests for zones.
type TransferStats struct {
	// Whole and Changes were sent, Failed broke off. Refused were not allowed, not
	// understood, or too many at a time.
	Whole, Changes, Failed, Refused uint64
}

// Transport is what was counted of one transport.
type Transport struct {
	// Queries is how many messages came in: the answered and the dropped.
	Queries uint64
	// Responses counts answers by rcode ("NOERROR", …), Dropped messages by the
	// reason for which they got none. Rows of 0 are left out.
	Responses, Dropped map[string]uint64
	// Slow counts messages that the hot path left.
	Slow uint64
	// Panics counts messages whose handling failed and was contained.
	Panics uint64
	// Cookies counts messages with a valid server cookie.
	Cookies uint64
	// Limited counts messages over the rate limit, Slipped those of them that got
	// a short answer; the others were dropped, or answered in a dry run.
	Limited, Slipped uint64
	// Deferred counts messages that were answered with TC set because too much was to
	// be signed at once.
	Deferred uint64
	// Unlogged counts queries that the query log had no time for.
	Unlogged uint64
	// Took is how long answering took, of one message in [TookEvery].
	Took Took
}

// Source is a client and how often it asked, give or take those that it pushed
// out of the table.
type Source struct {
	Addr  netip.Addr
	Count uint64
}

// Stats gives the counts. It may be called at any time.
func (s *Server) Stats() Stats {
	var st Stats
	st.UDP, st.Unmatched = sum(s.udpCounts)
	tcp, unmatched := sum([]*counters{s.tcpCounts})
	st.TCP = tcp
	st.Unmatched += unmatched
	st.Connections, st.Evicted = s.conns.stats()
	st.Strangers = s.strangers.top()
	st.Secondaries = s.notify.list()
	st.Signed, st.ClockBehind = s.signedZones(), s.signing.behind.Load()
	if at := s.panicAt.Load(); at != 0 {
		st.PanicAt = time.Unix(at, 0).UTC()
	}
	t := &s.transfer
	st.Transfers = TransferStats{t.full.Load(), t.incremental.Load(), t.failed.Load(), t.refused.Load()}
	return st
}

func sum(all []*counters) (t Transport, unmatched uint64) {
	t.Responses, t.Dropped = map[string]uint64{}, map[string]uint64{}
	for _, c := range all {
		for i := range c.replies {
			if n := c.replies[i].Load(); n > 0 {
				t.Responses[rcodeName(i)] += n
				t.Queries += n
			}
		}
		for i := range c.dropped {
			n := c.dropped[i].Load()
			if n == 0 {
				continue
			}
			t.Dropped[reasonNames[i]] += n
			if r := reason(i); r < dropSend {
				t.Queries += n
			}
		}
		t.Slow += c.slow.Load()
		t.Panics += c.panics.Load()
		t.Cookies += c.cookies.Load()
		t.Limited += c.limited.Load()
		t.Slipped += c.slipped.Load()
		t.Deferred += c.deferred.Load()
		t.Unlogged += c.unlogged.Load()
		t.Took.add(c)
		unmatched += c.unmatched.Load()
	}
	return t, unmatched
}

func rcodeName(rcode int) string {
	if rcode == dns.RcodeBadVers {
		return "BADVERS"
	}
	return dns.RcodeToString[rcode]
}
