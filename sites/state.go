package sites

import (
	"net/netip"
	"time"
)

// Word is the state of a node, or of a node on one line.
type Word string

// The words of a line, and the two of an operator that stand over them.
const (
	WordPending     Word = "pending"
	WordUp          Word = "up"
	WordFailing     Word = "failing"
	WordOut         Word = "out"
	WordRecovering  Word = "recovering"
	WordReturning   Word = "returning"
	WordMaintenance Word = "maintenance"
	WordDisabled    Word = "disabled"
)

// worse orders the words of lines: a node's word is that of its worst judged
// line.
func (w Word) worse(v Word) bool { return w.rank() > v.rank() }

func (w Word) rank() int {
	switch w {
	case WordFailing:
		return 1
	case WordPending:
		return 2
	case WordReturning:
		return 3
	case WordRecovering:
		return 4
	case WordOut:
		return 5
	default:
		return 0
	}
}

// Condition is how much of a site is seen (N3).
type Condition string

// The conditions of a site.
const (
	SiteIsUp         Condition = "up"
	SiteResolverDown Condition = "resolver_down"
	SiteIsDown       Condition = "down"
)

// Saved is all that survives a restart (S1). It holds no reading of the clock
// that durations are measured by: those start anew (O5).
type Saved struct {
	Global SavedGlobal
	Sites  []SavedSite
}

// SavedGlobal belongs to no site.
type SavedGlobal struct {
	// LastEvent is the ID of the newest event.
	LastEvent uint64 `json:"last_event"`
	// Isolated is the event that said so; 0 when the controller is not (N4).
	Isolated uint64 `json:"isolated,omitempty"`
	// Mass is the event of a mass failure (A10); Released says that an operator
	// has ended the brake while it lasts.
	Mass     uint64 `json:"mass,omitempty"`
	Released bool   `json:"released,omitempty"`
	// Suspect is the event of a clock that cannot be right (O6).
	Suspect uint64 `json:"suspect,omitempty"`
	// Starts are the latest starts (S4), and LoopSaid the last alert about them.
	Starts   []time.Time `json:"starts,omitempty"`
	LoopSaid time.Time   `json:"loop_said,omitzero"`
}

// SavedSite is the durable state of one site.
type SavedSite struct {
	Name      string    `json:"name"`
	Condition Condition `json:"condition"`
	Since     time.Time `json:"since"`
	// Down and Resolver are the events that said so and are not yet resolved.
	Down     uint64 `json:"down,omitempty"`
	Resolver uint64 `json:"resolver,omitempty"`
	// Unjudged are the events that said that its lines cannot be judged (N14).
	Unjudged [families]uint64 `json:"unjudged,omitzero"`
	// Unproven are those that said so because witnesses of theirs are silent.
	Unproven [families]uint64 `json:"unproven,omitzero"`
	// FailedOver: its emergency site serves because it is down (N5).
	FailedOver bool        `json:"failed_over,omitempty"`
	Nodes      []SavedNode `json:"nodes"`
	Pools      []SavedPool `json:"pools"`
}

// SavedNode is the durable state of one node, or of the incarnation with other
// addresses that it replaces (A7).
type SavedNode struct {
	Name      string       `json:"name"`
	Addresses []netip.Addr `json:"addresses"`
	Secondary []netip.Addr `json:"secondary,omitempty"`
	Replaced  bool         `json:"replaced,omitempty"`

	Lines [families]*SavedLine `json:"lines"`

	// Maintenance and Disabled are the operator's; Window that of a recurring
	// maintenance, and WindowSkip the end of the one that is left out.
	Maintenance *Hold     `json:"maintenance,omitempty"`
	Disabled    *Hold     `json:"disabled,omitempty"`
	Window      *Hold     `json:"window,omitempty"`
	WindowSkip  time.Time `json:"window_skip,omitzero"`
	// WindowEnded: an operator has ended it while the wall clock could not be right
	// (O6), so what is open when it is right is left out.
	WindowEnded bool  `json:"window_ended,omitempty"`
	Drill       *Hold `json:"drill,omitempty"`
	// Outages are the times of the last ones, and Quarantine the event that
	// they have led to (N11).
	Outages    []time.Time `json:"outages,omitempty"`
	Quarantine uint64      `json:"quarantine,omitempty"`
	// Entitled: an operator's hold has ended, so the node takes its place in
	// front of an active one even with `failback: manual` (A2).
	Entitled bool `json:"entitled,omitempty"`
}

