package publish

import (
	"fmt"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// How often a record is put right that somebody changes again and again.
const (
	repairPause = time.Minute
	repairMost  = 3
	repairSpan  = time.Hour
)

// leave lists the RRsets whose drift stands for the moment: they were put right
// too lately or too often. The caller holds mu.
func (m *member) leave(now time.Time) (list []providers.Key) {
	for key, times := range m.repairs {
		times = slices.DeleteFunc(times, func(t time.Time) bool { return now.Sub(t) >= repairSpan })
		m.repairs[key] = times
		if len(times) == 0 {
			delete(m.repairs, key)
			continue
		}
		if len(times) >= repairMost || now.Sub(times[len(times)-1]) < repairPause {
			list = append(list, key)
		}
	}
	slices.SortFunc(list, providers.Key.Compare)
	return list
}

// repairAgain is when the first repair may be made of those that wait in what a
// plan holds back; zero where none waits. The caller holds mu.
func (m *member) repairAgain(held []providers.Held) (at time.Time) {
	for _, h := range held {
		times := m.repairs[h.Key]
		if h.By != "drift" || m.target.Drift != Repair || len(times) == 0 {
			continue
		}
		next := times[len(times)-1].Add(repairPause)
		if len(times) >= repairMost {
			next = times[len(times)-repairMost].Add(repairSpan)
		}
		if at.IsZero() || next.Before(at) {
			at = next
		}
	}
	return at
}

// drifted tells of records that somebody else has changed, and counts repairs.
func (m *member) drifted(now time.Time, out *providers.Outcome) {
	found := slices.DeleteFunc(slices.Clone(out.First.Drifts), func(d providers.Drift) bool {
		return slices.ContainsFunc(out.Refused, func(f providers.Refusal) bool { return f.Key == d.Key() })
	})
	all := slices.Clone(found)
	dry := m.settings().DryRun
	held := map[providers.Key]string{} // by which policy
	for _, h := range out.Last.Held {
		held[h.Key] = h.By
	}
	if found = m.handedOver(out, found, held); len(found) == 0 {
		m.foreignHand(now, all, false)
		m.solved(slotDrift, m.title()+" holds what was put there again.")
		return
	}
	var lines []string
	left, by, repaired := 0, "", map[providers.Key]bool{}
	for _, d := range found {
		lines = append(lines, d.String())
		policy := held[d.Key()]
		if policy == "" && !dry {
			repaired[d.Key()] = true
			continue
		}
		if left++; by == "" || by == "drift" {
			by = policy
		}
	}
	m.foreignHand(now, all, left > 0)
	m.save(func(k *kept) { k.Drifts += len(repaired) })
	m.mu.Lock()
	for key := range repaired {
		m.repairs[key] = append(m.repairs[key], now)
		m.lookUntil = now.Add(lookFor) // who undoes repairs undoes this one soon
	}
	m.mu.Unlock()
	text := fmt.Sprintf("Somebody has changed %s: %s.", m.title(), listed(lines))
	if out.First.Lost {
		text = fmt.Sprintf("%s has lost everything that was put there (%s): it was reset or restored, or is another one.", m.title(), plural.Of(len(found), "record"))
	}
	if left > 0 {
		text += " " + m.standing(by)
		m.problem(slotDrift, sites.Warning, text, true)
		return
	}
	if !m.isOpen(slotDrift) {
		m.problem(slotDrift, sites.Warning, text, true)
	}
	m.solved(slotDrift, fmt.Sprintf("%s was put right: %s.", m.title(), listed(lines)))
}

// handedOver leaves out what is neither put right nor held: it is somebody else's from now
// on, which is told as that, or is as it should be by now.
func (m *member) handedOver(out *providers.Outcome, found []providers.Drift, held map[providers.Key]string) []providers.Drift {
	var gone []string
	found = slices.DeleteFunc(found, func(d providers.Drift) bool {
		k := d.Key()
		stays := held[k] != "" || slices.ContainsFunc(out.First.Changes, func(c providers.Change) bool { return c.Key == k })
		if !stays {
			gone = append(gone, k.String())
		}
		return !stays
	})
	if len(gone) > 0 {
		m.save(func(k *kept) { k.Conflicts = append(slices.Clone(k.Conflicts), gone...) })
	}
	return found
}

// standing says why drift is left alone, by the policy that holds it.
func (m *member) standing(by string) string {
	switch t := m.settings(); {
	case t.DryRun:
		return "It is left so (dry_run)."
	case by != "drift":
		return "It is left so (" + by + ")."
	case t.Drift == Report:
		return "It is left so (drift: report)."
	case t.Drift == Accept:
		return "It stands until the next move (drift: adopt)."
	}
	return fmt.Sprintf("It was put right before; the next time is later, so that two who both mean well do not fight (at most once a minute, %d times an hour).", repairMost)
}

// conflicts tells of names that others have records of. One that was told goes
// on while our answer happens to be theirs: their record still stands there.
func (m *member) conflicts(p *providers.Plan) {
	var lines, names []string
	add := func(k providers.Key, text string) {
		lines = append(lines, text)
		if !slices.Contains(names, k.String()) {
			names = append(names, k.String())
		}
	}
	for _, c := range p.Conflicts {
		add(c.Key, c.Text())
	}
	m.mu.Lock()
	told := slices.Clone(m.kept.Conflicts)
	m.mu.Unlock()
	for _, r := range p.Satisfied {
		if k := r.Key(); slices.Contains(told, k.String()) && !slices.Contains(names, k.String()) {
			add(k, providers.SatisfiedText(r))
		}
	}
	m.save(func(k *kept) { k.Conflicts = names })
	if len(lines) == 0 {
		m.solved(slotConflict, "Nobody else's records stand in the way on "+m.title()+" any more.")
		return
	}
	m.problem(slotConflict, sites.Warning, m.title()+": "+sentences(lines), true)
}
