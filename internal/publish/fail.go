package publish

import (
	"fmt"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// When a failure is told: a move that fails the second time, or at once where it
// will not get better; a comparison that fails the third time.
const (
	tellMove    = 2
	tellCompare = 3
)

// failed takes in a round that has failed: when it is tried again, which is soon
// where others were not tried that it may take, and who is told.
func (m *member) failed(now time.Time, goal *aim, out *turn, soon bool, err error) {
	class, after := providers.ClassOf(err)
	m.mu.Lock()
	if m.st.err == nil {
		m.st.since = now
	}
	m.st.orders = goal.orders
	m.st.err, m.st.class, m.st.refused = err, class, nil
	if out.through() {
		m.st.refused = out.Refused
	}
	m.st.fails++
	pause := m.pause(class)
	if soon {
		pause = m.pause(providers.Declined)
	}
	m.st.retry = now.Add(max(pause, after))
	fails := m.st.fails
	if !out.through() {
		fails = m.st.shut
	}
	stays := m.stays(goal.desired)
	m.mu.Unlock()
	m.p.deps.Log.Debug("a round with a target has failed", "target", m.title(), "error", err, "again_in", pause)
	text := fmt.Sprintf("%s could not be brought to what it should hold: %v.", m.title(), err)
	if out.synced {
		text = fmt.Sprintf("The records of %s are as they should be, but what it has beside them is not: %v.", m.title(), err)
	}
	switch {
	case class == providers.Denied && m.circuit.Spent():
		text += fmt.Sprintf(" Nothing more is tried, so that nobody is locked out: mend the credentials in the configuration, or say \"dnsteer target enable %s\".", m.name)
	case after > permanent:
		text += fmt.Sprintf(" It is tried again at %s.", clock.Told(now.Add(after), now))
	case class == providers.Denied, class == providers.Permanent:
		text += " It is tried again every five minutes."
	default:
		text += " It is tried again."
	}
	m.tellFailed(text, stays, out.through(), class == providers.Denied || class == providers.Permanent, fails)
}

// tellFailed tells of a failure whose time has come: final says that it will not get
// better, stays what clients still get though they should not.
func (m *member) tellFailed(text string, stays []string, through, final bool, fails int) {
	switch {
	case len(stays) > 0 && (final || fails >= tellMove):
		text += " Until then clients get " + listed(stays) + "."
		m.problem(slotFailed, sites.Critical, text, false)
	case len(stays) == 0 && through && m.told(slotFailed) == sites.Critical: // the move has come there
		m.problem(slotFailed, sites.Warning, text, false)
	case len(stays) == 0 && (final || fails >= tellCompare) && !m.p.isLost(m.site) && !m.isOpen(slotFailed):
		m.problem(slotFailed, sites.Warning, text, false)
	}
}

// told is how severe a problem was told to be; "" where none is open.
func (m *member) told(what slot) sites.Severity {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept.Open[what].Severity
}

func (m *member) isOpen(what slot) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.kept.Open[what]
	return ok
}

// pause is how long a target is left alone after an error. The caller holds mu.
func (m *member) pause(class providers.Class) time.Duration {
	switch class {
	case providers.Permanent:
		return permanent
	case providers.Denied:
		return 0 // the circuit says when
	case providers.Transient, providers.Changed, providers.Declined:
	}
	most := backoffFirst << min(m.st.fails-1, 6)
	return time.Duration(m.p.deps.Jitter()*float64(min(most, backoffMost))) + 50*time.Millisecond
}

// stays lists the addresses that clients still get though they should not: what
// was last seen there and is not desired any more of a name that still is one. The
// caller holds mu.
func (m *member) stays(desired Desired) (list []string) {
	wanted, moves := map[providers.Record]bool{}, map[string]bool{}
	for _, r := range desired.Records {
		wanted[providers.Record{Name: r.Name, Addr: r.Addr}], moves[r.Name] = true, true
	}
	for _, name := range desired.Emptied {
		moves[name] = true
	}
	for _, r := range fromKept(m.kept.Last) {
		if moves[r.Name] && !wanted[providers.Record{Name: r.Name, Addr: r.Addr}] {
			list = append(list, fmt.Sprintf("%s for %s", r.Addr, r.Name))
		}
	}
	return list
}

// most is how much of a list people are told.
const most = 5

// listed writes a list for people, the first of it.
func listed(list []string) string {
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

// sentences writes sentences for people, the first of them.
func sentences(list []string) string {
	if len(list) > most {
		return strings.Join(list[:most], " ") + fmt.Sprintf(" And so on: %d more.", len(list)-most)
	}
	return strings.Join(list, " ")
}
