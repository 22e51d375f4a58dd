package api

import (
	"context"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Publisher is what the handlers ask of the targets.
type Publisher interface {
	// Targets gives what is known of each server of each target.
	Targets(ctx context.Context) ([]TargetView, error)
	// Plan lists what is there now and says what a push would change. It
	// changes nothing.
	Plan(ctx context.Context, target string) ([]TargetPlan, error)
	// Operate carries out an operator's word about a target. An unknown one is a
	// [NotFoundError].
	Operate(ctx context.Context, r TargetRequest) (TargetReply, error)
	// Certificates has a target's servers show theirs, and sends nothing else to
	// them. An unknown target is a [NotFoundError].
	Certificates(ctx context.Context, target string) (CertificateList, error)
}

// CertificateList is what the servers of a target show of themselves.
type CertificateList struct {
	Certificates []TargetCertificate `json:"certificates"`
	// Error is why there are none.
	Error string `json:"error,omitempty"`
}

// TargetCertificate is the certificate of one server, or Error why it shows none.
type TargetCertificate struct {
	Server string `json:"server"`
	// Fingerprint is what the key tls_fingerprint takes.
	Fingerprint string    `json:"fingerprint,omitempty"`
	Subject     string    `json:"subject,omitempty"`
	Issuer      string    `json:"issuer,omitempty"`
	Names       []string  `json:"names,omitempty"`
	NotBefore   time.Time `json:"not_before,omitzero"`
	NotAfter    time.Time `json:"not_after,omitzero"`
	// Verified: the certificates of the controller's system vouch for it; Reason says
	// why not.
	Verified bool   `json:"verified"`
	Reason   string `json:"reason,omitempty"`
	Error    string `json:"error,omitempty"`
}

// TargetState is how a target fares, in one word.
type TargetState string

// The states of a target.
const (
	TargetCurrent  TargetState = "current"  // it holds what it should
	TargetPending  TargetState = "pending"  // a push is under way, or waits for its turn
	TargetDiffers  TargetState = "differs"  // it was read to be other than it should, and is left so for now
	TargetFailing  TargetState = "failing"  // the last push or comparison failed
	TargetDenied   TargetState = "denied"   // it refuses the credentials
	TargetDisabled TargetState = "disabled" // an operator wants it left alone
	TargetDryRun   TargetState = "dry_run"  // changes are planned and not made
	TargetHeld     TargetState = "held"     // its site cannot be seen, so nothing is sent (E8)
	TargetWaiting  TargetState = "waiting"  // the site was not seen yet since the start (S2)
)

// TargetView is one server of a target.
type TargetView struct {
	Name string `json:"name"`
	// Server is host:port or the URL.
	Server  string      `json:"server"`
	Kind    string      `json:"kind"`
	Site    string      `json:"site"`
	State   TargetState `json:"state"`
	Product string      `json:"product,omitempty"`
	// Error is why it fails, Since when that began, Retry when it is tried
	// again.
	Error string    `json:"error,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Retry time.Time `json:"retry,omitzero"`
	// Compared is when it was last read whole, Changed when it was last written.
	Compared time.Time `json:"compared,omitzero"`
	Changed  time.Time `json:"changed,omitzero"`
	// Repair is when what somebody has changed there is put right, where that has
	// to wait: one record is put right at most once a minute.
	Repair time.Time `json:"repair,omitzero"`
	// Wrong: it fails, and what its clients get is no longer right.
	Wrong bool `json:"wrong,omitempty"`
	// Writes counts the changes that were sent since the start.
	Writes uint64 `json:"writes"`
	// Visible is how many seconds the last push took until the site's resolver gave
	// it; 0 while that is not known.
	Visible float64 `json:"visible_seconds,omitempty"`
	// TTL in seconds that the server gives all records; 0 where each has its
	// own.
	TTL     int            `json:"ttl,omitempty"`
	Records []TargetRecord `json:"records"`
	// NoFailover names the host names that cannot be moved there, and why.
	NoFailover []TargetConflict `json:"no_failover,omitempty"`
	Findings   []TargetFinding  `json:"findings,omitempty"`
	// Foreign are records there that are not dnsteer's and are never touched, by
	// name, at most 200 of them; Strangers is how many there are.
	Foreign   []TargetForeign `json:"foreign,omitempty"`
	Strangers int             `json:"strangers,omitempty"`
	// Disabled is who wants the target left alone, and why.
	Disabled *TargetOrder `json:"disabled,omitempty"`
}

// TargetForeign is a record of somebody else.
type TargetForeign struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Address string `json:"address"`
	// Text is the record as it stands there.
	Text string `json:"text,omitempty"`
}

// TargetOrder is who said something of a target, when and why.
type TargetOrder struct {
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
}

// TargetRecord is one RRset at a target.
type TargetRecord struct {
	Name string `json:"name"`
	Type string `json:"type"`
	TTL  int    `json:"ttl,omitempty"`
	// Desired is what it should hold, Actual what it held when it was last read.
	Desired []string `json:"desired"`
	Actual  []string `json:"actual"`
	// Visible: the site's resolver gives the desired answer. Nil while that is
	// not known.
	Visible *bool `json:"visible,omitempty"`
	// Error is why the target refuses to change it.
	Error string `json:"error,omitempty"`
}

// TargetConflict is a name that somebody else's records stand in the way of.
type TargetConflict struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Text string `json:"text"`
}

// TargetFinding is one thing that a person should know of a target.
type TargetFinding struct {
	Severity sites.Severity `json:"severity"`
	Text     string         `json:"text"`
}

// TargetPlan is what a push to one server would change.
type TargetPlan struct {
	Target string `json:"target"`
	Server string `json:"server"`
	// Error is why it could not be read.
	Error   string         `json:"error,omitempty"`
	Changes []TargetChange `json:"changes"`
	// Held are changes that a policy or a conflict keeps back.
	Held []TargetConflict `json:"held,omitempty"`
	// Repair is when what somebody has changed there is put right, where that has
	// to wait.
	Repair time.Time `json:"repair,omitzero"`
}

// TargetChange is one line of a plan.
type TargetChange struct {
	// Verb is "add", "change", "remove" or "adopt".
	Verb string `json:"verb"`
	Name string `json:"name"`
	Type string `json:"type"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// TargetVerb is what an operator can say of a target.
type TargetVerb string

// The verbs.
const (
	TargetDisable TargetVerb = "disable" // nothing is sent, nothing is removed
	TargetEnable  TargetVerb = "enable"  // what was missed is caught up with
	TargetAdopt   TargetVerb = "adopt"   // records of configured hosts become ours
	TargetPurge   TargetVerb = "purge"   // all that is ours is removed
)

// TargetRequest is an operator's word about a target.
type TargetRequest struct {
	Verb   TargetVerb `json:"verb"`
	Target string     `json:"target"`
	// Name is the only host name that adopt is about; "" for all.
	Name string `json:"name,omitempty"`
	// Confirmed has it done; adopt and purge say otherwise what they would do.
	Confirmed bool   `json:"confirmed,omitempty"`
	By        string `json:"by,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// TargetReply answers it. A refused request has changed nothing.
type TargetReply struct {
	Refused bool           `json:"refused,omitempty"`
	Text    string         `json:"text"`
	Changes []TargetChange `json:"changes,omitempty"`
}
