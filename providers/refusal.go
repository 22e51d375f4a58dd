package providers

import (
	"cmp"
	"errors"
	"slices"
)

// refusals is how many changes a target may refuse one after the other before the
// rest is not tried any more: a user without the right to write would fill its log.
const refusals = 3

// Refusal is a change that a target would not make.
type Refusal struct {
	Key
	// Err names the RRset too.
	Err error
}

// errLast is why an RRset is left that would leave its name without an address.
var errLast = errors.New("it is left, as what was to take its place was not taken")

// refusedToo adds a refusal to others. They are tried again as soon as one of them may
// pass by itself.
func refusedToo(others, err error) error {
	class, after := ClassOf(err)
	if others == nil || class != Declined {
		return join(others, err)
	}
	return &Error{Class: class, After: after, Err: errors.Join(others, err)}
}

// answered says whether clients got something of the RRset before the change.
func (c *Change) answered() bool {
	return slices.ContainsFunc(c.Before, func(e Entry) bool { return !e.Disabled })
}

// late orders changes: those last that were refused before, the longest ago first. What
// only removes stays behind what its name gets in the other family (P10).
func (r *Round) late(changes []Change) {
	gets := map[string]Key{}
	for i := range changes {
		if c := &changes[i]; !c.only() {
			gets[c.Name] = c.Key
		}
	}
	rank := func(c *Change) (late, behind int) {
		if k, ok := gets[c.Name]; ok && c.only() {
			return slices.Index(r.Late, k), 1
		}
		return slices.Index(r.Late, c.Key), 0
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		lateA, behindA := rank(&a)
		lateB, behindB := rank(&b)
		return cmp.Or(cmp.Compare(lateA, lateB), cmp.Compare(behindA, behindB))
	})
}

// Late gives those for the next round: all that were refused before and are to be
// changed still, then those of this one.
func (o *Outcome) Late(before []Key) []Key {
	var now []Key
	for _, f := range o.Refused {
		now = append(now, f.Key)
	}
	before = slices.DeleteFunc(slices.Clone(before), func(k Key) bool {
		due := slices.ContainsFunc(o.Last.Changes, func(c Change) bool { return c.Key == k })
		return !due || slices.Contains(now, k)
	})
	return append(before, now...)
}

// Untried says that changes were left out because too many others were refused.
func (o *Outcome) Untried() bool {
	return len(o.Refused) > 0 && slices.ContainsFunc(o.Last.Changes, func(c Change) bool {
		return !slices.ContainsFunc(o.Refused, func(f Refusal) bool { return f.Key == c.Key })
	})
}
