package auth

import (
	"net/netip"
	"sync"
	"time"
)

// What failed logins cost: the first ones nothing, each further one twice the
// wait before it.
const (
	freeFailures = 5
	firstWait    = time.Second
	longestWait  = 5 * time.Minute
	// forgetAfter is how long without a failure makes a clean slate.
	forgetAfter = 30 * time.Minute
	// maxTracked bounds the memory of an attack from everywhere.
	maxTracked = 8192
	// sweepEvery bounds what forgetting costs while that attack lasts.
	sweepEvery = time.Minute
)

// limiter counts failures by key.
type limiter struct {
	mu    sync.Mutex
	byKey map[string]*failures
	swept time.Time
}

type failures struct {
	count        int
	before, last time.Time
}

// until is when the next try may be made.
func (f *failures) until() time.Time {
	over := f.count - freeFailures
	if over < 0 {
		return f.last
	}
	return f.last.Add(min(firstWait<<min(over, 20), longestWait))
}

func newLimiter() *limiter { return &limiter{byKey: make(map[string]*failures)} }

// wait says how long the keys must wait; 0 for no longer.
func (l *limiter) wait(now time.Time, keys ...string) (d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		if f := l.byKey[k]; f != nil {
			d = max(d, f.until().Sub(now))
		}
	}
	return d
}

// failed counts a failure of each key.
func (l *limiter) failed(now time.Time, keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		f := l.byKey[k]
		if f == nil {
			l.makeRoom(now)
			f = &failures{}
			l.byKey[k] = f
		}
		if now.Sub(f.last) > forgetAfter {
			f.count = 0
		}
		f.count++
		f.before, f.last = f.last, now
	}
}

// spared takes back that a failure of each key was counted: nothing was tried.
func (l *limiter) spared(keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		if f := l.byKey[k]; f != nil {
			f.count, f.last = max(f.count-1, 0), f.before
		}
	}
}

// makeRoom forgets what is old; and if that is not enough, the one whose last
// failure is the longest ago of some.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.byKey) < maxTracked {
		return
	}
	if now.Sub(l.swept) > sweepEvery {
		l.swept = now
		for k, f := range l.byKey {
			if now.Sub(f.last) > forgetAfter {
				delete(l.byKey, k)
			}
		}
	}
	if len(l.byKey) < maxTracked {
		return
	}
	oldest, seen := "", 0
	for k, f := range l.byKey {
		if oldest == "" || f.last.Before(l.byKey[oldest].last) {
			oldest = k
		}
		if seen++; seen == 64 {
			break
		}
	}
	delete(l.byKey, oldest)
}

// succeeded makes a clean slate for keys.
func (l *limiter) succeeded(keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		delete(l.byKey, k)
	}
}

// sourceOf gives what a source is counted by: an IPv6 network of 64 bits, which
// one machine has for itself, or an IPv4 address.
func sourceOf(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.String()
		}
	}
	return addr.String()
}
