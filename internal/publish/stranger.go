package publish

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// When another controller is suspected: records with our mark that we did not
// write, twice within strangeSoon or three times within repairSpan; and an RRset
// changed again within strangeSoon after it was put right.
const (
	strangeSoon = 10 * time.Minute
	strangeMost = 3
	// A target that was found changed is looked at again so often, for so long:
	// one that writes there comes back soon.
	lookPause = 10 * time.Second
	lookFor   = time.Minute
)

// foreignHand notices a second controller, or a script: somebody who keeps
// changing what we write. What was found before and left there counts once.
func (m *member) foreignHand(now time.Time, found []providers.Drift, left bool) {
	var all strings.Builder
	marked := false
	m.mu.Lock()
	var again []string // changed soon after they were put right
	for _, d := range found {
		all.WriteString(d.String() + "\n")
		marked = marked || m.traits.Marks && (d.What == providers.DriftExtra || d.What == providers.DriftChanged)
		times := m.repairs[d.Key()]
		if key := d.Key().String(); len(times) > 0 && now.Sub(times[len(times)-1]) < strangeSoon && !slices.Contains(again, key) {
			again = append(again, key)
		}
	}
	m.strange = slices.DeleteFunc(m.strange, func(t time.Time) bool { return now.Sub(t) >= repairSpan })
	text := all.String()
	fresh := text != "" && text != m.stranger
	if m.stranger = ""; left {
		m.stranger = text
	}
	if fresh {
		m.lookUntil = now.Add(lookFor)
		if marked || len(again) > 0 {
			m.strange = append(m.strange, now)
		}
	}
	n, calm := len(m.strange), now.Sub(m.born) >= repairSpan
	soon := n >= 2 && now.Sub(m.strange[n-2]) < strangeSoon
	m.mu.Unlock()
	if !fresh {
		again = nil
	}
	m.toldOfHand(again, n, marked && (soon || n >= strangeMost), calm)
}

// toldOfHand tells of somebody who keeps changing what we write, and that nobody
// does any more. Again are the records that were changed soon after they were put
// right, n is how often that happened within the span; marked says that our mark
// is used too often for an accident.
func (m *member) toldOfHand(again []string, n int, marked, calm bool) {
	switch {
	case len(again) > 0:
		m.problem(slotInstance, sites.Warning, fmt.Sprintf("Something keeps changing what is written to %s (%s): another controller with the same \"instance\", a script, or somebody's hand. Give each controller a name of its own, and end what else writes there.", m.title(), listed(again)), false)
	case marked:
		m.problem(slotInstance, sites.Warning, fmt.Sprintf("Records with the mark of this controller keep changing on %s (%d times within an hour): another one with the same \"instance\" writes there, or somebody edits them. Give each controller a name of its own.", m.title(), n), false)
	case n == 0 && calm:
		m.solved(slotInstance, sites.InstanceConflictEnded, "Nobody else has changed what is written to "+m.title()+" for an hour.")
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
