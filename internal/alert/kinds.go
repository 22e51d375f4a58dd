package alert

import (
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// lasting says whether something that began with an event of a kind lasts until
// another event resolves it.
func lasting(k sites.Kind) bool {
	switch k {
	case sites.FailoverSwitch, sites.FailoverFailback, sites.WindowSkipped, sites.RestartLoop, sites.ClockSuspect,
		sites.ConfigReloaded, sites.ActionDone, sites.ActionFailed, sites.AlertDropped:
		return false
	default:
		return true
	}
}

// hasty says whether what begins with an event of a kind often ends by itself
// soon and has moved nothing: a router that starts again must not mail.
func hasty(k sites.Kind) bool {
	switch k {
	case sites.SiteDown, sites.ResolverDown, sites.ControllerIsolated, sites.NodeOffline, sites.ProbeFailed,
		sites.ProbeStale, "publish_failed", "drift":
		return true
	default:
		return false
	}
}

// continues says whether an event that takes the place of an earlier one is told
// as news of it; others go on in silence.
func continues(k sites.Kind) bool {
	return k == sites.ConfigRejected || k == sites.CertificateExpiring
}

// class names what belongs into one message.
func class(k sites.Kind) string {
	switch k {
	case sites.NodeOffline, sites.NodeOnline, sites.FailoverOutage, sites.FailoverFailback, sites.FailoverSwitch,
		sites.PoolOutageStarted, sites.PoolOutageResolved, sites.QuarantineStarted, sites.MoveHeld,
		sites.FailoverMaintenance, sites.NodeDisabled, sites.NodeEnabled:
		return "nodes"
	case sites.SiteDown, sites.SiteUp, sites.ResolverDown, sites.ResolverUp:
		return "sites"
	default:
		return string(k)
	}
}

// covers says whether an incident stands for another while it lasts.
func covers(big, small *sites.Event) bool {
	if big.ID == small.ID || big.Drill && !small.Drill {
		return false
	}
	switch big.Kind {
	case sites.ControllerIsolated:
		return ofNode(small.Kind) || small.Kind == sites.FailoverOutage || small.Kind == sites.SiteDown || small.Kind == sites.ResolverDown
	case sites.SiteDown:
		return big.Site == small.Site && (ofNode(small.Kind) || small.Kind == sites.FailoverOutage || small.Kind == sites.ResolverDown)
	case sites.MassFailure:
		return ofNode(small.Kind)
	default:
		return false
	}
}

// ofNode says whether a kind tells of what a node's probes find.
func ofNode(k sites.Kind) bool {
	switch k {
	case sites.NodeOffline, sites.ProbeFailed, sites.ProbeStale, sites.ProbeNeverUp:
		return true
	default:
		return false
	}
}

// weight orders what is told together: the heaviest gives the subject.
func weight(e *sites.Event) int {
	w := 10 * rank(e.Severity)
	switch e.Kind {
	case sites.PoolOutageStarted, sites.ControllerIsolated, sites.MassFailure:
		return w + 3
	case sites.FailoverOutage, sites.SiteDown:
		return w + 2
	case sites.NodeOffline, sites.ResolverDown:
		return w + 1
	default:
		return w
	}
}

// due gives when an incident may be told: at once, or after a wait for what
// often ends by itself. What was missed for some time is not waited for again.
func due(e *sites.Event, wait time.Duration, now time.Time) time.Time {
	if !hasty(e.Kind) {
		wait = 0
	}
	at := e.Time.Add(wait)
	if at.Before(now) {
		return now
	}
	if limit := now.Add(wait); at.After(limit) {
		return limit
	}
	return at
}
