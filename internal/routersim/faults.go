package routersim

import (
	"slices"
	"time"
)

// Faults are the ways in which the router fails.
type Faults struct {
	// Torn sends replies in pieces of random size.
	Torn bool
	// Interleave mixes the replies of requests that wait at the same time.
	Interleave bool
	// Unknown sends a sentence of a kind that nobody knows before each reply.
	Unknown bool
	// Deny is an address list that the client is not in: connections are taken
	// and closed.
	Deny bool
	// DenyNext denies that many connections, as Deny does.
	DenyNext int
	// ReadOnly takes the right to write from the user.
	ReadOnly bool
	// Hang takes connections and never answers.
	Hang bool
	// SlowWrites is how long the flash memory takes for a change.
	SlowWrites time.Duration
	// Each, if not nil, is asked before each request of a session what becomes
	// of it, and may meddle with the router before.
	Each func(Request) Fate
}

// Request is what somebody asks of the router.
type Request struct {
	// N counts the requests since the faults were set, beginning with 1.
	N       int
	Command string // "/ip/dns/static/add"
	Args    map[string]string
	Writes  bool // it changes something
}

// Fate is what becomes of a request.
type Fate uint8

// The fates.
const (
	Answered       Fate = iota // as it should be
	Cut                        // the connection ends, nothing is done
	LostReply                  // it is carried out, and the connection ends before the reply
	HalfReply                  // and within the reply
	HangNow                    // nothing is done and nothing more said in this session
	HangAfter                  // it is carried out, and nothing more said in this session
	Refused                    // "action failed (6)", nothing is done
	RefusedButDone             // the same said, but it is carried out
	Forbidden                  // for want of rights, nothing is done
)

// At gives the n-th request a fate, and all others none.
func At(n int, f Fate) func(Request) Fate {
	return func(r Request) Fate {
		if r.N == n {
			return f
		}
		return Answered
	}
}

// SetFaults sets what goes wrong from now on; the zero value is nothing.
func (r *Router) SetFaults(f Faults) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults, r.calls = f, 0
}

// HalfOpen makes the sessions that exist deaf and dumb, without an end of the
// connection.
func (r *Router) HalfOpen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.sessions {
		s.dead = true
	}
}

// DropSessions ends the sessions that exist.
func (r *Router) DropSessions() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.sessions {
		_ = s.raw.Close() // it ends anyhow
	}
}

// Snapshot is the table at one moment.
type Snapshot struct{ rows []*row }

// Snapshot keeps the table as it is now.
func (r *Router) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Snapshot{r.table.rows}
}

// Rollback undoes all that was changed since, at once: somebody's Safe Mode has
// ended without his word.
func (r *Router) Rollback(s Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.table.rows = s.rows
	r.note("safe mode rolled back")
}

// Restore brings a table back as a restored configuration does: every row has a
// new ID, and IDs begin anew where fresh is set.
func (r *Router) Restore(s Snapshot, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fresh {
		r.table.last = 0
	}
	r.table.rows = nil
	for _, old := range slices.Backward(s.rows) { // another order than before, so that IDs name other rows
		next := *old
		r.table.last++
		next.id = r.table.last
		r.table.rows = append(r.table.rows, &next)
	}
	r.note("configuration restored")
}

func (r *Router) note(line string) { r.log = append(r.log, line) }
