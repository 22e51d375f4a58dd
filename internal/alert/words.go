package alert

import "github.com/dnsteer/dnsteer/sites"

// headline says in few words what an event tells of; "" where its own text is
// the best there is.
func headline(e *sites.Event) string {
	name := e.Subject()
	if e.Kind == sites.NodeOffline || e.Kind == sites.FailoverOutage {
		return headlineOf(e.Kind, name)
	}
	switch e.Kind {
	case sites.SiteDown:
		return name + " cannot be seen"
	case sites.ResolverDown:
		return "The resolver of " + name + " does not answer: failover of this site is suspended"
	case sites.ControllerIsolated:
		return "The controller is cut off"
	case sites.MassFailure:
		return "Many nodes fail at once, and the prober is the likeliest cause"
	case sites.PoolOutageStarted:
		return "Nothing can serve " + name
	case sites.StoreFailed:
		return "The state cannot be stored"
	case sites.ConfigRejected:
		return "The configuration was rejected"
	case sites.RestartLoop:
		return "The controller starts again and again"
	default:
		return ""
	}
}

// headlineOf says it of one or several names.
func headlineOf(k sites.Kind, names string) string {
	switch k {
	case sites.NodeOffline:
		return names + " cannot be reached"
	case sites.FailoverOutage:
		return "Taken out of DNS: " + names
	default:
		return ""
	}
}

// course says what was done about an event, and what was deliberately left
// alone.
func course(e *sites.Event) (done, alone string) {
	switch e.Kind {
	case sites.FailoverOutage:
		return "Its addresses left the DNS answers. Clients that have them cached follow when the TTL runs out.", ""
	case sites.NodeOffline:
		return "", "Its addresses stay in DNS: this node, or its pool, is not moved by an outage at the moment."
	case sites.SiteDown:
		return "", "The DNS answers of the site were not changed: as long as nothing there answers, nothing proves that it is not the line."
	case sites.ResolverDown:
		return "", "No node of the site is taken out while its resolver is silent: there is no proof that the line works."
	case sites.ControllerIsolated:
		return "", "No DNS answer was changed: it is the controller that sees nothing."
	case sites.MassFailure:
		return "", "Pools in which no node passes its probes keep their answers."
	case sites.MoveHeld:
		return "", "The pool's answer was not moved, because it is paused."
	case sites.StoreFailed:
		return "DNS and decisions go on.", "Nothing that happens now would survive a restart."
	case sites.ConfigRejected:
		return "The configuration that was in place goes on.", "Nothing of the new one is in use."
	case sites.ProbeFailed, sites.ProbeNeverUp:
		return "", "Nothing was moved: this probe steers nothing, or has never answered."
	case sites.ProbeStale:
		return "", "The node keeps its state: what is not probed is not judged."
	case sites.AlertFailed:
		return "Its messages wait, and are tried again and again; those with a fallback take it.", ""
	default:
		return "", ""
	}
}

// helps names a command that helps with an event beside explain; "" for none.
func helps(e *sites.Event) string {
	switch e.Kind {
	case sites.MassFailure:
		return "dnsteer release"
	case sites.MoveHeld, sites.Paused:
		return "dnsteer resume " + e.Subject()
	case sites.NodeOffline, sites.ProbeFailed, sites.ProbeNeverUp, sites.FailoverOutage:
		return "dnsteer probe " + e.Subject()
	case sites.ConfigRejected:
		return "dnsteer check"
	case sites.AlertFailed, sites.AlertDropped:
		return "dnsteer alert test"
	case sites.DrillStarted:
		return "dnsteer drill " + e.Subject() + " --end"
	case sites.QuarantineStarted:
		return "dnsteer failback " + e.Site
	default:
		return "dnsteer status"
	}
}
