package publish

import "time"

// idle is how long a member sleeps that has nothing to do.
const idle = time.Hour

// due says whether a round is to be made now, or how long to wait.
func (m *member) due(now time.Time) (bool, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := m.halted()
	if m.stopped() || !m.known || m.kept.Disabled != nil || held && !m.unsure || m.circuit.Spent() {
		return false, idle
	}
	next, retry := earlier(m.reconciled(), m.repairAgain(m.st.plan.Held)), m.st.retry
	if m.st.through { // what the target does not take holds up nothing else
		retry = earlier(retry, next)
	}
	if at := later(retry, m.circuit.Next()); at.After(now) {
		return false, at.Sub(now)
	}
	if held || m.kicked || m.version != m.st.done || m.st.err != nil {
		return true, 0
	}
	if next = earlier(next, m.lookAgain()); !next.After(now) {
		return true, 0
	}
	return false, min(next.Sub(now), idle)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// earlier gives the earlier of two times, of which the second may be zero for none.
func earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// reconciled is when the whole set is compared next, whatever has changed. The pause
// is that of the schedule, and no jump of the wall clock makes it another (O5). The caller
// holds mu.
func (m *member) reconciled() time.Time {
	last := m.st.compared.Round(0)
	return m.st.compared.Add(m.target.Reconcile.Next(last).Sub(last))
}
