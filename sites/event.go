package sites

import (
	"slices"
	"time"
)

// Kind names what happened. The set is closed.
type Kind string

// The kinds of events that the rules raise.
const (
	FailoverOutage        Kind = "failover_outage"
	FailoverSwitch        Kind = "failover_switch"
	FailoverFailback      Kind = "failover_failback"
	FailoverMaintenance   Kind = "failover_maintenance"
	NodeDisabled          Kind = "node_disabled"
	NodeEnabled           Kind = "node_enabled"
	NodeOffline           Kind = "node_offline"
	NodeOnline            Kind = "node_online"
	ProbeNeverUp          Kind = "probe_never_up"
	ProbeFailed           Kind = "probe_failed"
	ProbeRecovered        Kind = "probe_recovered"
	ProbeStale            Kind = "probe_stale"
	ProbeFresh            Kind = "probe_fresh"
	Unjudged              Kind = "unjudged"
	Judged                Kind = "judged"
	SiteDown              Kind = "site_down"
	SiteUp                Kind = "site_up"
	ResolverDown          Kind = "resolver_down"
	ResolverUp            Kind = "resolver_up"
	ControllerIsolated    Kind = "controller_isolated"
	ControllerReconnected Kind = "controller_reconnected"
	ClockSuspect          Kind = "clock_suspect"
	PoolOutageStarted     Kind = "pool_outage_started"
	PoolOutageResolved    Kind = "pool_outage_resolved"
	Paused                Kind = "paused"
	Resumed               Kind = "resumed"
	MoveHeld              Kind = "move_held"
	MoveHeldEnded         Kind = "move_held_ended"
	MovePutOff            Kind = "move_put_off"
	MovePutOffEnded       Kind = "move_put_off_ended"
	WindowSkipped         Kind = "window_skipped"
	QuarantineStarted     Kind = "quarantine_started"
	QuarantineEnded       Kind = "quarantine_ended"
	MassFailure           Kind = "mass_failure"
	MassFailureEnded      Kind = "mass_failure_ended"
	DrillStarted          Kind = "drill_started"
	DrillEnded            Kind = "drill_ended"
	RestartLoop           Kind = "restart_loop"
	CertificateExpiring   Kind = "certificate_expiring"
	CertificateRenewed    Kind = "certificate_renewed"
)

// The kinds of events that are raised around the rules.
const (
	ConfigReloaded Kind = "config_reloaded"
	ConfigRejected Kind = "config_rejected"
	StoreFailed    Kind = "store_failed"
	StoreRecovered Kind = "store_recovered"
	KeyReplaced    Kind = "key_replaced"

	Drift                 Kind = "drift"
	DriftRepaired         Kind = "drift_repaired"
	PublishFailed         Kind = "publish_failed"
	PublishRecovered      Kind = "publish_recovered"
	PublishNotVisible     Kind = "publish_not_visible"
	PublishVisible        Kind = "publish_visible"
	InstanceConflict      Kind = "instance_conflict"
	InstanceConflictEnded Kind = "instance_conflict_ended"
)

// The kinds of events about alerts and actions.
const (
	AlertFailed    Kind = "alert_failed"
	AlertRecovered Kind = "alert_recovered"
	AlertDropped   Kind = "alert_dropped"
	ActionDone     Kind = "action_done"
	ActionFailed   Kind = "action_failed"
)

// Kinds lists every kind of event, in the order in which they are described.
func Kinds() []Kind {
	return []Kind{
		FailoverOutage, FailoverSwitch, FailoverFailback, FailoverMaintenance, NodeDisabled, NodeEnabled,
		NodeOffline, NodeOnline, ProbeNeverUp, ProbeFailed, ProbeRecovered, ProbeStale, ProbeFresh, Unjudged, Judged,
		SiteDown, SiteUp, ResolverDown, ResolverUp, ControllerIsolated, ControllerReconnected, ClockSuspect,
		PoolOutageStarted, PoolOutageResolved, Paused, Resumed, MoveHeld, MoveHeldEnded,
		MovePutOff, MovePutOffEnded, WindowSkipped,
		QuarantineStarted, QuarantineEnded, MassFailure, MassFailureEnded, DrillStarted, DrillEnded, RestartLoop,
		CertificateExpiring, CertificateRenewed,
		ConfigReloaded, ConfigRejected, StoreFailed, StoreRecovered, KeyReplaced,
		Drift, DriftRepaired, PublishFailed, PublishRecovered, PublishNotVisible, PublishVisible,
		InstanceConflict, InstanceConflictEnded,
		AlertFailed, AlertRecovered, AlertDropped, ActionDone, ActionFailed,
	}
}

// Known says whether there is such a kind.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Severity of an event.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Severity gives the severity of a kind.
func (k Kind) Severity() Severity {
	switch k {
	case SiteDown, ControllerIsolated, PoolOutageStarted, MassFailure, MoveHeld, StoreFailed, KeyReplaced:
		return Critical
	case FailoverOutage, FailoverSwitch, NodeOffline, ResolverDown, ProbeNeverUp, ProbeFailed,
		ProbeStale, Unjudged, ClockSuspect, CertificateExpiring, QuarantineStarted, WindowSkipped, RestartLoop, ConfigRejected,
		Drift, PublishFailed, PublishNotVisible, InstanceConflict, AlertFailed, AlertDropped, ActionFailed:
		return Warning
	default:
		return Info
	}
}

// Event is something that happened, written for people and for alerts.
type Event struct {
	// ID counts events from 1, across restarts.
	ID   uint64    `json:"id"`
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Severity is that of the kind; an event from around the rules may raise its
	// own to critical (a push that fails during a move).
	Severity Severity `json:"severity"`
	Site     string   `json:"site,omitempty"`
	Node     string   `json:"node,omitempty"`
	Pool     string   `json:"pool,omitempty"`
	// Target names the target that it is about, and its server where there are
	// several: "adguard-berlin https://10.1.0.1".
	Target string `json:"target,omitempty"`
	// Part names the alert channel or the action that the event is about.
	Part string `json:"part,omitempty"`
	// Text says what happened and why, with the figures that led to it.
	Text string `json:"text"`
	// Resolves is the ID of the event that this one ends; 0 for none.
	Resolves uint64 `json:"resolves,omitempty"`
	// Anew: an operator's order takes the place of the one that Resolves names,
	// which did not end.
	Anew bool `json:"anew,omitempty"`
	// Drill: it is part of a drill, not of an outage (C6).
	Drill bool `json:"drill,omitempty"`
	// By and Reason are those of the operator's command (C8).
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Subject names what the event is about: "site/node", "site" for a site and for
// its default pool, "site/pool", or "".
func (e *Event) Subject() string {
	switch {
	case e.Node != "":
		return e.Site + "/" + e.Node
	case e.Pool != "" && e.Pool != DefaultPool:
		return e.Site + "/" + e.Pool
	default:
		return e.Site
	}
}
