package dnsserver

import (
	"sync"
	"sync/atomic"
	"time"
)

// signing is what signatures are made by, and ahead of.
type signing struct {
	earliest int64        // Unix seconds; no signature is made before
	trust    func() bool  // nil for never
	latest   atomic.Int64 // when signatures were made last, by the clock
	behind   atomic.Bool  // the clock says less than what has passed for sure
	// run is how long this run lasts, whatever the clock says, and since how long it had
	// lasted when the clock was seen to be past earliest; 0 for never.
	run   func() time.Duration
	since atomic.Int64
	told  atomic.Int64 // when a failure was last told
	// moved are the pools whose names are to be signed ahead. Server.mu guards it.
	moved map[*pool]bool
	wake  chan struct{}
	turn  sync.Mutex // held over TCP while a set is signed
}

// clockStep is a change of the clock, in seconds, that is worth a word, and the
// time between two.
const clockStep = 3600

// signTime is the time that signatures are made at, Unix seconds. A clock that
// says less than what has passed for sure is not believed: what is signed as of
// then is valid for more of those who ask. One that is set back is told of;
// signatures that were made before count from a time that has not come, and are
// not used any more.
func (s *Server) signTime() int64 {
	c, now := &s.signing, s.now().Unix()
	if sure := c.sure(); now < sure && (c.trust == nil || !c.trust()) {
		if c.behind.CompareAndSwap(false, true) {
			s.log.Error("the clock is wrong: signatures are made as of a time that has passed for sure, and validators may refuse them: set the clock",
				"clock", time.Unix(now, 0).UTC(), "as_of", time.Unix(sure, 0).UTC())
		}
		return sure
	}
	if now >= c.earliest && c.since.Load() == 0 {
		c.since.CompareAndSwap(0, max(1, int64(c.run())))
	}
	if c.behind.Load() && c.behind.CompareAndSwap(true, false) {
		s.log.Info("the clock is believed again: signatures follow it", "clock", time.Unix(now, 0).UTC())
	}
	switch last := c.latest.Load(); {
	case now > last+clockStep/2:
		c.latest.Store(now)
	case now < last-clockStep && c.latest.CompareAndSwap(last, now):
		s.log.Warn("the clock was set back: what was signed is signed again", "clock", time.Unix(now, 0).UTC(), "before", time.Unix(last, 0).UTC())
	}
	return now
}

// sure is a time that has passed for sure, Unix seconds: once the clock has been past
// earliest, that and what this run has lasted since. What is signed while a clock that
// fell is wrong for weeks does not end with what was signed before.
func (c *signing) sure() int64 {
	if since := c.since.Load(); since > 0 {
		return c.earliest + int64((c.run()-time.Duration(since))/time.Second)
	}
	return c.earliest
}

// cannotSign tells that an answer could not be signed, now and then.
func (s *Server) cannotSign(err error) {
	if nowAndThen(&s.signing.told, s.now().Unix()) {
		s.log.Error("an answer cannot be signed; it was answered with SERVFAIL", "error", err)
	}
}
