package sites

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The dashboard and the API must show what is measured and what is ordered
// apart, and when the next thing happens.
func TestC7View(t *testing.T) {
	d := newDriver(t, usual(func(c *Config) { c.Sites[0].Nodes = append(c.Sites[0].Nodes, usualNode("c", "10.1.0.13")) }))
	d.play(`60s down berlin/a
		60s maintenance berlin/b for=1h
		60s disable berlin/c
		60s pause hamburg
		73s tick`)
	type row struct {
		Name           string
		Word, Measured Word
		Answers        bool
		Until, Next    string
		Cause          string
	}
	var got []row
	for _, n := range d.m.View()[0].Nodes {
		r := row{Name: n.Name, Word: n.Word, Measured: n.Measured, Answers: n.Answers}
		if n.Ordered != nil && !n.Ordered.Until.IsZero() {
			r.Until = n.Ordered.Until.Format(time.TimeOnly)
		}
		if !n.Next.IsZero() {
			r.Next = n.Next.Format(time.TimeOnly)
		}
		r.Cause = n.Lines[0].Checks[0].Cause
		got = append(got, r)
	}
	want := []row{
		{"a", WordFailing, WordFailing, false, "", "12:01:31", "refused"},
		{"b", WordMaintenance, WordReturning, true, "13:01:00", "", ""},
		{"c", WordDisabled, WordReturning, false, "", "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	p := d.m.View()[1].Pools[0]
	if p.Paused == nil || p.Active != "a" || p.Serves != "own" || p.Mode != "active_passive" || len(p.IPv4) != 1 {
		t.Errorf("pool: %+v", p)
	}
	if w := d.m.View()[0].Witnesses[0]; w.Name != "resolver 10.1.0.1" || w.Outcome != "up" {
		t.Errorf("witness: %+v", w)
	}
}

// If this fails, who looks is not told that a pause keeps clients on a dead node, or is
// told so for ever.
func TestC2ViewHeld(t *testing.T) {
	d := newDriver(t, usual(nil))
	d.play(`60s pause berlin
		60s down berlin/a
		80s tick`)
	if p := d.m.View()[0].Pools[0]; p.Held {
		t.Errorf("before the threshold: %+v", p)
	}
	d.play(`10m tick`)
	if p := d.m.View()[0].Pools[0]; !p.Held || p.Paused == nil {
		t.Errorf("no move is held: %+v", p)
	}
	d.play(`10m resume berlin
		11m tick`)
	if p := d.m.View()[0].Pools[0]; p.Held {
		t.Errorf("a move is held for ever: %+v", p)
	}
}

// A view must show when a recovering node comes back.
func TestC7ViewNext(t *testing.T) {
	d := newDriver(t, usual(nil))
	d.play(`60s down berlin/a
		100s up berlin/a
		110s tick`)
	if next := d.m.View()[0].Nodes[0].Next.Format(time.TimeOnly); next != "12:06:41" {
		t.Errorf("next = %s, want 12:06:41", next)
	}
}

// What is compared before it is published must notice every difference, or a
// client keeps an old answer.
func TestAnswerEqual(t *testing.T) {
	a := Answer{IPv4: addrs("10.1.0.11"), Source: Own, From: "berlin", Horizon: Forever}
	tests := []struct {
		name          string
		change        func(*Answer)
		equal, record bool
	}{
		{"the same", func(*Answer) {}, true, true},
		{"another address", func(a *Answer) { a.IPv4 = addrs("10.1.0.12") }, false, false},
		{"another family", func(a *Answer) { a.IPv6 = addrs("fd00::1") }, false, false},
		{"another source", func(a *Answer) { a.Source = LastResort }, false, true},
		{"another site", func(a *Answer) { a.From = "hamburg" }, false, true},
		{"another horizon", func(a *Answer) { a.Horizon = 0 }, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := a
			tt.change(&b)
			if a.Equal(b) != tt.equal || a.SameRecords(b) != tt.record {
				t.Errorf("Equal %v, SameRecords %v; want %v, %v", a.Equal(b), a.SameRecords(b), tt.equal, tt.record)
			}
		})
	}
}

// Whoever sees a node out of DNS must see that a drill, a quarantine or the
// brake is why, or they mend what is not broken.
func TestC7ViewWhy(t *testing.T) {
	d := newDriver(t, usual(quarantined))
	d.play(twice + `13m tick
		13m drill berlin/b for=5m force`)
	nodes := d.m.View()[0].Nodes
	if a := nodes[0]; !a.Quarantine || a.Drill != nil || a.Next.Sub(d.instant().Wall) < 50*time.Minute {
		t.Errorf("in quarantine: %+v", a)
	}
	if b := nodes[1]; b.Quarantine || b.Drill == nil || b.Drill.By != "ann" || b.Drill.Until.Format(time.TimeOnly) != "12:18:00" {
		t.Errorf("in a drill: %+v", b)
	}
	d = newDriver(t, usual(braked))
	d.play(`60s down berlin/a
		60s down berlin/b
		60s down hamburg/a
		100s tick`)
	if v := d.m.View(); !v[0].Pools[0].Braked || v[1].Pools[0].Braked {
		t.Errorf("braked: %+v, with a node that answers: %+v", v[0].Pools[0], v[1].Pools[0])
	}
}
