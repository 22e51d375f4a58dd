// Package version says what was built, and when. Both are set at link time.
package version

import (
	"runtime"
	"time"
)

// The linker sets these (see the Makefile); nothing else writes them.
var (
	// Version is "dev" for a build that was given none.
	Version = "dev"
	// Date is the time of the build in the form of RFC 3339, or empty.
	Date = ""
)

// Built gives the time of the build; zero if it was not set.
func Built() time.Time {
	t, err := time.Parse(time.RFC3339, Date)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Build says what was built.
type Build struct {
	Version string    `json:"version"`
	Date    time.Time `json:"date,omitzero"`
	Go      string    `json:"go"`
	System  string    `json:"system"`
}

// This gives what runs.
func This() Build {
	return Build{Version, Built(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}
