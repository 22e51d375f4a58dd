package publish

import (
	"errors"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// Result is how a round has ended, in one word.
type Result string

// The results.
const (
	Succeeded  Result = "ok"
	Superseded Result = "superseded" // something newer was to be pushed
	Held       Result = "held"       // its site cannot be seen any more (E8)
	Refused    Result = "denied"     // the credentials were refused
	Failed     Result = "failed"
)

// Results lists all of them.
func Results() []Result { return []Result{Succeeded, Superseded, Held, Refused, Failed} }

func resultOf(err error) Result {
	class, _ := providers.ClassOf(err)
	switch {
	case err == nil:
		return Succeeded
	case errors.Is(err, providers.ErrStale):
		return Superseded
	case class == providers.Denied:
		return Refused
	default:
		return Failed
	}
}

// Meter counts what is done. It waits for nothing, and is safe for concurrent
// use.
type Meter interface {
	// Synced takes how a round has ended and how long it took.
	Synced(target, server string, result Result, took time.Duration)
	// Visible takes how long a push took to be seen at the site's resolver.
	Visible(target, server string, took time.Duration)
}

// unmetered counts nothing.
type unmetered struct{}

func (unmetered) Synced(string, string, Result, time.Duration) {}

func (unmetered) Visible(string, string, time.Duration) {}
