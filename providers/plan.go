package providers

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Input is what [Make] plans from.
type Input struct {
	// Desired is what the target is to hold. Doubles count once.
	Desired []Record
	Listing Listing
	Traits  Traits
	// Owned is the journal of what we wrote, for targets without marks. Its TTLs
	// mean nothing.
	Owned []Record
	// Last is what the target was last seen to hold as it should; nil if it
	// never was. What differs from that is drift.
	Last []Record
	// Unsure are RRsets that were written to since, with an end that was not
	// read: whatever they hold is no drift.
	Unsure []Key
	// Adopt are records of others that become ours.
	Adopt []Record
	// Emptied are names that are to have no address at this moment
	// (`on_empty: remove`): the delete guard does not hold them.
	Emptied []string
	// Untouched are names that are left as they are, whatever they hold.
	Untouched []string
	// Leave are RRsets whose drift stands for the moment, as if KeepDrift were set
	// for them.
	Leave  []Key
	Policy Policy
}

// Policy is a filter on the plan.
type Policy struct {
	// CreateOnly adds and does nothing else.
	CreateOnly bool
	// DeleteGuard is the share in percent of our RRsets there that may be
	// removed at once with nothing in their place, in either address family; up to
	// two always may. 100 guards nothing.
	DeleteGuard int
	// KeepDrift leaves RRsets alone that somebody has changed, until they are to
	// hold something else.
	KeepDrift bool
}

// Plan is what is to be done at a target, and what stands in the way.
type Plan struct {
	// Changes by key; those that only remove come last.
	Changes []Change
	// Held are RRsets with changes that a policy keeps back.
	Held []Held
	// Conflicts are names of ours that others have records of, by key.
	Conflicts []Conflict
	// Drifts are records that are not as they were last seen to be, by key.
	Drifts []Drift
	// Satisfied are desired records that somebody else put there.
	Satisfied []Record
	// Lost: nothing of ours is there, where there was something before.
	Lost bool
}

// Held is what a policy keeps back.
type Held struct {
	Key
	// By is the policy: "create_only", "delete_guard" or "drift".
	By   string
	Text string
}

// Conflict is an RRset of ours that others have answering records in.
type Conflict struct {
	Key
	// Foreign are their addresses that we do not want there.
	Foreign []netip.Addr
	// Moving: we have records there too and go on moving them; clients get the
	// foreign addresses as well. Otherwise the RRset is left alone.
	Moving bool
}

// Text says what that means for people.
func (c Conflict) Text() string {
	list := make([]string, len(c.Foreign))
	for i, a := range c.Foreign {
		list[i] = a.String()
	}
	what := strings.Join(list, ", ")
	if c.Moving {
		return fmt.Sprintf("%s has no failover there: %s, which dnsteer did not write, is answered beside its own records. Remove it there, or take it over with \"dnsteer target adopt\".", c.Key, what)
	}
	return fmt.Sprintf("%s has no failover there: %s stands there, which dnsteer did not write and leaves alone. Remove it there, or take it over with \"dnsteer target adopt\".", c.Key, what)
}

// SatisfiedText says what a desired record means for people that somebody else
// has put there.
func SatisfiedText(r Record) string {
	return fmt.Sprintf("%s has no failover there: %s stands there already, which dnsteer did not write and will not take away. Take it over with \"dnsteer target adopt\".", r.Key(), r.Addr)
}

// DriftWhat says what has become of a record of ours.
type DriftWhat string

// What can have become of it.
const (
	DriftMissing  DriftWhat = "missing"  // it is gone
	DriftChanged  DriftWhat = "changed"  // it has another address or TTL
	DriftDisabled DriftWhat = "disabled" // it is there and is not answered
	DriftExtra    DriftWhat = "extra"    // it bears our mark, and we have not put it there
)

// Drift is a record that somebody else has changed.
type Drift struct {
	// Record as it was last seen, or, where it is extra, as it is.
	Record
	What DriftWhat
	// Text is the record as it stands there now; "" if it is gone.
	Text string
}

