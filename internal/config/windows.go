package config

import (
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// doubtWindows warns of maintenance windows that are always left out (C4, C5), and
// of those that are open at one time, where that changes what they do.
func (b *builder) doubtWindows(k *siteKeys, s *sites.Site) {
	open := make([][]opening, len(s.Windows))
	for i := range s.Windows {
		w := &s.Windows[i]
		if p := emptied(s, func(n int) bool { return takes(w, n) }); p != "" {
			b.warn(k.Maintenance[i].At, "the window is always left out: it takes every node of the pool %s/%s, and the site has no emergency site that could step in", s.Name, p)
			continue
		}
		if len(s.Windows) == 1 || shortestGap(w.Schedule) <= w.Duration {
			continue // it overlaps itself, which is told of
		}
		open[i] = openings(w)
		for j := range i {
			b.doubtOverlap(k, s, [2]int{j, i}, overlap(open[j], open[i]))
		}
	}
}

// doubtOverlap warns of two windows that are open at one time; the zero time is none.
func (b *builder) doubtOverlap(k *siteKeys, s *sites.Site, pair [2]int, at time.Time) {
	first, second := &s.Windows[pair[0]], &s.Windows[pair[1]]
	either := func(n int) bool { return takes(first, n) || takes(second, n) }
	shared := ""
	for n := range s.Nodes {
		if takes(first, n) && takes(second, n) {
			shared = s.Nodes[n].Name
			break
		}
	}
	when := at.In(second.Location).Format("2006-01-02 15:04 MST")
	place, other := k.Maintenance[pair[1]].At, k.Maintenance[pair[0]].At
	switch p := emptied(s, either); {
	case at.IsZero():
	case p != "":
		b.warn(place, "the window overlaps with that at %s, on %s for instance: together they take every node of the pool %s/%s, and the one that begins later is left out; give them other times", other, when, s.Name, p)
	case shared != "":
		b.warn(place, "the window overlaps with that at %s, on %s for instance: the node %s/%s is in maintenance until both have ended", other, when, s.Name, shared)
	}
}

// emptied names a pool that has none but such nodes, where no emergency site could
// step in.
func emptied(s *sites.Site, taken func(node int) bool) string {
	if s.EmergencySite != "" {
		return ""
	}
	for _, p := range s.Pools {
		if !slices.ContainsFunc(p.Nodes, func(n int) bool { return !taken(n) }) {
			return p.Name
		}
	}
	return ""
}

// takes says whether a window takes a node.
func takes(w *sites.Window, node int) bool { return w.Nodes == nil || slices.Contains(w.Nodes, node) }

// opening is a time in which a window is open.
type opening struct{ from, to time.Time }

// openings lists when a window is open in the year 2026, at most as often as once a day.
func openings(w *sites.Window) (list []opening) {
	t := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for end := t.AddDate(1, 0, 0); t.Before(end) && len(list) < 366; {
		open, change := w.At(t)
		if change.IsZero() {
			break
		}
		if open {
			list = append(list, opening{t, change})
		}
		t = change
	}
	return list
}

// overlap gives the first time at which two windows are open, or the zero time.
func overlap(a, b []opening) time.Time {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case !a[0].to.After(b[0].from):
			a = a[1:]
		case !b[0].to.After(a[0].from):
			b = b[1:]
		case a[0].from.After(b[0].from):
			return a[0].from
		default:
			return b[0].from
		}
	}
	return time.Time{}
}

// shortestGap is the least time between the next beginnings of a window.
func shortestGap(s sites.Schedule) time.Duration {
	var gaps []time.Duration
	t := s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for range 60 {
		next := s.Next(t)
		if next.IsZero() {
			break
		}
		gaps = append(gaps, next.Sub(t))
		t = next
	}
	if len(gaps) == 0 {
		return sites.Forever
	}
	return slices.Min(gaps)
}
