package api

import (
	"fmt"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// CriticalView is a state that somebody should do something about at once, while it
// lasts.
type CriticalView struct {
	// Kind is that of the event that told of it. The page docs/runbooks.md has a
	// section of this name.
	Kind sites.Kind `json:"kind"`
	Site string     `json:"site,omitempty"`
	Pool string     `json:"pool,omitempty"`
	// Since is when it began; zero where that is not known.
	Since time.Time `json:"since,omitzero"`
	// Text is the sentence that stands among the problems too, Do what to do first.
	Text string `json:"text"`
	Do   string `json:"do"`
}

// Runbook names the section of the documents that says more.
func (c *CriticalView) Runbook() string { return fmt.Sprintf("docs/runbooks.md#%s", c.Kind) }
