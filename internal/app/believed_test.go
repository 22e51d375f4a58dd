package app

import (
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/sites"
)

// A clock that goes back behind what was told while it was believed must be noticed
// without a restart (O6): windows and --for would follow it.
func TestClockGoesBack(t *testing.T) {
	if now, _ := (clock.Judge{}).Now(); now.Suspect || clock.KernelSync() == clock.Synchronised {
		t.Skip("the kernel's word on its clock outweighs the last event")
	}
	told := []sites.Event{{Kind: sites.NodeOffline}}
	a, late := &App{}, time.Now().Add(time.Hour)
	a.believe(sites.Instant{Wall: late, Suspect: true}, told)
	a.believe(sites.Instant{Wall: late}, nil)
	if a.instant().Suspect {
		t.Error("what was told by a clock that was not believed, or nothing at all, makes the clock suspect")
	}
	a.believe(sites.Instant{Wall: late}, told)
	if !a.instant().Suspect {
		t.Error("a clock an hour before the last event is believed")
	}
}
