package providers

import (
	"fmt"
	"maps"
	"math/rand"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// world is a target as the plan sees it: entries, and which of them are
// somebody else's.
type world struct {
	traits  Traits
	entries []Entry
	foreign map[string]bool // by ID
	owned   []Record
	next    int
}

func addr(n int) netip.Addr {
	if n >= 4 {
		return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: byte(n)})
	}
	return netip.AddrFrom4([4]byte{192, 0, 2, byte(n)})
}

func drawRecord(t *rapid.T, traits Traits) Record {
	r := Record{Name: rapid.SampledFrom([]string{"a", "b", "*.c"}).Draw(t, "name"), Addr: addr(rapid.IntRange(0, 6).Draw(t, "addr"))}
	if traits.TTL {
		r.TTL = time.Duration(rapid.IntRange(1, 2).Draw(t, "ttl")) * time.Second
	}
	return r
}

func drawWorld(t *rapid.T) *world {
	w := &world{traits: Traits{
		Marks: rapid.Bool().Draw(t, "marks"), TTL: rapid.Bool().Draw(t, "ttls"), Disable: rapid.Bool().Draw(t, "disable"),
	}, foreign: map[string]bool{}}
	owned := map[Record]bool{}
	for range rapid.IntRange(0, 12).Draw(t, "entries") {
		e := Entry{Record: drawRecord(t, w.traits)}
		e.Disabled = w.traits.Disable && rapid.Bool().Draw(t, "disabled")
		e.Fixed = rapid.IntRange(0, 5).Draw(t, "fixed") == 0
		mine := rapid.Bool().Draw(t, "ours") && !e.Fixed
		if w.traits.Marks {
			e.Marked = mine
		} else if mine {
			owned[bare(e.Record)] = true
		}
		w.insert(e, mine)
	}
	w.owned = sorted(owned)
	if !w.traits.Marks { // equal ones are all ours, or none is
		for _, e := range w.entries {
			w.foreign[e.ID] = e.Fixed || !owned[bare(e.Record)]
		}
	}
	return w
}

func (w *world) insert(e Entry, mine bool) {
	w.next++
	e.ID = fmt.Sprint(w.next)
	e.Text = "row " + e.ID
	w.entries = append(w.entries, e)
	w.foreign[e.ID] = !mine
}

func (w *world) answering(k Key) (n int) {
	for _, e := range w.entries {
		if e.Key() == k && !e.Disabled {
			n++
		}
	}
	return n
}

func (w *world) index(t *rapid.T, e Entry) int {
	if w.foreign[e.ID] {
		t.Fatalf("%s of somebody else is written to", e.Text)
	}
	i := slices.IndexFunc(w.entries, func(x Entry) bool { return x.ID == e.ID })
	if i < 0 {
		t.Fatalf("%s is not there any more", e.Text)
	}
	return i
}

// apply carries out a change step by step and calls look after each.
func (w *world) apply(t *rapid.T, c Change, look func()) {
	for _, s := range c.Swap {
		i := w.index(t, s.From)
		if w.traits.Marks && s.From.Addr != s.To.Addr && w.clash(s.To) {
			t.Fatalf("a swap makes %v twice", s.To)
		}
		w.entries[i].Record, w.entries[i].Disabled = s.To, false
		look()
	}
	for _, r := range c.Add {
		if w.clash(r) {
			t.Fatalf("%v is added beside an equal one", r)
		}
		w.insert(Entry{Record: r, Marked: w.traits.Marks}, true)
		look()
	}
	for _, e := range c.Remove {
		i := w.index(t, e)
		w.entries = slices.Delete(w.entries, i, i+1)
		look()
	}
}

func (w *world) clash(r Record) bool {
	return slices.ContainsFunc(w.entries, func(e Entry) bool { return e.Name == r.Name && e.Addr == r.Addr && !e.Disabled })
}

func (w *world) input(desired, last []Record) Input {
	return Input{
		Desired: desired, Listing: Listing{Entries: w.entries}, Traits: w.traits, Owned: w.owned, Last: last,
		Policy: Policy{DeleteGuard: 100},
	}
}