// SavedLine is the durable state of a node on one line.
type SavedLine struct {
	Word  Word      `json:"word"`
	Since time.Time `json:"since"`
	// Offline and Outage are the events that said so and are not yet resolved.
	Offline uint64 `json:"offline,omitempty"`
	Outage  uint64 `json:"outage,omitempty"`
	// Drill: those are part of a drill (C6).
	Drill bool `json:"drill,omitempty"`
	// Unjudged is the event that said that it cannot be judged (N14).
	Unjudged uint64 `json:"unjudged,omitempty"`
	// Stale is the event that said that nothing is heard of its probes (S5).
	Stale uint64 `json:"stale,omitempty"`
	// Refuted: a first result failed while the line worked, so a pending node
	// counts no more as serving (N10).
	Refuted bool `json:"refuted,omitempty"`
	// Probes by their keys.
	Probes map[string]SavedProbe `json:"probes,omitempty"`
}

// SavedProbe remembers of one probe whether it has ever answered (O2), and the
// events about it that are not yet resolved.
type SavedProbe struct {
	Answered bool   `json:"answered,omitempty"`
	NeverUp  uint64 `json:"never_up,omitempty"`
	Failed   uint64 `json:"failed,omitempty"`
	// Certificate is the last that was told to end.
	Certificate *SavedCertificate `json:"certificate,omitempty"`
}

// SavedPool is the memory of a pool: who was answered last.
type SavedPool struct {
	Name   string `json:"name"`
	Source Source `json:"source"`
	// From is the site that serves while Source is Emergency.
	From string `json:"from,omitempty"`
	// Active is the node of an active_passive pool that is answered, or was
	// last when the pool served by itself.
	Active string `json:"active,omitempty"`
	// Members are what the pool's own nodes give.
	Members []Member  `json:"members,omitempty"`
	Since   time.Time `json:"since"`
	Paused  *Hold     `json:"paused,omitempty"`
	// Held is the event of a move that a pause holds back (C2).
	Held uint64 `json:"held,omitempty"`
	// Outage is the event of a pool with nothing left.
	Outage uint64 `json:"outage,omitempty"`
	// PutOff is a move that the guard puts off (A11).
	PutOff *PutOff `json:"put_off,omitempty"`
}

// PutOff is a move that waits for the traffic to end (A11).
type PutOff struct {
	// To is the node that is to take over; "" for the pool's own nodes in the
	// place of an emergency site.
	To    string    `json:"to,omitempty"`
	Since time.Time `json:"since"`
	Event uint64    `json:"event,omitempty"`
}

// Member is a node in an answer, with the families that it gives.
type Member struct {
	Node     string         `json:"node"`
	Replaced bool           `json:"replaced,omitempty"`
	In       [families]bool `json:"in"`
}

// Hold is what an operator or a window has ordered, apart from what is
// measured (C7).
type Hold struct {
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	// Until is when it ends by itself; zero means when it is ended.
	Until time.Time `json:"until,omitzero"`
	// Lasts stands in for Until while the wall clock cannot be right (O6): it
	// counts from when the clock is.
	Lasts time.Duration `json:"lasts,omitempty"`
	// Switch: a pause that a switch has begun; a failback ends it (C1, C2).
	Switch bool `json:"switch,omitempty"`
	// Event is the one that it began with.
	Event uint64 `json:"event,omitempty"`
}

// last has the hold end by itself after d; 0 means never.
func (h *Hold) last(d time.Duration, now Instant) {
	switch {
	case d <= 0:
	case now.Suspect:
		h.Lasts = d
	default:
		h.Until, h.Lasts = now.Wall.Add(d), 0
	}
}

// over says whether the hold has ended by itself.
func (h *Hold) over(now Instant) bool {
	return h != nil && !h.Until.IsZero() && !now.Wall.Before(h.Until)
}
