package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Round brings one target to what it is to hold.
type Round struct {
	Provider Provider
	// Input of the plan; its listing is read.
	Input
	// Keep makes the journal last, before the write that makes it true; nil for
	// targets with marks. Nothing is written when it fails.
	Keep func(ctx context.Context, owned []Record) error
	// Ready is told before the writes of each listing what is to be changed; nil is always
	// ready. Nothing is written when it fails.
	Ready func(ctx context.Context, changes []Change) error
	// Deadline of each call, and ListWithin of a listing; 0 for none.
	Deadline, ListWithin time.Duration
	// Stale, asked between two changes, says that something newer is to be
	// pushed: the round then ends with [ErrStale]. Nil never does.
	Stale func() bool
	// DryRun lists and plans and does no more.
	DryRun bool
	// Late are RRsets that were refused before, the longest ago first: they are
	// tried last, so that they keep no other back.
	Late []Key
}

// Outcome is what a round has found and done.
type Outcome struct {
	// First is the plan that was made of the first listing: what was found.
	First Plan
	// Last is the plan of the last listing: what is left to do. Without an error
	// and a dry run it has no changes.
	Last Plan
	// Listing is the last one.
	Listing Listing
	// Writes counts the changes that were tried.
	Writes int
	// Refused are the RRsets that the target would not change ([Permanent],
	// [Declined]), each with its error; Taken says that it changed others.
	Refused []Refusal
	Taken   bool
	// Owned is the journal from now on.
	Owned []Record
	// Verified are the records of ours that are there as they should be, all
	// that there are: the next round's Last. Nil where the last listing came
	// before a write, or was not read.
	Verified []Record
}

// ErrStale ends a round that has something newer to push.
var ErrStale = errors.New("there is something newer to push")

// lists bounds how often a round lists a target that changes under its hands.
const lists = 4

// Sync lists, plans, applies and reads back, until the target is read to hold
// what it should. After an error the state of the target is not known: the next
// round lists again. A change that the target will not take ([Permanent]) keeps
// no other back.
func (r *Round) Sync(ctx context.Context) (Outcome, error) {
	out := Outcome{Owned: r.Owned}
	var changed, failed error
	for i := range lists {
		listing, err := r.list(ctx, out.Owned)
		if err != nil {
			return out, join(err, failed)
		}
		in := r.Input
		in.Listing, in.Owned = listing, out.Owned
		out.Listing, out.Last = listing, Make(in)
		if i == 0 {
			out.First = out.Last
		}
		if r.DryRun || len(out.Last.Changes) == 0 || failed != nil {
			out.Verified = in.verified(&out.Last)
			return out, join(r.trim(ctx, &out), failed)
		}
		if i == lists-1 {
			break
		}
		out.Verified = nil
		changed, failed, err = r.apply(ctx, &out)
		if err != nil {
			return out, join(err, failed)
		}
	}
	if changed == nil {
		changed = fmt.Errorf("%s is read back other than it was written", out.Last.Changes[0].Key)
	}
	return out, fmt.Errorf("the target changes while it is written to, or does not keep what is written: %w", changed)
}

