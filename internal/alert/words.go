package alert

import (
	"strings"

	"github.com/dnsteer/dnsteer/sites"
)

// words are what is said of a kind of event beside the event's own text. In
// them {name} stands for what the event is about, {subject} for SITE/NODE and
// the like, {site} and {target} for those.
type words struct {
	// head says in few words what happened; "" where the event's own text is the
	// best there is. many: it holds for several names as well.
	head string
	many bool
	// done is what was done, alone what was deliberately left alone.
	done, alone string
	// command helps beside explain.
	command string
}

// wordsOf gives the words of a kind; false for one that has none.
func wordsOf(k sites.Kind) (words, bool) {
	for _, of := range []func(sites.Kind) (words, bool){nodeWords, siteWords, moveWords, targetWords, ownWords} {
		if w, ok := of(k); ok {
			return w, true
		}
	}
	return words{command: "dnsteer status"}, false
}

// nodeWords are about nodes and their probes.
func nodeWords(k sites.Kind) (words, bool) {
	w := words{command: "dnsteer probe {subject}"}
	switch k {
	case sites.FailoverOutage:
		w.head, w.many = "Taken out of DNS: {name}", true
		w.done = "Its addresses left the DNS answers. Clients that have them cached follow when the TTL runs out."
	case sites.NodeOffline:
		w.head, w.many = "{name} cannot be reached", true
		w.alone = "Its addresses stay in DNS: this node, or its pool, is not moved by an outage at the moment."
	case sites.ProbeFailed, sites.ProbeNeverUp:
		w.alone = "Nothing was moved: this probe steers nothing, or has never answered."
	case sites.ProbeStale:
		w.alone = "The node keeps its state: what is not probed is not judged."
	case sites.Unjudged:
		w.head = "{name} cannot be judged"
		w.alone = "Nothing of it is moved by an outage: failover is suspended there."
		w.command = "dnsteer status"
	case sites.CertificateExpiring:
		w.alone = "Nothing was moved: a certificate that runs out is renewed where it stands, not by DNS."
	case sites.QuarantineStarted:
		w.alone = "The node stays out of DNS although it answers: it has come and gone too often."
		w.command = "dnsteer failback {site}"
	case sites.FailoverMaintenance, sites.NodeDisabled:
		w.alone = "What its probes find takes it neither out nor back until that is ended."
		w.command = "dnsteer status"
	case sites.FailoverFailback, sites.NodeOnline, sites.NodeEnabled, sites.ProbeRecovered, sites.ProbeFresh, sites.Judged,
		sites.CertificateRenewed, sites.QuarantineEnded:
		w.command = "dnsteer status"
	default:
		return words{}, false
	}
	return w, true
}

// siteWords are about sites and what the controller sees of them.
func siteWords(k sites.Kind) (words, bool) {
	w := words{command: "dnsteer status"}
	switch k {
	case sites.SiteDown:
		w.head = "{name} cannot be seen"
		w.alone = "No outage has moved the DNS answers of the site: without a right answer from its resolver, nothing proves that it is not the line."
	case sites.ResolverDown:
		w.head = "The resolver of {name} does not answer as it should: failover of this site is suspended"
		w.alone = "No node of the site is taken out while its resolver does not answer as it should: there is no proof that the line works."
	case sites.ControllerIsolated:
		w.head = "The controller is cut off"
		w.alone = "No outage has moved a DNS answer: it is the controller that sees nothing."
	case sites.MassFailure:
		w.head = "Many nodes fail at once, and the prober is the likeliest cause"
		w.alone = "Pools in which no node passes its probes keep their answers."
		w.command = "dnsteer release"
	case sites.SiteUp, sites.ResolverUp, sites.ControllerReconnected, sites.MassFailureEnded:
	default:
		return words{}, false
	}
	return w, true
}

// moveWords are about pools and what moves their answers.
func moveWords(k sites.Kind) (words, bool) {
	w := words{command: "dnsteer status"}
	switch k {
	case sites.PoolOutageStarted:
		w.head = "Nothing can serve {name}"
		w.alone = "Clients get what the pool is configured to answer when it is empty."
	case sites.FailoverSwitch:
		w.done = "The answer names other nodes now. Clients that have the old one cached follow when the TTL runs out."
	case sites.MoveHeld:
		w.alone = "The pool's answer was not moved, because it is paused."
		w.command = "dnsteer resume {subject}"
	case sites.Paused:
		w.alone = "Its answer stays as it is, whatever its nodes' probes find."
		w.command = "dnsteer resume {subject}"
	case sites.MovePutOff:
		w.alone = "The answer was not moved yet: no outage asks for it, and the node that would lose traffic is busy, or tells no figures."
	case sites.WindowSkipped:
		w.alone = "Nothing was moved: the time for it has passed, and it is not caught up with."
	case sites.DrillStarted:
		w.done = "The node is treated as if it had failed, and what follows is marked as a drill."
		w.command = "dnsteer drill {subject} --end"
	case sites.PoolOutageResolved, sites.MoveHeldEnded, sites.Resumed, sites.MovePutOffEnded, sites.DrillEnded:
	default:
		return words{}, false
	}
	return w, true
}

