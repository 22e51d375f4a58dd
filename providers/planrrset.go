package providers

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// rrset plans one RRset.
func (p *planner) rrset(s *rrset) {
	drifted := p.drift(s)
	if len(s.ours) > 0 {
		p.listed++
	}
	if len(s.last) > 0 || s.journal {
		p.before++
	}
	if slices.Contains(p.in.Untouched, s.key.Name) || p.conflicts(s) {
		return
	}
	if drifted && !s.taken && (p.in.Policy.KeepDrift || slices.Contains(p.in.Leave, s.key)) && slices.EqualFunc(s.missing(), s.last, p.equal) {
		if c := p.change(s); !c.Empty() {
			p.hold(s.key, "drift", "somebody has changed it there, and that stands for the moment")
			if !s.answered() && !c.only() {
				p.bare[s.key] = c
			}
		}
		return
	}
	c := p.change(s)
	if p.in.Policy.CreateOnly {
		c = p.createOnly(c)
	}
	if !c.Empty() {
		p.plan.Changes = append(p.plan.Changes, c)
	}
}

func (p *planner) equal(a, b Record) bool { return a.Addr == b.Addr && p.sameTTL(a.TTL, b.TTL) }

func (p *planner) hold(k Key, by, text string) {
	p.plan.Held = append(p.plan.Held, Held{Key: k, By: by, Text: text})
}

// conflicts notes what others have in the way, and says whether the RRset is to
// be left alone because of it.
func (p *planner) conflicts(s *rrset) (leave bool) {
	if len(s.desired) == 0 {
		return false // ours go, theirs stay
	}
	c := Conflict{Key: s.key, Moving: len(s.ours) > 0 || s.journal}
	for _, e := range s.foreign {
		if s.wants(e.Addr) {
			p.plan.Satisfied = append(p.plan.Satisfied, Record{e.Name, e.Addr, e.TTL})
		} else if !slices.Contains(c.Foreign, e.Addr) {
			c.Foreign = append(c.Foreign, e.Addr)
		}
	}
	if len(c.Foreign) == 0 {
		return false
	}
	p.plan.Conflicts = append(p.plan.Conflicts, c)
	return !c.Moving
}

// missing gives the desired records that nobody else has there.
func (s *rrset) missing() (list []Record) {
	for _, r := range s.desired {
		if !slices.ContainsFunc(s.foreign, func(e Entry) bool { return e.Addr == r.Addr }) {
			list = append(list, r)
		}
	}
	return list
}

// answered says whether clients get anything of the RRset.
func (s *rrset) answered() bool {
	return len(s.foreign) > 0 || slices.ContainsFunc(s.ours, func(e Entry) bool { return !e.Disabled })
}

func (s *rrset) wants(a netip.Addr) bool {
	return slices.ContainsFunc(s.desired, func(r Record) bool { return r.Addr == a })
}

// change plans how the RRset comes to hold what it should. What others have
// there already is not added; what is ours is changed in place as far as it goes.
func (p *planner) change(s *rrset) Change {
	c := Change{Key: s.key, Before: s.all}
	need := s.missing()
	spare := slices.Clone(s.ours)
	kept := map[netip.Addr]bool{}
	adopt := func(e Entry) {
		if s.adopt[e.ID] {
			c.Adopt = append(c.Adopt, e)
		}
	}
	// First what has the right address: as it is, or with a repair.
	for _, perfect := range []bool{true, false} {
		need = slices.DeleteFunc(need, func(r Record) bool {
			i := slices.IndexFunc(spare, func(e Entry) bool {
				return e.Addr == r.Addr && (!perfect || !e.Disabled && p.sameTTL(e.TTL, r.TTL))
			})
			if i < 0 {
				return false
			}
			adopt(spare[i])
			if !perfect {
				c.Swap = append(c.Swap, Swap{From: spare[i], To: r})
			}
			kept[r.Addr] = true
			spare = slices.Delete(spare, i, i+1)
			return true
		})
	}
	if !p.in.Traits.Marks {
		// Equal ones cannot be told apart there: to remove one is to remove all.
		spare = slices.DeleteFunc(spare, func(e Entry) bool { return kept[e.Addr] })
	}
	n := min(len(need), len(spare))
	for i := range n {
		adopt(spare[i])
		c.Swap = append(c.Swap, Swap{From: spare[i], To: need[i]})
	}
	c.Add = need[n:]
	for _, e := range spare[n:] {
		adopt(e)
		c.Remove = append(c.Remove, e)
	}
	return c
}

