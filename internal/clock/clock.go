// Package clock reads the two clocks that the rules know, and judges whether
// the wall clock can be right (O6). Durations are measured by a clock that
// counts sleep (O5), so that eight hours in a bag are eight hours.
package clock

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// SettleTime is how long after the machine's start a kernel that says it is not
// synchronised makes the wall clock suspect. Later it says only that nobody
// keeps the clock, which is common and no proof that it is wrong.
const SettleTime = 5 * time.Minute

// Now reads both clocks. Suspect is left false: see [Judge.Now]. Go's own reading of the
// monotonic clock is left out: two times that bear it are compared by that, whatever the
// wall clock was set to or slept through meanwhile.
func Now() sites.Instant { return sites.Instant{Boot: Boot(), Wall: time.Now().Round(0)} }

// Sync is what the kernel says of its wall clock.
type Sync uint8

// What the kernel says. SyncUnknown is what systems without such a word and
// containers that may not ask give.
const (
	SyncUnknown Sync = iota
	Synchronised
	Unsynchronised
)

func (s Sync) String() string { return [...]string{"unknown", "synchronised", "unsynchronised"}[s] }

// Corrected is how far a clock may go back behind the last event: one that is set by a
// time server now and then was a little fast.
const Corrected = 10 * time.Second

// Evidence is what O6 judges the wall clock by.
type Evidence struct {
	Wall time.Time
	// BuildDate is that of the program; zero where it was not set at link time,
	// and then not compared.
	BuildDate time.Time
	// LastEvent is the wall time of the last event that was stored while the
	// clock was believed; zero where there is none, and then not compared.
	LastEvent time.Time
	// Uptime of the machine, sleep included.
	Uptime time.Duration
	Sync   Sync
}

// Suspect says why the wall clock cannot be right, as a sentence for people, or
// "" if nothing speaks against it (O6). A kernel that says it is synchronised
// outweighs the last event: then it was that one which was stored by a wrong
// clock. Nothing outweighs the build's date.
func Suspect(e Evidence) string {
	switch {
	case !e.BuildDate.IsZero() && e.Wall.Before(e.BuildDate):
		return fmt.Sprintf("the clock says %s, which is before this program was built (%s)",
			stamp(e.Wall), stamp(e.BuildDate))
	case e.Sync == Synchronised:
		return ""
	case e.Wall.Before(e.LastEvent.Add(-Corrected)):
		return fmt.Sprintf("the clock says %s, which is before the last stored event (%s)",
			stamp(e.Wall), stamp(e.LastEvent))
	case e.Sync == Unsynchronised && e.Uptime < SettleTime:
		return fmt.Sprintf("the machine started %s ago and its kernel says that the clock is not synchronised yet",
			e.Uptime.Truncate(time.Second))
	default:
		return ""
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Judge gives instants with the judgement of O6. Its zero value compares with
// nothing but the kernel's word. Any goroutine may ask it.
type Judge struct {
	built time.Time
	last  atomic.Pointer[time.Time] // nil where no event is known
}

// NewJudge compares with the build's date and with the last event that is stored,
// each of which may be zero.
func NewJudge(built, lastEvent time.Time) *Judge {
	j := &Judge{built: built}
	j.Believed(lastEvent)
	return j
}

// Believed takes the wall time of what is stored while the clock is not suspect.
// An earlier one than before changes nothing, or a clock that jumps back would be
// believed with its first event.
func (j *Judge) Believed(wall time.Time) {
	for {
		last := j.last.Load()
		if wall.IsZero() || last != nil && !wall.After(*last) || j.last.CompareAndSwap(last, &wall) {
			return
		}
	}
}

// Earliest is a time that has passed for sure; zero where none is known.
func (j *Judge) Earliest() time.Time {
	if last := j.last.Load(); last != nil && last.After(j.built) {
		return *last
	}
	return j.built
}

// Now reads both clocks and the kernel's word, and says why the wall clock is
// suspect ("" if it is not). It costs about a microsecond.
func (j *Judge) Now() (sites.Instant, string) {
	e := Evidence{BuildDate: j.built, Sync: KernelSync()}
	// It is read before the clock: what is stored meanwhile makes no clock wrong.
	if last := j.last.Load(); last != nil {
		e.LastEvent = *last
	}
	now := Now()
	e.Wall, e.Uptime = now.Wall, now.Boot
	cause := Suspect(e)
	now.Suspect = cause != ""
	return now, cause
}
