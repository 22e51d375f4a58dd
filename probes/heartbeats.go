package probes

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Errors of [Heartbeats.Report].
var (
	// ErrNoHeartbeat: no such node, or none that reports by itself. Which of
	// the two is for nobody to know who has no token.
	ErrNoHeartbeat = errors.New("there is no node of this name that reports by itself")
	// ErrToken: the token is another node's, or nobody's.
	ErrToken = errors.New("the token is not this node's")
)

// Report is what a node says of itself. What it leaves out is unknown.
type Report struct {
	// Healthy false says that the node does not want to be answered.
	Healthy *bool `json:"healthy"`
	// Load is how busy it is: 0 is idle, 1 what it is made for.
	Load *float64 `json:"load"`
	// Sessions that are open.
	Sessions *int64 `json:"sessions"`
	// Bytes that it has carried since it started, both ways together: a counter,
	// of which two reports make a rate.
	Bytes *int64 `json:"bytes"`
}

// Validate refuses what cannot be.
func (r *Report) Validate() error {
	switch {
	case r.Load != nil && (*r.Load < 0 || math.IsNaN(*r.Load) || *r.Load > 1e6):
		return errors.New("load: expected a number from 0 to 1000000")
	case r.Sessions != nil && *r.Sessions < 0:
		return errors.New("sessions: expected 0 or more")
	case r.Bytes != nil && *r.Bytes < 0:
		return errors.New("bytes: expected 0 or more")
	}
	return nil
}

// Token is what a node shows with its reports. It prints as <secret>.
type Token string

// Format writes "<secret>" for every verb.
func (Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) } // the state keeps its error

// Beating is a node that reports by itself.
type Beating struct {
	Site, Node string
	Token      Token
}

// place is a node by its names.
type place struct{ site, node string }

// beat is what is known of one node.
type beat struct {
	token [sha256.Size]byte
	// since is from when reports were listened for: no earlier one counts.
	since time.Duration
	// heard is when the last came, if one has; last is that.
	heard bool
	at    time.Duration
	last  Report
	rate  rate
	// next is closed by the next report.
	next chan struct{}
}

// Heartbeats keeps the last report of each node that reports by itself. It is
// safe for concurrent use, holds nothing of nodes that are not configured, and
// lives as long as the controller. So it keeps, too, what the counters of others
// were last read to be.
type Heartbeats struct {
	now      func() time.Duration
	counters *counters

	mu    sync.Mutex
	beats map[place]*beat
}

// NewHeartbeats makes an empty set. now is the clock of [sites.Instant.Boot].
func NewHeartbeats(now func() time.Duration) *Heartbeats {
	return &Heartbeats{now: now, counters: newCounters(now), beats: make(map[place]*beat)}
}

// Use says which nodes report from now on. What others have said is forgotten,
// what those have said that stay is kept, with another token too.
func (h *Heartbeats) Use(list []Beating) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.beats
	h.beats = make(map[place]*beat, len(list))
	for _, x := range list {
		p := place{x.Site, x.Node}
		b := old[p]
		if b == nil {
			b = &beat{since: h.now(), next: make(chan struct{})}
		}
		b.token = sha256.Sum256([]byte(x.Token))
		h.beats[p] = b
	}
}

// Restart is for the end of a time in which the controller was blind (O5): it
// may have missed what was said, so it listens anew.
func (h *Heartbeats) Restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	for _, b := range h.beats {
		b.since, b.heard, b.rate = now, false, rate{}
	}
}

// Report takes a report. The error is [ErrNoHeartbeat] or [ErrToken]; how long
// it takes does not depend on how much of the token is right.
func (h *Heartbeats) Report(site, node string, token Token, r Report) error {
	sum := sha256.Sum256([]byte(token))
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.beats[place{site, node}]
	if b == nil {
		return ErrNoHeartbeat
	}
	if subtle.ConstantTimeCompare(sum[:], b.token[:]) != 1 {
		return ErrToken
	}
	b.heard, b.at, b.last = true, h.now(), r
	if r.Bytes == nil {
		b.rate = rate{}
	} else {
		b.rate.add(float64(*r.Bytes), b.at)
	}
	close(b.next)
	b.next = make(chan struct{})
	return nil
}

// look gives what is known of a node, and what is closed by its next report; ok
// is false for one that does not report.
func (h *Heartbeats) look(site, node string) (b beat, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.beats[place{site, node}]
	if p == nil {
		return beat{}, false
	}
	return *p, true
}

// figures gives what the last report has told of the node's work.
func (b *beat) figures() *sites.Figures {
	f := &sites.Figures{Load: b.last.Load, Sessions: b.last.Sessions, BytesPerSecond: b.rate.perSecond}
	if f.Load == nil && f.Sessions == nil && f.BytesPerSecond == nil {
		return nil
	}
	return f
}

// rate makes bytes per second of the readings of a counter.
type rate struct {
	seen      bool
	count     float64
	at        time.Duration
	perSecond *float64
}

// leastGap is how far apart two readings must lie to make a rate: where one is
// asked for beside the schedule the last rate stands.
const leastGap = 500 * time.Millisecond

// add enters a reading. A counter that has become smaller has begun anew, and
// says nothing until the next.
func (r *rate) add(count float64, at time.Duration) {
	switch gap := at - r.at; {
	case !r.seen || count < r.count:
		r.perSecond = nil
	case gap < leastGap:
		return
	default:
		x := (count - r.count) / gap.Seconds()
		r.perSecond = &x
	}
	r.seen, r.count, r.at = true, count, at
}