// createOnly leaves of a change what adds.
func (p *planner) createOnly(c Change) Change {
	only := Change{Key: c.Key, Before: c.Before, Add: slices.Clone(c.Add), Adopt: c.Adopt}
	for _, s := range c.Swap {
		if s.From.Addr != s.To.Addr {
			only.Add = append(only.Add, s.To)
		}
	}
	if len(c.Swap)+len(c.Remove) > 0 {
		p.hold(c.Key, "create_only", "create_only is set, so nothing is changed and nothing removed")
	}
	return only
}

// needed puts RRsets right of which a hand has left nothing, where all that their names
// have beside is about to leave: no name is left without an address (P10).
func (p *planner) needed() {
	for i := range p.plan.Changes {
		c := &p.plan.Changes[i]
		if !c.only() {
			continue
		}
		for k, change := range p.bare {
			if k.Name != c.Name {
				continue
			}
			p.plan.Held = slices.DeleteFunc(p.plan.Held, func(h Held) bool { return h.Key == k })
			p.plan.Changes = append(p.plan.Changes, change)
			delete(p.bare, k)
		}
	}
}

// guard holds removals that are too many at once. What is to be empty for the
// moment, and what shrinks, be it by a whole address family, does not count.
func (p *planner) guard() {
	stays := map[string]bool{}
	for _, r := range p.in.Desired {
		stays[r.Name] = true
	}
	for _, name := range p.in.Emptied {
		stays[name] = true
	}
	var gone []int
	for i := range p.plan.Changes {
		if c := &p.plan.Changes[i]; c.only() && !stays[c.Name] {
			gone = append(gone, i)
		}
	}
	if len(gone) <= 2 || len(gone)*100 <= p.in.Policy.DeleteGuard*p.listed {
		return
	}
	text := fmt.Sprintf("%d of the %d RRsets that are ours there would be removed at once, more than the %d %% that delete_guard allows; \"dnsteer target enable\" lets them go", len(gone), p.listed, p.in.Policy.DeleteGuard)
	for _, i := range gone {
		p.hold(p.plan.Changes[i].Key, "delete_guard", text)
	}
	held := map[Key]bool{}
	for _, i := range gone {
		held[p.plan.Changes[i].Key] = true
	}
	p.plan.Changes = slices.DeleteFunc(p.plan.Changes, func(c Change) bool { return held[c.Key] })
}

// drift notes what is not as it was last seen, and says whether there is any.
func (p *planner) drift(s *rrset) bool {
	if p.in.Last == nil || slices.Contains(p.in.Unsure, s.key) {
		return false
	}
	var found []Drift
	taken := make([]bool, len(s.ours))
	for _, r := range s.last {
		i := slices.IndexFunc(s.ours, func(e Entry) bool { return e.Addr == r.Addr })
		if i < 0 {
			found = append(found, Drift{Record: r, What: DriftMissing})
			continue
		}
		taken[i] = true
		switch e := s.ours[i]; {
		case e.Disabled:
			found = append(found, Drift{Record: r, What: DriftDisabled, Text: e.Text})
		case !p.sameTTL(e.TTL, r.TTL):
			found = append(found, Drift{Record: r, What: DriftChanged, Text: e.Text})
		}
	}
	// What is gone and what is there in its place are one record changed.
	others := slices.Clone(s.foreign)
	for i, e := range s.ours {
		if !taken[i] && !slices.ContainsFunc(s.last, func(r Record) bool { return r.Addr == e.Addr }) && !s.adopt[e.ID] {
			others = append([]Entry{e}, others...)
		}
	}
	for i := range found {
		if found[i].What == DriftMissing && len(others) > 0 {
			found[i].What, found[i].Text = DriftChanged, others[0].Text
			others = others[1:]
		}
	}
	for _, e := range others {
		if e.Marked {
			found = append(found, Drift{Record: e.Record, What: DriftExtra, Text: e.Text})
		}
	}
	p.plan.Drifts = append(p.plan.Drifts, found...)
	return len(found) > 0
}

// String is one line for people: "app.example.lan A 192.0.2.1 is gone".
func (d Drift) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", d.Key(), d.Addr)
	switch d.What {
	case DriftMissing:
		b.WriteString(" is gone")
	case DriftChanged:
		fmt.Fprintf(&b, " was changed (now %s)", d.Text)
	case DriftDisabled:
		b.WriteString(" was disabled")
	case DriftExtra:
		b.WriteString(" bears our mark and was not put there by us")
	}
	return b.String()
}
