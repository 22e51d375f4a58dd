// Package api serves the controller's HTTP API: `/api/v1` and the health
// checks, by one set of handlers for the unix socket in the state folder and for
// the listener of the configuration's key "http". It also has the client that the
// commands use. Who may connect to the socket may do everything: its permissions
// are the login. Others are what [WithCaller] says of them, and each route takes
// a role.
package api

import (
	"context"
	"time"

	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// Reader is what the handlers read.
type Reader interface {
	// Status gives everything that is known now.
	Status(ctx context.Context) (Status, error)
	// Explain says why SITE, SITE/NODE, SITE/POOL or a host name is answered as
	// it is. An unknown name is a [NotFoundError].
	Explain(ctx context.Context, what string) (Explanation, error)
	// Events gives stored events.
	Events(ctx context.Context, q EventQuery) ([]sites.Event, error)
	// Follow gives the events that come after the one with the ID after; those
	// that are stored already first. The channel is closed when ctx ends, or
	// when the reader is too slow; then it asks again with the last ID it had.
	Follow(ctx context.Context, after uint64) (<-chan sites.Event, error)
}

// Operator is what the handlers do.
type Operator interface {
	// Command carries out an operator's command. A refusal is a Reply, not an
	// error.
	Command(ctx context.Context, c sites.Command) (sites.Reply, error)
	// Probe runs all probes of a node once, now, beside the schedule.
	Probe(ctx context.Context, site, node string) (ProbeReport, error)
	// Reload reads the configuration again. The error says what is wrong with
	// it; the old one is then still in place.
	Reload(ctx context.Context) (ReloadReport, error)
}

// Health is what the health checks ask.
type Health interface {
	// Healthy gives nil while the decision loop runs.
	Healthy(ctx context.Context) error
	// Missing names what is not ready yet; empty when all is.
	Missing(ctx context.Context) []string
}

// NotFoundError names what does not exist, and what does.
type NotFoundError struct{ Text string }

func (e *NotFoundError) Error() string { return e.Text }

// Status is everything that is known of the controller at a moment.
type Status struct {
	Time     time.Time `json:"time"`
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	Started  time.Time `json:"started"`
	// Problems are what a person should look at first, worst first, as
	// sentences; empty when all is well.
	Problems []string `json:"problems"`
	// Critical are those of them that somebody should do something about at once,
	// worst first.
	Critical []CriticalView `json:"critical,omitempty"`
	Isolated bool           `json:"isolated"`
	// Brake is "holds" while a mass failure is held, "released" after an
	// operator has released it and while the failure lasts, else empty.
	Brake  string       `json:"brake,omitempty"`
	Config ConfigStatus `json:"config"`
	Store  StoreStatus  `json:"store"`
	DNS    *DNSStatus   `json:"dns,omitempty"`
	HTTP   *HTTPStatus  `json:"http,omitempty"`
	// Alerts are nil where nobody is to be told of anything.
	Alerts   *AlertSummary    `json:"alerts,omitempty"`
	Sites    []sites.SiteView `json:"sites"`
	Services []ServiceView    `json:"services"`
	// Targets that sites are pushed to; the handler adds them, and what is wrong
	// with them to Problems.
	Targets []TargetView `json:"targets,omitempty"`
	// Resolved is what the sites' resolvers gave when they were last asked for a
	// name of theirs, which is done only while the status is looked at.
	Resolved []ResolvedView `json:"resolved,omitempty"`
}

// ResolvedView is what a site's resolver gives its clients.
type ResolvedView struct {
	Site     string `json:"site"`
	Resolver string `json:"resolver"`
	// Name is what it was asked for, at the time Asked; it gave Addresses, or Error
	// says why not.
	Name      string    `json:"name"`
	Asked     time.Time `json:"asked"`
	Addresses []string  `json:"addresses,omitempty"`
	Error     string    `json:"error,omitempty"`
	// Verified is when it last gave what the site's clients should get.
	Verified time.Time `json:"verified,omitzero"`
}

// ConfigStatus is about the configuration in place.
type ConfigStatus struct {
	Path   string    `json:"path"`
	Hash   string    `json:"hash"`
	Loaded time.Time `json:"loaded"`
	// Error is what is wrong with the file that was rejected last; empty if
	// the one in place is the one on the disk.
	Error    string   `json:"error,omitempty"`
	Warnings []string `json:"warnings"`
}

// StoreStatus is about the state folder.
type StoreStatus struct {
	Path  string `json:"path"`
	Error string `json:"error,omitempty"`
}

// DNSStatus is about the built-in DNS server.
type DNSStatus struct {
	Listen    []string          `json:"listen"`
	Serials   map[string]uint32 `json:"serials"`
	Queries   uint64            `json:"queries"`
	Unmatched uint64            `json:"unmatched"`
	Strangers []string          `json:"strangers,omitempty"`
	// Signed lists the zones that are signed, Secondaries those that are told of
	// changes.
	Signed      []SignedZone      `json:"signed,omitempty"`
	Secondaries []SecondaryStatus `json:"secondaries,omitempty"`
	// ClockBehind says that the clock cannot be right, so that validators may refuse
	// what is signed.
	ClockBehind bool `json:"clock_behind,omitempty"`
	// Panics counts the messages that met a fault of dnsteer itself since the start;
	// each was answered with SERVFAIL, the last at PanicAt.
	Panics  uint64    `json:"panics,omitempty"`
	PanicAt time.Time `json:"panic_at,omitzero"`
}

// HTTPStatus is about the listener of the API, the metrics and the pages.
type HTTPStatus struct {
	// Listen are URLs.
	Listen []string `json:"listen"`
	// Error is why it is not served.
	Error string `json:"error,omitempty"`
	// CertificateEnds is when its certificate does.
	CertificateEnds time.Time `json:"certificate_ends,omitzero"`
}

// AlertSummary is how the alerts fare, in short.
type AlertSummary struct {
	// Queued counts the messages that wait, over all channels.
	Queued int `json:"queued"`
	// Failing are the channels that take no messages, each with its reason.
	Failing []string `json:"failing,omitempty"`
}

// ServiceView is a service and what each site's clients get for it.
type ServiceView struct {
	Hosts []string            `json:"hosts"`
	Pool  string              `json:"pool"`
	Sites []ServiceAnswerView `json:"sites"`
}

// ServiceAnswerView is what clients of a site get.
type ServiceAnswerView struct {
	Site      string   `json:"site"`
	Addresses []string `json:"addresses"`
	TTL       int      `json:"ttl"`
	// Serves is "own", "emergency:SITE", "last_resort" or "empty".
	Serves string `json:"serves"`
}

// Explanation says why something is as it is.
type Explanation struct {
	Subject   string   `json:"subject"`
	Sentences []string `json:"sentences"`
	// Answers are set for a host name: what each site's clients get.
	Answers []ServiceAnswerView `json:"answers,omitempty"`
}

// EventQuery chooses stored events; the zero value gives the newest 100.
type EventQuery struct {
	After, Before uint64
	Since, Until  time.Time
	Kinds         []sites.Kind
	Site, Node    string
	Limit         int
	Ascending     bool
}

// ProbeReport is what probing a node once has found.
type ProbeReport struct {
	Site string `json:"site"`
	Node string `json:"node"`
	// Time is when it was begun.
	Time  time.Time    `json:"time"`
	Lines []ProbedLine `json:"lines"`
}

// ProbedLine is one address of the node.
type ProbedLine struct {
	Address string        `json:"address"`
	Checks  []ProbedCheck `json:"checks"`
}

// ProbedCheck is what one probe has found, with what it saw on its way.
type ProbedCheck struct {
	sites.Checked
	Detail probes.Detail `json:"detail,omitzero"`
}

// ReloadReport says what a reload has changed.
type ReloadReport struct {
	// Changed is false if the configuration is the one in place.
	Changed bool   `json:"changed"`
	Text    string `json:"text"`
	// Warnings are those that the configuration in place until now did not give;
	// Stay counts the others.
	Warnings []string `json:"warnings"`
	Stay     int      `json:"stay,omitempty"`
}
