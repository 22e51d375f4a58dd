package engine_test

import (
	"fmt"

	"github.com/dnsteer/dnsteer/sites"
)

// alerts follows events: what was said and not yet resolved.
type alerts struct {
	last  uint64
	open  map[uint64]sites.Event
	heirs map[string]int
}

// resolves says which kind of event ends which.
var resolves = map[sites.Kind][]sites.Kind{
	sites.NodeOnline:            {sites.NodeOffline},
	sites.FailoverFailback:      {sites.FailoverOutage},
	sites.SiteUp:                {sites.SiteDown},
	sites.ResolverUp:            {sites.ResolverDown},
	sites.ControllerReconnected: {sites.ControllerIsolated},
	sites.PoolOutageResolved:    {sites.PoolOutageStarted},
	sites.Resumed:               {sites.Paused},
	sites.ProbeRecovered:        {sites.ProbeNeverUp, sites.ProbeFailed},
	sites.ProbeFresh:            {sites.ProbeStale},
	sites.Judged:                {sites.Unjudged},
	sites.FailoverMaintenance:   {sites.FailoverMaintenance},
	sites.NodeEnabled:           {sites.NodeDisabled},
	sites.NodeDisabled:          {sites.NodeDisabled}, // said anew
	sites.MoveHeldEnded:         {sites.MoveHeld},
	sites.MovePutOffEnded:       {sites.MovePutOff},
	sites.DrillEnded:            {sites.DrillStarted},
	sites.QuarantineEnded:       {sites.QuarantineStarted},
	sites.MassFailureEnded:      {sites.MassFailure},
	sites.Paused:                {sites.Paused},      // switched while paused
	sites.NodeOffline:           {sites.NodeOffline}, // in truth, after a drill
}

// once are the kinds of which a subject has one at a time, or one on each line,
// a former address of a node beside it.
var once = map[sites.Kind]int{
	sites.NodeOffline: 4, sites.FailoverOutage: 4, sites.SiteDown: 1, sites.ResolverDown: 1, sites.ControllerIsolated: 1,
	sites.PoolOutageStarted: 1, sites.Paused: 1, sites.ProbeNeverUp: 12, sites.ProbeFailed: 12, sites.ProbeStale: 4, sites.Unjudged: 4, sites.NodeDisabled: 1,
	sites.MoveHeld: 1, sites.MovePutOff: 1, sites.DrillStarted: 2, sites.QuarantineStarted: 2, sites.MassFailure: 1,
}

// take enters the events of a turn.
func (a *alerts) take(x *watch, events []sites.Event) {
	for i := range events {
		e := events[i]
		if e.ID <= a.last && !within(events[:i], e.ID) {
			// IDs rise from turn to turn; within one they follow the clock
			// of the rules, not the order of telling.
			x.fail("event %d comes after %d", e.ID, a.last)
		}
		if e.Text == "" || e.Severity == "" || !e.Kind.Known() {
			x.fail("event %+v is not whole", e)
		}
		a.resolve(x, &e)
		if max := once[e.Kind]; max > 0 {
			n := 1
			for _, o := range a.open {
				if o.Kind == e.Kind && o.Subject() == e.Subject() {
					n++
				}
			}
			if n > max {
				x.fail("%s %s is said %d times without an end: %s", e.Kind, e.Subject(), n, e.Text)
			}
			a.open[e.ID] = e
		}
	}
	for i := range events {
		a.last = max(a.last, events[i].ID)
	}
}

func within(events []sites.Event, id uint64) bool {
	for i := range events {
		if events[i].ID > id {
			return true
		}
	}
	return false
}

// resolve holds an event that ends another against what was said.
func (a *alerts) resolve(x *watch, e *sites.Event) {
	if e.Resolves == 0 {
		switch e.Kind {
		case sites.NodeOnline, sites.SiteUp, sites.ResolverUp, sites.ControllerReconnected, sites.PoolOutageResolved,
			sites.ProbeRecovered, sites.ProbeFresh, sites.Resumed, sites.NodeEnabled,
			sites.MoveHeldEnded, sites.MovePutOffEnded, sites.DrillEnded, sites.QuarantineEnded, sites.MassFailureEnded:
			x.fail("%s %s resolves nothing", e.Kind, e.Subject())
		}
		return
	}
	o, ok := a.open[e.Resolves]
	if !ok && e.Kind == sites.FailoverMaintenance {
		return
	}
	if !ok {
		x.fail("%s %s resolves %d, which was not said or has ended", e.Kind, e.Subject(), e.Resolves)
		return
	}
	fits := false
	for _, k := range resolves[e.Kind] {
		fits = fits || o.Kind == k
	}
	if !fits || o.Subject() != e.Subject() {
		x.fail("%s %s resolves %s", e.Kind, e.Subject(), fmt.Sprint(o.Kind, " ", o.Subject()))
	}
	delete(a.open, e.Resolves)
}
