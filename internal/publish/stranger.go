package publish

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// When another controller is suspected. One edit that is undone, and made once
// more by somebody who wonders, is a hand; a controller comes back after every
// repair. So an RRset has to be changed within strangeSoon after it was put right
// for the strangeUndone-th time; or records that bear our mark and were never
// written by us, which no hand makes, are found twice within strangeSoon or
// strangeMost times within repairSpan. Where nothing is put right, changes of
// records with our mark count as the latter do, but for twice.
const (
	strangeSoon   = 10 * time.Minute
	strangeMost   = 3
	strangeUndone = 2
	// A target that was found changed is looked at again so often, for so long:
	// one that writes there comes back soon.
	lookPause = 10 * time.Second
	lookFor   = time.Minute
)

// foreignHand notices a second controller, or a script: somebody who keeps
// changing what we write. What was found before and left there counts once.
func (m *member) foreignHand(now time.Time, found []providers.Drift, left bool) {
	var all strings.Builder
	for _, d := range found {
		all.WriteString(d.String() + "\n")
	}
	m.mu.Lock()
	again, extra, marked := m.evidence(now, found)
	m.strange = slices.DeleteFunc(m.strange, func(t time.Time) bool { return now.Sub(t) >= repairSpan })
	text := all.String()
	fresh := text != "" && text != m.stranger
	if m.stranger = ""; left {
		m.stranger = text
	}
	if fresh {
		m.lookUntil = now.Add(lookFor)
		if extra || marked || len(again) > 0 {
			m.strange = append(m.strange, now)
		}
	}
	n, calm := len(m.strange), now.Sub(m.born) >= repairSpan
	soon := extra && n >= 2 && now.Sub(m.strange[n-2]) < strangeSoon
	m.mu.Unlock()
	if !fresh {
		again = nil
	}
	m.toldOfHand(again, n, soon || (extra || marked) && n >= strangeMost, calm)
}

// evidence sorts what was found: the RRsets that were changed soon after they were
// put right once more; whether there are records with our mark that we never wrote;
// and whether any were changed where nothing is put right. The caller holds mu.
func (m *member) evidence(now time.Time, found []providers.Drift) (again []string, extra, marked bool) {
	for _, d := range found {
		extra = extra || m.traits.Marks && d.What == providers.DriftExtra
		marked = marked || m.traits.Marks && d.What == providers.DriftChanged && m.target.Drift != Repair
		times := m.repairs[d.Key()]
		if key := d.Key().String(); len(times) >= strangeUndone && now.Sub(times[len(times)-1]) < strangeSoon && !slices.Contains(again, key) {
			again = append(again, key)
		}
	}
	return again, extra, marked
}

// toldOfHand tells of somebody who keeps changing what we write, and that nobody
// does any more. Again are the records that were changed soon after they were put
// right, n is how often that happened within the span; marked says that our mark
// is used too often for an accident.
func (m *member) toldOfHand(again []string, n int, marked, calm bool) {
	switch {
	case len(again) > 0:
		m.problem(slotInstance, sites.Warning, fmt.Sprintf("Something keeps changing what is written to %s (%s, soon after each repair): another controller with the same \"instance\", a script, or somebody's hand. Give each controller a name of its own, and end what else writes there.", m.title(), listed(again)), false)
	case marked:
		m.problem(slotInstance, sites.Warning, fmt.Sprintf("Records with the mark of this controller keep changing on %s (%d times within an hour): another one with the same \"instance\" writes there, or somebody edits them. Give each controller a name of its own.", m.title(), n), false)
	case n == 0 && calm:
		m.solved(slotInstance, "Nobody else has changed what is written to "+m.title()+" for an hour.")
	}
}

// lookAgain is when a target is to be read once more because it was found
// changed; zero for not. The caller holds mu.
func (m *member) lookAgain() time.Time {
	if at := m.st.compared.Add(lookPause); !at.After(m.lookUntil) {
		return at
	}
	return time.Time{}
}
