package config

import (
	"github.com/dnsteer/dnsteer/providers/adguard"
	"github.com/dnsteer/dnsteer/providers/rfc2136"
	"github.com/dnsteer/dnsteer/providers/routeros"
	"github.com/dnsteer/dnsteer/sites"
)

// Target is where a site's answers are pushed to. It belongs to one site.
// Exactly one of RouterOS, AdGuard and RFC2136 is set.
type Target struct {
	Name, Site string
	RouterOS   *routeros.Config
	AdGuard    []adguard.Config // its servers, which all get the same
	RFC2136    *rfc2136.Config
	// Reconcile is when the whole set is compared, whatever has changed.
	Reconcile sites.Schedule
	// DryRun plans and reports and changes nothing.
	DryRun bool
	// CreateOnly adds what is missing and changes and removes nothing.
	CreateOnly bool
	// DeleteGuard is the share in percent of our records there that may be
	// removed at once without an operator's word.
	DeleteGuard int
	Drift       Drift
}

// Drift says what becomes of a record of ours that somebody has changed.
type Drift uint8

// What becomes of it.
const (
	DriftRepair Drift = iota // it is put right
	DriftReport              // it is only told
	DriftAdopt               // it stands until the next move
)

// Kind is the target's type as the configuration has it.
func (t *Target) Kind() string {
	switch {
	case t.RouterOS != nil:
		return "routeros"
	case t.AdGuard != nil:
		return "adguard"
	default:
		return "rfc2136"
	}
}
