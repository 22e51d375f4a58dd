package alert

import (
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// role says what an event of a kind is to others.
type role int

const (
	unknown role = iota
	begins       // something that lasts until another event resolves it
	ends         // what an earlier event began
	once         // it happens, and that is all
)

// roleOf gives the role of a kind. Maintenance begins and ends by the same kind:
// what it resolves says which.
func roleOf(k sites.Kind) role {
	switch k {
	case sites.FailoverOutage, sites.FailoverMaintenance, sites.NodeDisabled, sites.NodeOffline, sites.ProbeNeverUp,
		sites.ProbeFailed, sites.ProbeStale, sites.Unjudged, sites.SiteDown, sites.ResolverDown, sites.ControllerIsolated,
		sites.PoolOutageStarted, sites.Paused, sites.MoveHeld, sites.MovePutOff, sites.QuarantineStarted,
		sites.MassFailure, sites.DrillStarted, sites.CertificateExpiring, sites.ConfigRejected, sites.StoreFailed,
		sites.Drift, sites.PublishFailed, sites.PublishNotVisible, sites.InstanceConflict, sites.AlertFailed:
		return begins
	case sites.FailoverFailback, sites.NodeEnabled, sites.NodeOnline, sites.ProbeRecovered, sites.ProbeFresh, sites.Judged,
		sites.SiteUp, sites.ResolverUp, sites.ControllerReconnected, sites.PoolOutageResolved, sites.Resumed,
		sites.MoveHeldEnded, sites.MovePutOffEnded, sites.QuarantineEnded, sites.MassFailureEnded, sites.DrillEnded,
		sites.CertificateRenewed, sites.ConfigReloaded, sites.StoreRecovered, sites.DriftRepaired,
		sites.PublishRecovered, sites.PublishVisible, sites.InstanceConflictEnded, sites.AlertRecovered:
		return ends
	case sites.FailoverSwitch, sites.KeyReplaced, sites.WindowSkipped, sites.RestartLoop, sites.ClockSuspect, sites.AlertDropped,
		sites.ActionDone, sites.ActionFailed:
		return once
	default:
		return unknown
	}
}

// lasting says whether something that began with an event of a kind lasts until
// another event resolves it.
func lasting(k sites.Kind) bool { return roleOf(k) == begins }

// isEnd says whether an event ends the one that it resolves. One that is worth a
// warning takes its place, as an order does that is given anew.
func isEnd(e *sites.Event) bool {
	return e.Resolves != 0 && rank(e.Severity) == 0 && !e.Anew
}

// outlives says whether something is told though it was over before it could be:
// what is critical, and what has moved the answers. What is [hasty] is not.
func outlives(e *sites.Event) bool {
	return !hasty(e) && (e.Severity == sites.Critical || e.Kind == sites.FailoverOutage)
}

// hasty says whether what begins with an event often ends by itself soon and has
// moved nothing: a router that starts again must not mail. A push that fails
// while clients get what is no longer right is critical, and not waited for.
func hasty(e *sites.Event) bool {
	switch e.Kind {
	case sites.SiteDown, sites.ResolverDown, sites.ControllerIsolated, sites.NodeOffline, sites.ProbeFailed,
		sites.ProbeStale, sites.Unjudged:
		return true
	case sites.PublishFailed, sites.PublishNotVisible, sites.Drift:
		return e.Severity != sites.Critical
	default:
		return false
	}
}

// continues says whether an event that takes the place of an earlier one is told
// as news of it; others go on in silence.
func continues(k sites.Kind) bool {
	switch k {
	case sites.ConfigRejected, sites.CertificateExpiring, sites.Drift, sites.Paused, sites.FailoverMaintenance, sites.NodeDisabled:
		return true
	default:
		return false
	}
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
	case sites.Drift, sites.PublishFailed, sites.PublishNotVisible, sites.InstanceConflict:
		return "targets"
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
		return ofNode(small.Kind) || ofTarget(small.Kind) || small.Kind == sites.FailoverOutage || small.Kind == sites.SiteDown || small.Kind == sites.ResolverDown
	case sites.SiteDown:
		return big.Site == small.Site && (ofNode(small.Kind) || ofTarget(small.Kind) || small.Kind == sites.FailoverOutage || small.Kind == sites.ResolverDown)
	case sites.MassFailure:
		return ofNode(small.Kind)
	default:
		return false
	}
}

// ofNode says whether a kind tells of what a node's probes find.
func ofNode(k sites.Kind) bool {
	switch k {
	case sites.NodeOffline, sites.ProbeFailed, sites.ProbeStale, sites.ProbeNeverUp, sites.Unjudged:
		return true
	default:
		return false
	}
}

// ofTarget says whether a kind tells that a target cannot be brought to, or seen
// to give, what it should: a site that cannot be seen explains both.
func ofTarget(k sites.Kind) bool { return k == sites.PublishFailed || k == sites.PublishNotVisible }

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
	if !hasty(e) {
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
