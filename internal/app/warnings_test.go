package app

import (
	"slices"
	"testing"
)

// Each reload would print every warning again, and the new one be overlooked; or a
// warning that only moved in the file would pass for a new one.
func TestFreshWarnings(t *testing.T) {
	before := []string{"x.yaml:7:3: the TTL 1m is over it", "x.yaml:9:3: there is no witness"}
	now := []string{"x.yaml:8:3: the TTL 1m is over it", "x.yaml:10:3: there is no witness", "x.yaml:12:1: there is no witness", "new"}
	list, stay := fresh(before, now)
	if want := []string{"x.yaml:12:1: there is no witness", "new"}; !slices.Equal(list, want) || stay != 2 {
		t.Errorf("%q and %d, want %q and 2", list, stay, want)
	}
}
