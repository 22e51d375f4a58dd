package providers

import (
	"cmp"
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

// late orders changes: those last that were refused before, the longest ago first.
func (r *Round) late(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Compare(slices.Index(r.Late, a.Key), slices.Index(r.Late, b.Key))
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