// Make plans what is to be done. It is a pure function: the same input in
// another order gives the same plan.
func Make(in Input) Plan {
	p := planner{in: in, sets: map[Key]*rrset{}, bare: map[Key]Change{}}
	p.collect()
	keys := make([]Key, 0, len(p.sets))
	for k := range p.sets {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, Key.Compare)
	for _, k := range keys {
		p.rrset(p.sets[k])
	}
	p.needed()
	p.plan.Lost = p.listed == 0 && p.before > 0
	p.guard()
	slices.SortStableFunc(p.plan.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(btoi(a.only()), btoi(b.only())), a.Key.Compare(b.Key))
	})
	return p.plan
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// only says whether a change does nothing but remove.
func (c *Change) only() bool { return len(c.Adopt)+len(c.Swap)+len(c.Add) == 0 }

// Empty says whether it does nothing.
func (c *Change) Empty() bool { return c.only() && len(c.Remove) == 0 }

// rrset is all that is known of one RRset.
type rrset struct {
	key     Key
	desired []Record // by address
	last    []Record
	ours    []Entry // best first: answered ones, those with an earlier ID
	foreign []Entry // that are answered
	all     []Entry
	adopt   map[string]bool // IDs in ours that do not bear our mark yet
	journal bool            // we wrote records of it
	taken   bool            // something of it becomes ours: no drift of it stands
}

type planner struct {
	in     Input
	sets   map[Key]*rrset
	plan   Plan
	listed int // RRsets of which something of ours is listed
	before int // RRsets of which there was something before
	// bare are the changes of RRsets that are held as a hand has left them, with nothing
	// that is answered.
	bare map[Key]Change
}

// collect sorts the input by RRset.
func (p *planner) collect() {
	owned, seen, adopt := addresses(p.in.Owned), addresses(p.in.Last), addresses(p.in.Adopt)
	for _, r := range p.in.Desired {
		s := p.set(r.Key())
		s.desired = append(s.desired, r)
	}
	for _, r := range p.in.Last {
		s := p.set(r.Key())
		s.last = append(s.last, r)
	}
	for _, e := range p.in.Listing.Entries {
		s := p.set(e.Key())
		s.all = append(s.all, e)
		at := bare(e.Record)
		mine := e.Marked
		if !p.in.Traits.Marks {
			// One that is not answered is ours only if it was once seen
			// answering: it can be somebody's, beside one that we meant to add.
			mine = (e.Marked || owned[at]) && (!e.Disabled || seen[at])
		}
		switch {
		case e.Fixed && e.Disabled:
		case e.Fixed:
			s.foreign = append(s.foreign, e)
		case mine:
			s.ours = append(s.ours, e)
		case adopt[at] && !e.Disabled:
			if p.in.Traits.Marks {
				s.adopt[e.ID] = true
			}
			e.Marked = p.in.Traits.Marks
			s.ours, s.taken = append(s.ours, e), true
		case !e.Disabled:
			s.foreign = append(s.foreign, e)
		}
	}
	if !p.in.Traits.Marks {
		for _, r := range p.in.Owned {
			p.set(r.Key()).journal = true
		}
	}
	for _, s := range p.sets {
		s.sort()
	}
}

func (p *planner) set(k Key) *rrset {
	s := p.sets[k]
	if s == nil {
		s = &rrset{key: k, adopt: map[string]bool{}}
		p.sets[k] = s
	}
	return s
}

func (s *rrset) sort() {
	byAddr := func(a, b Record) int { return cmp.Or(a.Addr.Compare(b.Addr), cmp.Compare(a.TTL, b.TTL)) }
	slices.SortFunc(s.desired, byAddr)
	s.desired = slices.CompactFunc(s.desired, func(a, b Record) bool { return a.Addr == b.Addr })
	slices.SortFunc(s.last, byAddr)
	byEntry := func(a, b Entry) int {
		return cmp.Or(cmp.Compare(btoi(a.Disabled), btoi(b.Disabled)), a.Addr.Compare(b.Addr), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	}
	slices.SortFunc(s.ours, byEntry)
	slices.SortFunc(s.foreign, byEntry)
	slices.SortFunc(s.all, byEntry)
}

// bare is a record without its TTL.
func bare(r Record) Record { return Record{Name: r.Name, Addr: r.Addr} }

func addresses(list []Record) map[Record]bool {
	m := make(map[Record]bool, len(list))
	for _, r := range list {
		m[bare(r)] = true
	}
	return m
}

// sameTTL says whether a TTL is as it should be.
func (p *planner) sameTTL(a, b time.Duration) bool { return !p.in.Traits.TTL || a == b }
