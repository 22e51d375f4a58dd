// Package providers is the contract of targets: devices and servers that a
// site's answers are pushed to. A provider speaks to one kind of target.
//
// What a target is to hold is a set of [Record]s. A push lists what is there,
// plans ([Make]) what differs as plain sorted data, applies one [Change] after
// another, and lists again: an error or a time-out says nothing of what was
// done. A name is never empty on the way (P10): a value is swapped in place, or
// the new one is added before the old one is removed.
//
// Records that are not ours are never changed and never removed. Which ones are
// ours is said by a mark at the target where it has room for one
// ([Traits.Marks]), and by the caller's journal of what it wrote elsewhere.
package providers

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Record is one address of one name.
type Record struct {
	// Name in lower case without the final dot; "*.apps.example.lan" is a
	// wildcard.
	Name string
	// Addr decides the type: A or AAAA.
	Addr netip.Addr
	// TTL in whole seconds; 0 where the target has one of its own for all
	// ([Traits.TTL]).
	TTL time.Duration
}

// Key names the RRset that the record belongs to.
func (r Record) Key() Key { return Key{r.Name, sites.FamilyOf(r.Addr)} }

// Key names an RRset: a name's addresses of one family.
type Key struct {
	Name   string
	Family sites.Family
}

// Type is "A" or "AAAA".
func (k Key) Type() string {
	if k.Family == sites.IPv6 {
		return "AAAA"
	}
	return "A"
}

// String is "app.example.lan A".
func (k Key) String() string { return k.Name + " " + k.Type() }

// Compare orders keys by name, A before AAAA.
func (k Key) Compare(o Key) int {
	if c := strings.Compare(k.Name, o.Name); c != 0 {
		return c
	}
	return int(k.Family) - int(o.Family)
}

// Entry is a record as a target lists it, normalised.
type Entry struct {
	Record
	// ID is what the target calls it. It is good until the next listing.
	ID string
	// Marked: it bears the mark of this controller. Where the target has marks
	// ([Traits.Marks]), no other is ours; elsewhere those of the journal are too.
	Marked bool
	// Disabled: it is there and is not answered.
	Disabled bool
	// Fixed: nobody can change it there (a dynamic row). It is answered all the
	// same.
	Fixed bool
	// Text is the record as it stands there, for people.
	Text string
}

// Shadow is something at a target that is no A or AAAA record of a name of ours
// and may be answered in its place: a regular expression, a CNAME, the same name
// in other letters.
type Shadow struct {
	// Name is the name of ours that it may hide.
	Name string
	// Text says what it is, where it stands and what helps.
	Text string
}

// Listing is what a target has of the names that were asked for. A listing that
// could not be read whole is an error, never an empty one.
type Listing struct {
	// Entries in no particular order, doubles included, foreign ones too. Marked
	// ones are given whatever their name.
	Entries []Entry
	Shadows []Shadow
}

// Change is what is to be done to one RRset, in this order: Adopt, Swap, Add,
// Remove.
type Change struct {
	Key
	// Adopt puts our mark on entries that are as they should be, or that a swap
	// or a removal of the same change goes on with: those give them as Marked
	// already.
	Adopt []Entry
	Swap  []Swap
	Add   []Record
	// Remove entries that are ours.
	Remove []Entry
	// Before are all entries of the RRset as they were listed, foreign ones
	// too: a target that takes a condition takes that one.
	Before []Entry
}

// Swap changes an entry of ours in place: its address, its TTL, or that it is
// disabled. Nobody sees a moment without it.
type Swap struct {
	From Entry
	To   Record
}

// Traits say what a kind of target can do.
type Traits struct {
	// Marks: ownership stands at the target. Otherwise the caller keeps a
	// journal.
	Marks bool
	// TTL: each record has its own. Otherwise the target has one for all.
	TTL bool
	// Disable: entries can stand there without being answered.
	Disable bool
}

// Provider speaks to one target. One call is made at a time. Each returns when
// ctx ends, or soon after. Errors are [*Error] where the caller can do better
// than to try again later. After an error of List or Apply nothing is known of
// the target's state.
type Provider interface {
	// List reads what the target has of the names, and all that bears our mark.
	List(ctx context.Context, names []string) (Listing, error)
	// Apply carries out one change.
	Apply(ctx context.Context, c Change) error
	// Inspect reads what else decides whether records there have the effect
	// that they should, with a target that can be reached.
	Inspect(ctx context.Context) (Inspection, error)
	// Close ends the session, if there is one; a later call begins another.
	Close() error
}

// Settler is a provider whose target has a setting of its own, beside the
// records, that the configuration wants to be something.
type Settler interface {
	// Settle reads it and changes it where it is another. It does nothing where
	// the configuration leaves it alone.
	Settle(ctx context.Context) error
}

// Inspection is what a target says of itself.
type Inspection struct {
	// Product with its version, for people: "RouterOS 7.20.1 (stable)".
	Product string
	// TTL of all records; 0 where each has its own.
	TTL time.Duration
	// DNS is where the target answers what it was told, if it says so; the
	// site's resolver is asked otherwise.
	DNS []netip.AddrPort
	// Findings, worst first.
	Findings []Finding
}

// Finding is one thing that a person should know of a target.
type Finding struct {
	// Severity is critical where records there have no effect, warning where
	// they may not, info for what is merely good to know.
	Severity sites.Severity
	// Text names the cause and the remedy.
	Text string
}
