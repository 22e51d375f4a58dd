package alert

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/dnsteer/dnsteer/sites"
)

// said is what the reference says of a kind of event.
type said struct {
	// when it is raised, as a sentence.
	when string
	// fields of the event that say what it is about.
	fields string
	// end is the kind that ends what began with it; "" for what ends nothing.
	end sites.Kind
}

// saidOf gives what is said of a kind; false for one that nothing is said of.
func saidOf(k sites.Kind) (said, bool) {
	for _, of := range []func(sites.Kind) (said, bool){saidOfNodes, saidOfProbes, saidOfSites, saidOfPools, saidOfTargets, saidOfOurselves} {
		if s, ok := of(k); ok {
			return s, true
		}
	}
	return said{}, false
}

func saidOfNodes(k sites.Kind) (said, bool) {
	s := said{fields: "site, node"}
	switch k {
	case sites.FailoverOutage:
		s.when, s.end = "A node was taken out of DNS: it did not answer for its threshold, while a witness of its site did (N2).", sites.FailoverFailback
	case sites.FailoverFailback:
		s.when = "A node is back in DNS after an outage: by its grace, by an operator, or because nothing else was left (N6, C1, A3)."
	case sites.FailoverMaintenance:
		s.when, s.end = "Maintenance of a node began, by an operator or a window; with `resolves`, it ended (N7, C5).", sites.FailoverMaintenance
	case sites.NodeDisabled:
		s.when, s.end = "An operator has disabled a node (N8).", sites.NodeEnabled
	case sites.NodeEnabled:
		s.when = "A disabled node is probed again."
	case sites.NodeOffline:
		s.when, s.end = "A node has not answered for its threshold while its site is seen, whether DNS moves by that or not.", sites.NodeOnline
	case sites.NodeOnline:
		s.when = "A node that was told to be offline answers again."
	case sites.QuarantineStarted:
		s.when, s.end = "A node went out too often, and stays out for longer (N11).", sites.QuarantineEnded
	case sites.QuarantineEnded:
		s.when = "It may come back."
	case sites.DrillStarted:
		s.when, s.end = "An operator has a node treated as not answering (C6).", sites.DrillEnded
	case sites.DrillEnded:
		s.when = "The drill is over."
	default:
		return said{}, false
	}
	return s, true
}

func saidOfProbes(k sites.Kind) (said, bool) {
	s := said{fields: "site, node"}
	switch k {
	case sites.ProbeNeverUp:
		s.when, s.end = "A probe has not succeeded once in a threshold since it was configured (O2).", sites.ProbeRecovered
	case sites.ProbeFailed:
		s.when, s.end = "A probe with `steer: false` fails.", sites.ProbeRecovered
	case sites.ProbeRecovered:
		s.when = "Such a probe succeeds."
	case sites.ProbeStale:
		s.when, s.end = "The probes of a node have given no result for three intervals: it is held as it is (S5).", sites.ProbeFresh
	case sites.ProbeFresh:
		s.when = "They give results again."
	case sites.Unjudged:
		s.when, s.fields, s.end = "A site, or a node, cannot be judged: this machine cannot ask (no route, no right, no descriptor), or a witness that must answer does not while others do (N14).", "site, or site and node", sites.Judged
	case sites.Judged:
		s.when, s.fields = "It can be judged again.", "site, or site and node"
	case sites.CertificateExpiring:
		s.when, s.end = "A certificate that a probe was shown ends soon; again when it is sooner.", sites.CertificateRenewed
	case sites.CertificateRenewed:
		s.when = "The probe is shown one that lasts longer."
	default:
		return said{}, false
	}
	return s, true
}

func saidOfSites(k sites.Kind) (said, bool) {
	s := said{fields: "site"}
	switch k {
	case sites.SiteDown:
		s.when, s.end = "Neither a witness nor a node of a site answers: its DNS is left alone (N3).", sites.SiteUp
	case sites.SiteUp:
		s.when = "A site that could not be seen is seen again."
	case sites.ResolverDown:
		s.when, s.end = "All witnesses of a site are silent, or answer otherwise, while nodes of it answer: its failover is suspended (N3).", sites.ResolverUp
	case sites.ResolverUp:
		s.when = "A witness of it answers again."
	case sites.ControllerIsolated:
		s.when, s.fields, s.end = "No site can be seen: all DNS is left alone (N4).", "none", sites.ControllerReconnected
	case sites.ControllerReconnected:
		s.when, s.fields = "A site is seen again.", "none"
	case sites.MassFailure:
		s.when, s.fields, s.end = "So many nodes of several sites fail at once that pools without a node that passes are left alone (A10).", "none", sites.MassFailureEnded
	case sites.MassFailureEnded:
		s.when, s.fields = "Fewer fail, or an operator has said `release`.", "none"
	default:
		return said{}, false
	}
	return s, true
}

func saidOfPools(k sites.Kind) (said, bool) {
	s := said{fields: "site, pool"}
	switch k {
	case sites.FailoverSwitch:
		s.when = "Another node, or another site, serves a pool now (A2, A4)."
	case sites.PoolOutageStarted:
		s.when, s.end = "Nothing is left to serve a pool: its last resort is answered (A5).", sites.PoolOutageResolved
	case sites.PoolOutageResolved:
		s.when = "Something serves it again."
	case sites.Paused:
		s.when, s.end = "An operator holds a pool, a site, or all (C3); a switch does so too (C2).", sites.Resumed
	case sites.Resumed:
		s.when = "It moves by itself again."
	case sites.MoveHeld:
		s.when, s.end = "An outage asks for a move that a pause holds back (C3).", sites.MoveHeldEnded
	case sites.MoveHeldEnded:
		s.when = "The pause is over, or the move is not asked for any more."
	case sites.MovePutOff:
		s.when, s.end = "A return is put off while those who would lose the traffic are busy (A11).", sites.MovePutOffEnded
	case sites.MovePutOffEnded:
		s.when = "It was carried out, or is not asked for any more."
	case sites.WindowSkipped:
		s.when, s.fields = "A maintenance window would have left a pool with nothing (C4).", "site, node"
	default:
		return said{}, false
	}
	return s, true
}

