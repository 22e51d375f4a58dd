package sites

import (
	"slices"
	"time"
)

// windowClock follows one window of maintenance.
type windowClock struct {
	cfg *Window
	// active since, or not active until, change; asked is when that was worked
	// out, by the wall clock.
	active bool
	change time.Time
	asked  time.Time
}

// concerns says whether the window takes a node of the pool.
func (w *windowClock) concerns(p *pool) bool {
	if w.cfg.Nodes == nil {
		return true
	}
	for _, n := range p.nodes {
		if slices.Contains(w.cfg.Nodes, n.index) && !n.taken() {
			return true
		}
	}
	return false
}

// At says whether the window is open at t, and when that next changes; the zero
// time means never. Overlapping windows are one.
func (w *Window) At(t time.Time) (open bool, change time.Time) {
	// Local time is written as UTC, so that each local time that the schedule
	// names is met once, whatever the clocks do. Three hours are more than any
	// change of clocks.
	from := written(t.In(w.Location)).Add(-w.Duration - 3*time.Hour)
	for range 10_000 {
		next := w.Schedule.Next(from)
		if next.IsZero() {
			return open, change
		}
		from = next
		start := meant(next, w.Location)
		end := start.Add(w.Duration)
		switch {
		case !end.After(t):
		case !start.After(t):
			open = true
			if end.After(change) {
				change = end
			}
		case open && !start.After(change) && change.Sub(t) < 7*24*time.Hour:
			change = end
		case open:
			return open, change
		default:
			return false, start
		}
	}
	return open, change
}

// written gives the local time of t as if it were UTC.
func written(t time.Time) time.Time {
	y, mo, d := t.Date()
	h, mi, s := t.Clock()
	return time.Date(y, mo, d, h, mi, s, t.Nanosecond(), time.UTC)
}

// meant gives the moment that a local time stands for: the first of two, and,
// for one that the clocks leave out, the moment at which they do so (C5).
func meant(local time.Time, loc *time.Location) time.Time {
	_, before := local.Add(-24 * time.Hour).In(loc).Zone()
	_, after := local.Add(24 * time.Hour).In(loc).Zone()
	for _, offset := range [...]int{max(before, after), min(before, after)} {
		t := local.Add(-time.Duration(offset) * time.Second)
		if written(t.In(loc)).Equal(local) {
			return t.In(loc)
		}
	}
	lo, hi := local.Add(-48*time.Hour), local.Add(48*time.Hour)
	for hi.Sub(lo) > time.Second {
		mid := lo.Add(hi.Sub(lo) / 2)
		if written(mid.In(loc)).Before(local) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi.Truncate(time.Second).In(loc)
}

// expire ends what ends by itself: windows, and what was ordered for a time. A
// wall clock that cannot be right changes neither (O6).
func (m *Machine) expire(s *site) {
	if m.now.Suspect {
		return
	}
	m.startHolds(s)
	for _, n := range s.nodes {
		if n.Drill.over(m.now) {
			m.endDrill(n, "its time is over", Event{})
		}
		if h := n.Maintenance; h.over(m.now) {
			n.Maintenance = nil
			m.maintenanceEnded(n, h, Event{Reason: "its time is over"})
		}
		if n.Disabled.over(m.now) {
			m.enable(n, "its time is over", "")
		}
	}
	for _, p := range s.pools {
		if p.Paused.over(m.now) {
			m.resume(p, "its time is over", "")
		}
	}
	for i := range s.windows {
		w := &s.windows[i]
		if w.asked.IsZero() || m.now.Wall.Before(w.asked) || !w.change.IsZero() && !m.now.Wall.Before(w.change) {
			w.active, w.change = w.cfg.At(m.now.Wall)
		}
		w.asked = m.now.Wall
	}
	m.applyWindows(s)
}

// startHolds starts the time of what was ordered for a time while the wall
// clock could not be right (O6).
func (m *Machine) startHolds(s *site) {
	start := func(h *Hold) {
		if h != nil && h.Lasts > 0 {
			h.last(h.Lasts, m.now)
			m.changed(s)
		}
	}
	for _, n := range s.nodes {
		start(n.Maintenance)
		start(n.Disabled)
		start(n.Drill)
	}
	for _, p := range s.pools {
		start(p.Paused)
	}
}

// applyWindows begins and ends the maintenance of windows (C5).
func (m *Machine) applyWindows(s *site) {
	for _, n := range s.nodes {
		if n.WindowEnded {
			n.WindowSkip, n.WindowEnded = s.coveredUntil(n), false
			m.changed(s)
		}
		if n.Window == nil || !s.coveredUntil(n).IsZero() {
			continue
		}
		hold := n.Window
		n.Window = nil
		m.maintenanceEnded(n, hold, Event{By: hold.By, Reason: "the window is over"})
	}
	for i := range s.windows {
		w := &s.windows[i]
		if !w.active {
			continue
		}
		var begin []*node
		for _, n := range s.nodes {
			if w.covers(n) && n.Window == nil && !m.now.Wall.Before(n.WindowSkip) {
				begin = append(begin, n)
			}
		}
		if len(begin) == 0 {
			continue
		}
		if why := m.wouldEmpty(s, begin); why != "" {
			for _, n := range begin {
				n.WindowSkip = w.change
			}
			m.site(s, Event{Kind: WindowSkipped, Text: "The maintenance window " + w.cfg.Text + " is left out: " + why + "."})
			m.changed(s)
			continue
		}
		for _, n := range begin {
			m.beginWindow(n, w)
		}
	}
}

func (m *Machine) beginWindow(n *node, w *windowClock) {
	hold := &Hold{By: "window " + w.cfg.Text, Since: m.now.Wall}
	n.Window = hold
	if !n.Replaced { // it is its heir's to tell
		hold.Event = m.node(n, Event{
			Kind: FailoverMaintenance, By: hold.By,
			Text: m.maintenanceText(n, hold, m.untilText(w.change)),
		})
	}
	m.take(n)
}

func (w *windowClock) covers(n *node) bool {
	return w.cfg.Nodes == nil || slices.Contains(w.cfg.Nodes, n.index)
}

// coveredUntil gives the end of the last of the open windows that the node is
// in; the zero time if it is in none.
func (s *site) coveredUntil(n *node) (end time.Time) {
	for i := range s.windows {
		if w := &s.windows[i]; w.active && w.covers(n) && end.Before(w.change) {
			end = w.change
		}
	}
	return end
}
