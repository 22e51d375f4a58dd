// Package clock reads the two clocks that the rules know, and judges whether
// the wall clock can be right (O6). Durations are measured by a clock that
// counts sleep (O5), so that eight hours in a bag are eight hours.
package clock

import (
	"fmt"
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
	case e.Wall.Before(e.LastEvent):
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
// nothing but the kernel's word.
type Judge struct {
	// BuildDate and LastEvent are those of [Evidence]. Where LastEvent follows the
	// events of this run, it does so as long as the clock is believed: else one that
	// jumps back would be believed with its first event.
	BuildDate, LastEvent time.Time
}

// Now reads both clocks and the kernel's word, and says why the wall clock is
// suspect ("" if it is not). It costs about a microsecond.
func (j Judge) Now() (sites.Instant, string) {
	now := Now()
	cause := Suspect(Evidence{
		Wall: now.Wall, BuildDate: j.BuildDate, LastEvent: j.LastEvent,
		Uptime: now.Boot, Sync: KernelSync(),
	})
	now.Suspect = cause != ""
	return now, cause
}