func saidOfTargets(k sites.Kind) (said, bool) {
	s := said{fields: "site, target"}
	switch k {
	case sites.Drift:
		s.when, s.end = "Somebody has changed records of dnsteer's at a target, or has others on its names.", sites.DriftRepaired
	case sites.DriftRepaired:
		s.when = "They are as they should be again."
	case sites.PublishFailed:
		s.when, s.end = "A target could not be read or written; critical when clients get what is no longer right.", sites.PublishRecovered
	case sites.PublishRecovered:
		s.when = "It holds what it should."
	case sites.PublishNotVisible:
		s.when, s.end = "The site's resolver does not give what was pushed.", sites.PublishVisible
	case sites.PublishVisible:
		s.when = "It gives it."
	case sites.InstanceConflict:
		s.when, s.end = "Something keeps changing what is written to a target: another controller with the same `instance`, a script, a hand.", sites.InstanceConflictEnded
	case sites.InstanceConflictEnded:
		s.when = "It does so no more."
	default:
		return said{}, false
	}
	return s, true
}

func saidOfOurselves(k sites.Kind) (said, bool) {
	s := said{fields: "none"}
	switch k {
	case sites.ClockSuspect:
		s.when = "The wall clock cannot be right (O6)."
	case sites.RestartLoop:
		s.when = "The controller has started three times within ten minutes (S4)."
	case sites.ConfigRejected:
		s.when, s.end = "A configuration, or a certificate of the HTTP listener, has faults; what was in place goes on.", sites.ConfigReloaded
	case sites.ConfigReloaded:
		s.when = "Another configuration is in place."
	case sites.StoreFailed:
		s.when, s.end = "The state cannot be stored (S1).", sites.StoreRecovered
	case sites.StoreRecovered:
		s.when = "It can be stored again."
	case sites.KeyReplaced:
		s.when = "The key that signed a zone is gone or cannot be read, and another signs since the start."
	case sites.AlertFailed:
		s.when, s.fields, s.end = "A channel has taken no message for `fallback_after`.", "part", sites.AlertRecovered
	case sites.AlertRecovered:
		s.when, s.fields = "It takes them again.", "part"
	case sites.AlertDropped:
		s.when, s.fields = "Messages were given up, or were too many.", "part"
	case sites.ActionDone:
		s.when, s.fields = "An action was carried out.", "part, and site, node of the event that it followed"
	case sites.ActionFailed:
		s.when, s.fields = "An action could not be carried out, or was too frequent.", "part, and site, node of the event that it followed"
	default:
		return said{}, false
	}
	return s, true
}

// fieldOf says what a field of an event in JSON means.
func fieldOf(name string) string {
	return map[string]string{
		"id":       "counts events from 1, across restarts",
		"time":     "when it happened (RFC 3339)",
		"kind":     "one of those below",
		"severity": "`info`, `warning` or `critical`: that of the kind, or a higher one",
		"site":     "the site's name, where it is about one",
		"node":     "the node's name",
		"pool":     "the pool's name; `default` for the pool of all nodes",
		"target":   "the target's name, and its server where there are several",
		"part":     "the alert channel or the action",
		"text":     "what happened and why, for people; it may be worded otherwise in later versions",
		"resolves": "the `id` of the event that this one ends",
		"anew":     "true where an operator's order takes the place of the one that `resolves` names, which did not end",
		"drill":    "true where it is part of a drill",
		"by":       "who gave the command",
		"reason":   "why, as they said",
	}[name]
}

const referenceHead = `<!-- Generated from the code (internal/alert/reference.go); change it there. -->

# Events

What happens is an event: it is stored, shown by ` + "`dnsteer events`" + ` and the dashboard, streamed by
the [API](api.md), and told by [alerts](alerts.md). The set of kinds is closed. Warnings and critical
events are told unless routes say otherwise; the [runbooks](runbooks.md) have a section for each.

## Fields

As JSON (` + "`dnsteer events -o json`, `/api/v1/events`, `/api/v1/events/stream`" + `); what is empty is left out.

| field | meaning |
|---|---|
`

// Reference gives the page on all kinds of events, docs/events.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	for f := range reflect.TypeFor[sites.Event]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, fieldOf(name))
	}
	b.WriteString("\n## Kinds\n\n| kind | severity | when | about | its end |\n|---|---|---|---|---|\n")
	for _, k := range sites.Kinds() {
		s, _ := saidOf(k)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k, severity(k), s.when, s.fields, ended(k, s))
	}
	return b.String()
}

// severity gives a kind's severity, with the way to its runbook where it has one.
func severity(k sites.Kind) string {
	if k.Severity() == sites.Info {
		return string(sites.Info)
	}
	return fmt.Sprintf("[%s](runbooks.md#%s)", k.Severity(), k)
}

// ended says what ends what began with a kind, or what the kind ends.
func ended(k sites.Kind, s said) string {
	switch {
	case s.end != "":
		return "`" + string(s.end) + "`"
	case roleOf(k) != ends:
		return "happens once"
	}
	var list []string
	for _, began := range sites.Kinds() {
		if of, _ := saidOf(began); of.end == k {
			list = append(list, "`"+string(began)+"`")
		}
	}
	return "ends " + strings.Join(list, ", ")
}
