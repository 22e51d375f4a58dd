package publish

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/sites"
)

// depart ends what was told of a server that has left the configuration: nothing else
// would ever end it, and once it is back it would not be told again.
func (m *member) depart() {
	for _, what := range slots() {
		m.solved(what, leftText(m.title()))
	}
}

// orphaned does that for servers that have left while nobody ran, which are those
// that are stored and not known.
func (p *Publisher) orphaned(known func(key string) bool) {
	stored := p.deps.Store.Get()
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		var k kept
		if known(key) || json.Unmarshal(stored[key], &k) != nil || len(k.Open) == 0 {
			continue
		}
		title, _, _ := strings.Cut(key, " ")
		for _, what := range slots() {
			if was, told := k.Open[what]; told && was.ID != 0 && was.ID <= p.deps.Last {
				_, ends := what.kinds()
				e := sites.Event{Kind: ends, Target: title, Text: leftText(title), Resolves: was.ID}
				p.deps.Tell(func() (sites.Event, bool) { return e, true })
			}
		}
		k.Open = nil
		if data, err := json.Marshal(&k); err == nil { // as in encode
			p.deps.Store.Set(key, data)
		}
	}
}

func leftText(title string) string {
	return title + ": it ends with a change of the configuration, which has no longer what it was about."
}
