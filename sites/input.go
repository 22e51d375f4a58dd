package sites

import (
	"net/netip"
	"time"
)

// Instant is one moment on the two clocks that the rules know.
type Instant struct {
	// Boot is the time since the machine started, sleep included
	// (CLOCK_BOOTTIME). All durations are measured by it.
	Boot time.Duration
	// Wall is what people read. It may jump.
	Wall time.Time
	// Suspect: the wall clock cannot be right (O6).
	Suspect bool
}

// Subject is what a probe asks: a node's address, or a witness of a line. It
// identifies the same thing across reloads, so a late result of something that
// has left or has moved finds nothing.
type Subject struct {
	Site    string
	Node    string // "" for a witness
	Witness string // "" for a node
	Addr    netip.Addr
}

func (s Subject) String() string {
	if s.Node == "" {
		return s.Site + " " + s.Witness
	}
	return s.Site + "/" + s.Node + " " + s.Addr.String()
}

// Outcome of a probe (O1).
type Outcome uint8

// The outcomes of a probe. None is the zero value: no result yet.
const (
	None Outcome = iota
	Up
	Down
	Unknown
)

func (o Outcome) String() string { return [...]string{"none", "up", "down", "unknown"}[o] }

// Check is the outcome of one probe of a node, or of a witness's only probe.
type Check struct {
	Outcome Outcome
	// Cause is a word of a closed set ("refused", "timeout", …; see package
	// probes), empty for Up. Text is the sentence for people.
	Cause, Text string
	// Duration from the probe's start to its outcome.
	Duration time.Duration
	// Expires is the end of the certificate that the other side showed; zero
	// if it showed none.
	Expires time.Time
	// Heard is when the node spoke last, by the clock of Instant.Boot, for a
	// probe that asks nothing and waits to be told: an answer is evidence of
	// that moment. 0 for a probe that asks: then it is the probe's start.
	Heard time.Duration
	// Figures of the node's work; nil if the probe finds out none.
	Figures *Figures
}

// CauseAwaited is the cause of an unknown outcome where a node has not spoken
// since the controller listens: nothing is wrong with either (N4).
const CauseAwaited = "awaited"

// Causes of an answer that came and is not what was expected.
const (
	CauseDNSAnswer = "dns_answer"
	CauseDNSRcode  = "dns_rcode"
	CauseStatus    = "status"
	CauseBody      = "body"
	CauseProtocol  = "protocol"
)

// Causes of unknown outcomes that have words of their own (N14).
const (
	CauseLocalRoute      = "local_route"
	CauseLocalPermission = "local_permission"
)

// wrong says whether it answered, with something else than was expected.
func (c *Check) wrong() bool {
	switch c.Cause {
	case CauseDNSAnswer, CauseDNSRcode, CauseStatus, CauseBody, CauseProtocol:
		return c.Outcome == Down
	default:
		return false
	}
}

// Result is what came of probing a subject once.
type Result struct {
	Subject Subject
	// Start and Finish by the clock of Instant.Boot. Start is taken before the
	// first packet, Finish after the last.
	Start, Finish time.Duration
	// Checks in the order of Node.Probes; one for a witness.
	Checks []Check
}

// Input of a Step. The zero Input is a tick: time has passed.
type Input struct {
	Results []Result
	Command *Command
	// Events are what has happened around the rules (a reload, a store that
	// fails). They get their ID, time and severity here, and come back among
	// the Effects.
	Events []Event
}

// Verb is what an operator can say.
type Verb string

// The operator's commands.
const (
	Maintenance    Verb = "maintenance"     // N7, C4
	MaintenanceEnd Verb = "maintenance_end" // N7
	Disable        Verb = "disable"         // N8, C4
	Enable         Verb = "enable"          // N8
	FailbackNow    Verb = "failback"        // C1
	Pause          Verb = "pause"           // C3
	Resume         Verb = "resume"          // C3
	Switch         Verb = "switch"          // C2
	Drill          Verb = "drill"           // C6
	DrillEnd       Verb = "drill_end"       // C6
	Release        Verb = "release"         // A10
)

// Verbs lists what an operator can say.
func Verbs() []Verb {
	return []Verb{
		Maintenance, MaintenanceEnd, Disable, Enable, FailbackNow, Switch, Pause, Resume, Drill, DrillEnd, Release,
	}
}

// Command is one command of an operator (C8).
type Command struct {
	Verb Verb
	// Site is needed by all; Node by those about nodes (empty with
	// maintenance: every node of the site); Pool may be given to pause, resume
	// (empty: every pool of the site) and switch (empty: the default pool).
	// Release needs none of them.
	Site, Node, Pool string
	Force            bool
	// For ends the command's effect by itself; 0 means never (C7).
	For time.Duration
	// By and Reason are kept with the events (C8).
	By, Reason string
}

// Reply answers a Command. A refused command has changed nothing.
type Reply struct {
	Refused bool
	// Text says what was done and what was left out, or why it was refused and
	// what the ways out are.
	Text string
	// Forceable: the same command would have been carried out with Force.
	Forceable bool
}

// Effects is what a Step asks of its owner. Its slices are valid until the
// next Step.
type Effects struct {
	// Events in the order of the rules: nodes first, then pools. Their IDs ascend.
	Events []Event
	// Probe lists what is to be asked at once, also when a scheduled probe of
	// the same subject is under way (N2).
	Probe []Subject
	// Touched lists the pools whose answer, or the nearness of whose next
	// change, may be another than before.
	Touched []PoolID
	// Stored lists the sites (by index) whose durable state has changed, and
	// StoredGlobal says the same of the state that belongs to no site (S1).
	Stored       []int
	StoredGlobal bool
	// Subjects says that the set of subjects to probe has changed.
	Subjects bool
	// Blind says that the controller was blind until now, so the schedule of
	// probes starts anew as well (O5).
	Blind bool
	// Next is when Step wants to be called again at the latest, on the clock
	// of Instant.Boot.
	Next time.Duration
	// Reply is set when the input held a command.
	Reply *Reply
}

// PoolID names a pool by index into Config.Sites and Site.Pools.
type PoolID struct{ Site, Pool int }