// targetWords are about what answers are pushed to.
func targetWords(k sites.Kind) (words, bool) {
	w := words{command: "dnsteer target show {target}"}
	switch k {
	case sites.PublishFailed:
		w.head = "{name} does not take the records that it should hold"
		w.alone = "Its clients get what it held before. The built-in server and the other targets are not held up by it."
	case sites.PublishNotVisible:
		w.head = "What was pushed to {name} cannot be seen"
		w.done = "The records were pushed, and the target has taken them."
		w.alone = "Nothing was taken back: the target is asked on."
	case sites.Drift:
		w.head = "Somebody else's change at {name}"
		w.alone = "What dnsteer has not written is never changed and never removed."
	case sites.InstanceConflict:
		w.head = "Another controller seems to write to {name}"
		w.alone = "Records that another one keeps changing are not fought over without end."
	case sites.DriftRepaired, sites.PublishRecovered, sites.PublishVisible, sites.InstanceConflictEnded:
	default:
		return words{}, false
	}
	return w, true
}

// ownWords are about the controller, its alerts and its actions.
func ownWords(k sites.Kind) (words, bool) {
	w := words{command: "dnsteer status"}
	switch k {
	case sites.StoreFailed:
		w.head, w.done = "The state cannot be stored", "DNS and decisions go on."
		w.alone = "Nothing that happens now would survive a restart."
	case sites.KeyReplaced:
		w.head = "A zone is signed with another key"
		w.alone, w.command = "The key that is gone was not brought back.", "dnsteer dnssec ds"
	case sites.ConfigRejected:
		w.head, w.done = "The configuration was rejected", "The configuration that was in place goes on."
		w.alone, w.command = "Nothing of the new one is in use.", "dnsteer check"
	case sites.RestartLoop:
		w.head = "The controller starts again and again"
		w.alone = "The DNS answers are those that were stored last."
	case sites.ClockSuspect:
		w.alone = "Nothing was moved: what is counted in elapsed time does not follow the wall clock."
	case sites.AlertFailed:
		w.done, w.command = "Its messages wait, and are tried again and again; those with a fallback take it.", "dnsteer alert test"
	case sites.AlertDropped:
		w.alone, w.command = "What was dropped is not sent again; the events themselves stay stored.", "dnsteer alert list"
	case sites.ActionFailed:
		w.alone, w.command = "It is not tried again for the same event.", "dnsteer events"
	case sites.ActionDone:
		w.command = "dnsteer events"
	case sites.AlertRecovered:
		w.command = "dnsteer alert list"
	case sites.StoreRecovered, sites.ConfigReloaded:
	default:
		return words{}, false
	}
	return w, true
}

// about names what an event is about.
func about(e *sites.Event) string {
	switch {
	case e.Target != "":
		return e.Target
	case e.Part != "":
		return e.Part
	default:
		return e.Subject()
	}
}

// headline says in few words what an event tells of; "" where its own text is
// the best there is.
func headline(e *sites.Event) string {
	if e.Kind == sites.PublishFailed && e.Severity == sites.Critical {
		return "Clients still get the old answer: " + about(e) + " does not take the new one"
	}
	w, _ := wordsOf(e.Kind)
	return strings.ReplaceAll(w.head, "{name}", about(e))
}

// headlineOf says it of several names; "" where that cannot be said.
func headlineOf(k sites.Kind, names string) string {
	w, _ := wordsOf(k)
	if !w.many {
		return ""
	}
	return strings.ReplaceAll(w.head, "{name}", names)
}

// course says what was done about an event, and what was deliberately left
// alone.
func course(e *sites.Event) (done, alone string) {
	w, _ := wordsOf(e.Kind)
	return w.done, w.alone
}

// helps names a command that helps with an event beside explain.
func helps(e *sites.Event) string {
	w, _ := wordsOf(e.Kind)
	target, _, _ := strings.Cut(e.Target, " ")
	return strings.TrimSpace(strings.NewReplacer("{subject}", e.Subject(), "{site}", e.Site, "{target}", target).Replace(w.command))
}
