package history

import (
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// failure is a row of results of one probe that failed in the same words, with
// nothing else of that probe's failures in between.
type failure struct {
	probe       string
	outcome     sites.Outcome
	cause, text string
	first, last time.Time
	count       int
}

const (
	// maxFailures is how many are kept of a subject.
	maxFailures = 16
	// maxText bounds the text of one, in octets.
	maxText = 256
	// sameRow is how far apart failures of one row may be.
	sameRow = 10 * time.Minute
)

// failed enters a failure.
func (s *subject) failed(probe string, c *sites.Check, wall time.Time) {
	text := c.Text
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	for i := len(s.failures) - 1; i >= 0; i-- {
		f := &s.failures[i]
		if f.probe != probe {
			continue
		}
		apart := wall.Sub(f.last)
		if f.outcome == c.Outcome && f.cause == c.Cause && f.text == text && 0 <= apart && apart <= sameRow {
			f.last = wall
			f.count++
			return
		}
		break
	}
	f := failure{probe, c.Outcome, c.Cause, strings.Clone(text), wall, wall, 1}
	if len(s.failures) == maxFailures {
		s.failures = slices.Delete(s.failures, 0, 1)
	}
	s.failures = append(s.failures, f)
}
