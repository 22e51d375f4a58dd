package dnsserver

import (
	"hash/maphash"
	"log/slog"
	"maps"
	"net/netip"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// Options of a server.
type Options struct {
	// Log takes what people should know; nil discards it.
	Log *slog.Logger
	// Serials are the zones' last known ones ([Server.Serials]): every serial
	// begins above them.
	Serials map[string]uint32
	// CookieSecret is what DNS cookies are made with ([CookieSecretLen] octets), the
	// same on all servers that share an address; nil makes one for this run.
	CookieSecret Secret
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
	// Earliest is a time that has passed for sure, whatever the wall clock says:
	// signatures (DNSSEC) are made as of then while it says less, and later by as much
	// as the server has run since the clock was past it.
	Earliest time.Time
	// Trust says whether the clock is right although it says less than that, where Earliest
	// may have been taken from a wrong one; nil trusts no such clock.
	Trust func() bool
}

// Server answers queries. All methods may be called at any time from any
// goroutine.
type Server struct {
	log     *slog.Logger
	now     func() time.Time
	signing signing
	stored  map[string]uint32

	snap atomic.Pointer[snapshot]

	// changing is held from Prepare to the end of its Change, and by Listen.
	changing sync.Mutex
	// plain: packets go one by one also where the system takes batches. Tests
	// set it before Serve.
	plain bool
	// mu orders those who change something. No query takes it.
	mu    sync.Mutex
	want  []netip.AddrPort // Config.Listen
	pools map[poolKey]*pool

	udpCounts []*counters // one for each worker of a listener
	tcpCounts *counters
	strangers strangers
	panicLog  atomic.Int64 // when a panic was last told, Unix seconds
	panicAt   atomic.Int64 // when the last one was; 0 for never
	turn      atomic.Uint32
	idle      sync.Pool // of workers for Query
	answers   sync.Pool // of buffers for TCP

	cookies  atomic.Pointer[cookieSecrets]
	limiter  *limiter
	changes  map[string]*history // of the zones that are transferred, by wire name
	transfer transfers
	notify   notifier
	queries  chan loggedQuery

	conns connTable
	net   network
}

// New makes a server of a configuration. Its names have no addresses yet:
// until [Server.SetAnswer] has said what a pool gives, its names fail with
// SERVFAIL, which nobody caches for long.
func New(cfg *Config, o Options) (*Server, error) {
	s := &Server{
		log: o.Log, now: o.Now, stored: maps.Clone(o.Serials), pools: map[poolKey]*pool{}, tcpCounts: new(counters),
		changes: map[string]*history{}, queries: make(chan loggedQuery, queryLogQueue),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.stored == nil {
		s.stored = map[string]uint32{}
	}
	begun := time.Now()
	s.signing.run = func() time.Duration { return time.Since(begun) }
	if !o.Earliest.IsZero() {
		s.signing.earliest, s.signing.trust = o.Earliest.Unix(), o.Trust
	}
	for range max(1, runtime.GOMAXPROCS(0)) {
		s.udpCounts = append(s.udpCounts, new(counters))
	}
	s.idle.New = func() any { return new(worker) }
	s.answers.New = newAnswers
	s.notify.wake, s.signing.wake = make(chan struct{}, 1), make(chan struct{}, 1)
	s.limiter = &limiter{seed: maphash.MakeSeed(), started: s.now()}
	secrets, err := newCookieSecrets(o.CookieSecret)
	if err != nil {
		return nil, err
	}
	s.cookies.Store(secrets)
	c, err := s.Prepare(cfg)
	if err != nil {
		return nil, err
	}
	c.Commit()
	return s, nil
}

// SetAnswer says what a pool gives from now on; the next query sees it. The
// serials of the zones whose services use the pool grow when the addresses
// changed, and those of zones whose secondaries now get another pool's because
// this one serves no longer, or again. A pool that no service names yet is kept
// for the reload that brings it.
func (s *Server) SetAnswer(site, poolName string, a sites.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := poolKey{site, poolName}
	p := s.pools[key]
	if p == nil {
		p = &pool{key: key}
		s.pools[key] = p
	}
	old := p.body.Load()
	if old != nil && old.answer.Equal(a) {
		return
	}
	p.body.Store(newBody(a))
	same := old != nil && old.answer.SameRecords(a)
	if same && old.answer.Serves() == a.Serves() {
		return
	}
	sn := s.snap.Load()
	for _, z := range sn.feeds[p] {
		if !same || s.movesOn(sn, z, p) {
			s.record(sn, z, p, z.serial.Add(1))
		}
	}
	if same {
		return
	}
	s.aheadOf(p)
}

// Serials gives the zones' current serials by name, to be stored for
// [Options.Serials] at a stop. While it serves, that is [Server.Reserve].
func (s *Server) Serials() map[string]uint32 {
	out := map[string]uint32{}
	for _, z := range s.snap.Load().zones {
		out[zoneKey(z)] = z.serial.Load()
	}
	return out
}

// zoneKey is a zone's name as in the configuration, in lower case without the
// final dot.
func zoneKey(z *zone) string {
	if z.text == "." {
		return z.text
	}
	return z.text[:len(z.text)-1]
}

// Query answers one message as it would be answered over UDP or TCP, and gives
// nil where there is no answer. Of a zone that is sent it gives the first message.
func (s *Server) Query(msg []byte, from netip.AddrPort, tcp bool) []byte {
	w, ok := s.idle.Get().(*worker)
	if !ok {
		w = new(worker)
	}
	defer s.idle.Put(w)
	w.server, w.count, w.turn = s, s.udpCounts[0], s.turn.Add(1)
	size := maxUDP
	if tcp {
		w.count, size = s.tcpCounts, maxMessage
	}
	dst := make([]byte, size)
	n := w.respond(dst, msg, from.Addr(), tcp)
	if w.sending != nil {
		return w.firstOf(dst)
	}
	if n == 0 {
		return nil
	}
	return dst[:n]
}

// respond answers a message into dst, which has maxUDP or maxMessage octets, and
// gives the length of the answer: 0 for none.
func (w *worker) respond(dst, msg []byte, from netip.Addr, tcp bool) (n int) {
	defer w.contain(dst, msg, &n)
	w.snap, w.from, w.asked = w.server.snap.Load(), from.Unmap(), false
	w.cookie = cookieUnread
	w.turn++
	begun := w.begin()
	if r, ok := w.admit(msg, tcp); !ok {
		w.count.drop(r)
		return 0
	}
	usual := w.q.usual(msg)
	if !tcp && w.snap.rate.PerSecond > 0 {
		if !usual {
			w.q.readOdd(msg)
		}
		if w.limited(msg) {
			return w.slip(dst, msg)
		}
	}
	if usual {
		n = w.hot(dst, tcp)
	}
	if n == 0 {
		n = w.slow(dst, msg, tcp)
	}
	w.end(begun)
	if every := w.snap.queryLog.Every; every > 0 && w.turn%uint32(every) == 0 {
		w.logQuery(dst[:n], tcp)
	}
	return n
}

// admit says whether a message gets an answer at all.
func (w *worker) admit(msg []byte, tcp bool) (reason, bool) {
	switch {
	case len(msg) < headerLen:
		return dropShort, false
	case msg[2]&flagQR != 0:
		return dropResponse, false
	case w.snap.allow.filled && w.snap.allow.find(w.from) == none:
		return dropStranger, false
	case !tcp && len(msg) > maxUDP:
		return dropOversize, false
	}
	return 0, true
}

// toldApart is how many seconds lie between two faults of one kind that are logged.
const toldApart = 60

// contain keeps a fault in the handling of one message from ending the others:
// it is counted, told, and answered with SERVFAIL.
func (w *worker) contain(dst, msg []byte, n *int) {
	v := recover()
	if v == nil {
		return
	}
	w.count.panics.Add(1)
	s := w.server
	now := s.now().Unix()
	s.panicAt.Store(now)
	if nowAndThen(&s.panicLog, now) {
		s.log.Error("answering a query failed; it was answered with SERVFAIL", "panic", v, "stack", string(debug.Stack()))
	}
	if len(msg) < headerLen {
		*n = 0
		return
	}
	w.q.end, w.q.edns, w.q.asks = 0, false, false
	*n = w.errorReply(dst, msg, dns.RcodeServerFailure, false)
}

// nowAndThen says whether something is to be told again, and notes that it was: for
// the first of those who ask at once, and after a clock that was set back.
func nowAndThen(told *atomic.Int64, now int64) bool {
	last := told.Load()
	return (now-last >= toldApart || now < last) && told.CompareAndSwap(last, now)
}