// A push would leave a name without an address on its way, would write to
// somebody else's record, or would never come to its end.
func TestPlanLeadsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		desired := make([]Record, 0, 8)
		for range rapid.IntRange(0, 8).Draw(t, "desired") {
			desired = append(desired, drawRecord(t, w.traits))
		}
		last := slices.Clone(w.owned) // each was seen there
		p := Make(w.input(desired, last))
		left := map[Key]bool{}
		for _, c := range p.Conflicts {
			left[c.Key] = !c.Moving
		}
		wanted := map[Key]bool{}
		for _, r := range desired {
			wanted[r.Key()] = true
		}
		before := maps.Clone(w.foreign)
		others := w.others(before)
		for _, c := range p.Changes {
			if left[c.Key] {
				t.Fatalf("%s is to be left alone", c.Key)
			}
			had := w.answering(c.Key) > 0
			w.apply(t, c, func() {
				n := w.answering(c.Key) > 0
				if had && !n && wanted[c.Key] {
					t.Fatalf("%s is empty on the way", c.Key)
				}
				had = had || n
			})
		}
		if d := cmp.Diff(others, w.others(before), cmpopts.EquateComparable(netip.Addr{})); d != "" {
			t.Fatalf("records of others have changed: %s", d)
		}
		w.reached(t, desired, left)
		w.owned = append(w.owned, desired...) // the journal of what was written
		for _, r := range p.Satisfied {
			w.owned = slices.DeleteFunc(w.owned, func(o Record) bool { return bare(o) == bare(r) })
		}
		in := w.input(desired, nil)
		in.Last = last
		if again := Make(in); len(again.Changes) > 0 && w.traits.Marks {
			t.Fatalf("a second plan has changes: %+v", again.Changes)
		}
	})
}

func (w *world) others(foreign map[string]bool) (list []Entry) {
	for _, e := range w.entries {
		if foreign[e.ID] {
			list = append(list, e)
		}
	}
	return list
}

// reached holds that every desired record answers, and none of ours does that is
// not desired.
func (w *world) reached(t *rapid.T, desired []Record, left map[Key]bool) {
	for _, r := range desired {
		if !left[r.Key()] && !w.clash(r) {
			t.Fatalf("%v is not there", r)
		}
	}
	for _, e := range w.entries {
		wanted := slices.ContainsFunc(desired, func(r Record) bool { return bare(r) == bare(e.Record) })
		if !w.foreign[e.ID] && !left[e.Key()] && !wanted {
			t.Fatalf("%s of ours is left", e.Text)
		}
	}
}

// The same target would be written to in another order each time, so that no
// plan that a person has seen is the one that is carried out.
func TestPlanIsTheSameInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		desired := []Record{drawRecord(t, w.traits), drawRecord(t, w.traits), drawRecord(t, w.traits)}
		if !w.traits.TTL {
			for i := range desired {
				desired[i].TTL = 0
			}
		}
		first := Make(w.input(desired, w.owned))
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		r.Shuffle(len(w.entries), func(i, j int) { w.entries[i], w.entries[j] = w.entries[j], w.entries[i] })
		r.Shuffle(len(desired), func(i, j int) { desired[i], desired[j] = desired[j], desired[i] })
		r.Shuffle(len(w.owned), func(i, j int) { w.owned[i], w.owned[j] = w.owned[j], w.owned[i] })
		if d := cmp.Diff(first, Make(w.input(desired, w.owned)), cmpopts.EquateComparable(netip.Addr{})); d != "" {
			t.Fatalf("another plan: %s", d)
		}
	})
}

// Where one address family of a site dies as the other comes back, clients would be
// left with the dead addresses: what a name has of the other family stands in their
// place, and no name has left.
func TestTheGuardHoldsNoFailoverOfAFamily(t *testing.T) {
	var v4, v6 []Record
	var listed []Entry
	for i := range 4 {
		name := fmt.Sprintf("n%d.example.lan", i)
		v4 = append(v4, Record{Name: name, Addr: netip.MustParseAddr("192.0.2.1")})
		v6 = append(v6, Record{Name: name, Addr: netip.MustParseAddr("2001:db8::1")})
		listed = append(listed, Entry{Record: v6[i], ID: name, Marked: true})
	}
	in := Input{Desired: v4, Listing: Listing{Entries: listed}, Traits: Traits{Marks: true}, Last: v6, Policy: Policy{DeleteGuard: 50}}
	if p := Make(in); len(p.Held) > 0 || len(p.Changes) != 8 {
		t.Errorf("held %+v, %d changes", p.Held, len(p.Changes))
	}
	in.Desired = v4[:1] // names that have left are still held
	if p := Make(in); len(p.Held) != 3 || len(p.Changes) != 2 {
		t.Errorf("held %+v, %d changes", p.Held, len(p.Changes))
	}
}