// names are those that the target is asked for.
func (r *Round) names(owned []Record) []string {
	set := map[string]bool{}
	for _, list := range [][]Record{r.Desired, owned, r.Input.Last} {
		for _, rec := range list {
			set[rec.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func (r *Round) list(ctx context.Context, owned []Record) (l Listing, err error) {
	err = Within(ctx, cmp.Or(r.ListWithin, r.Deadline), func(ctx context.Context) error {
		l, err = r.Provider.List(ctx, r.names(owned))
		return err
	})
	return l, err
}

// apply carries out the plan. changed is a change that met another state than
// the listed one; failed are changes that the target refuses; err ends the round.
func (r *Round) apply(ctx context.Context, out *Outcome) (changed, failed, err error) {
	if r.Ready != nil {
		if err := r.Ready(ctx, out.Last.Changes); err != nil {
			return nil, nil, fmt.Errorf("store what is to be pushed: %w", err)
		}
	}
	if err := r.claim(ctx, out); err != nil {
		return nil, nil, err
	}
	r.late(out.Last.Changes)
	refused := 0
	lacks := map[string]bool{} // names that have not got what takes the place of what leaves
	for i := range out.Last.Changes {
		c := &out.Last.Changes[i]
		if c.only() && lacks[c.Name] {
			out.Refused = append(out.Refused, Refusal{c.Key, fmt.Errorf("%s: %w", c.Key, errLast)})
			continue
		}
		if r.Stale != nil && r.Stale() {
			return changed, failed, ErrStale
		}
		out.Writes++
		err := r.applyOne(ctx, *c)
		if err == nil {
			out.Taken, refused = true, 0
			continue
		}
		err = fmt.Errorf("%s: %w", c.Key, err)
		class, _ := ClassOf(err)
		lacks[c.Name] = lacks[c.Name] || class == Changed || !c.answered()
		switch class {
		case Changed:
			changed = err
		case Permanent, Declined:
			failed = refusedToo(failed, err)
			out.Refused = append(out.Refused, Refusal{c.Key, err})
			if refused++; refused < refusals {
				continue
			}
			if out.Taken {
				return changed, failed, nil
			}
			return changed, nil, failed
		default:
			return changed, failed, err
		}
	}
	return changed, failed, nil
}

func (r *Round) applyOne(ctx context.Context, c Change) error {
	return Within(ctx, r.Deadline, func(ctx context.Context) error { return r.Provider.Apply(ctx, c) })
}

// claim writes into the journal what is about to be ours.
func (r *Round) claim(ctx context.Context, out *Outcome) error {
	if r.Traits.Marks || r.Keep == nil {
		return nil
	}
	owned := addresses(out.Owned)
	was := len(owned)
	for _, c := range out.Last.Changes {
		for _, rec := range c.Add {
			owned[bare(rec)] = true
		}
		for _, s := range c.Swap {
			owned[bare(s.From.Record)], owned[bare(s.To)] = true, true
		}
	}
	for _, e := range r.adopted(out.Listing) {
		owned[bare(e.Record)] = true
	}
	if len(owned) == was {
		return nil
	}
	list := sorted(owned)
	if err := r.Keep(ctx, list); err != nil {
		return fmt.Errorf("store what is ours at the target: %w", err)
	}
	out.Owned = list
	return nil
}

func (r *Round) adopted(l Listing) (list []Entry) {
	adopt := addresses(r.Adopt)
	for _, e := range l.Entries {
		if adopt[bare(e.Record)] && !e.Fixed && !e.Disabled {
			list = append(list, e)
		}
	}
	return list
}

// trim takes out of the journal what is neither there nor desired any more, and into it
// what bears our mark: names that leave later are asked for by it. What is desired stays:
// a target that has lost its records may get them back. A journal that cannot be stored
// just now is left until the next round: the target is as it should be none the less.
func (r *Round) trim(ctx context.Context, out *Outcome) error {
	if r.Traits.Marks || r.Keep == nil || r.DryRun {
		return nil
	}
	if err := r.claimAdopted(ctx, out); err != nil {
		return err
	}
	stay, before := addresses(r.Desired), addresses(out.Owned)
	owned := maps.Clone(before)
	for _, e := range out.Listing.Entries {
		stay[bare(e.Record)] = true
		if e.Marked && !e.Fixed { // a journal that was lost is made anew
			owned[bare(e.Record)] = true
		}
	}
	maps.DeleteFunc(owned, func(rec Record, _ bool) bool { return !stay[rec] })
	if maps.Equal(owned, before) {
		return nil
	}
	if list := sorted(owned); r.Keep(ctx, list) == nil {
		out.Owned = list
	}
	return nil
}

// claimAdopted writes records into the journal that are taken over as they are.
func (r *Round) claimAdopted(ctx context.Context, out *Outcome) error {
	if len(r.Adopt) == 0 {
		return nil
	}
	only := *out
	only.Last = Plan{}
	err := r.claim(ctx, &only)
	out.Owned = only.Owned
	return err
}

func sorted(set map[Record]bool) []Record {
	return slices.SortedFunc(maps.Keys(set), func(a, b Record) int {
		if c := a.Key().Compare(b.Key()); c != 0 {
			return c
		}
		return a.Addr.Compare(b.Addr)
	})
}

// verified gives the records of ours that are as they should be, and those that
// would be but for a change that is to stand.
func (in *Input) verified(p *Plan) []Record {
	list := []Record{}
	for _, h := range p.Held {
		if h.By != "drift" {
			continue
		}
		for _, r := range in.Last {
			if r.Key() == h.Key {
				list = append(list, r)
			}
		}
	}
	owned, desired, adopt := addresses(in.Owned), map[Record]Record{}, addresses(in.Adopt)
	for _, d := range in.Desired {
		desired[bare(d)] = d
	}
	seen := addresses(list)
	for _, e := range in.Listing.Entries {
		at := bare(e.Record)
		d, wanted := desired[at]
		mine := in.Traits.Marks && e.Marked || !in.Traits.Marks && owned[at] || adopt[at]
		if !wanted || !mine || e.Disabled || e.Fixed || seen[at] || in.Traits.TTL && e.TTL != d.TTL {
			continue
		}
		seen[at] = true
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Record) int {
		if c := a.Key().Compare(b.Key()); c != 0 {
			return c
		}
		return a.Addr.Compare(b.Addr)
	})
	return list
}
