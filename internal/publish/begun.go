package publish

import (
	"slices"

	"github.com/dnsteer/dnsteer/providers"
)

// joined adds what a round has found first to what rounds before it have, that were cut
// off, or gave way, when they had begun to write: what they have changed is looked for, and
// what a hand had changed is told, by the one that goes through. It would take that for its
// own.
func joined(before, p providers.Plan) providers.Plan {
	changed, drifted := map[providers.Key]bool{}, map[providers.Record]bool{}
	p.Changes = slices.DeleteFunc(slices.Concat(before.Changes, p.Changes), func(c providers.Change) bool {
		known := changed[c.Key]
		changed[c.Key] = true
		return known
	})
	p.Drifts = slices.DeleteFunc(slices.Concat(before.Drifts, p.Drifts), func(d providers.Drift) bool {
		known := drifted[d.Record]
		drifted[d.Record] = true
		return known
	})
	p.Lost = p.Lost || before.Lost
	return p
}
