package contract

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

const (
	app   = "app.example.lan"
	other = "other.example.lan"
)

func (d *driver) firstPush() {
	d.quiet(nil)
	want := join(d.set(app, nodeA, nodeA6), d.set(other, nodeB))
	d.push(want)
	d.answers(app, nodeA, nodeA6)
	d.answers(other, nodeB)
	d.quiet(want)
	d.connect()
	d.quiet(want)
}

// idle compares as often as a day of five minutes has comparisons.
func (d *driver) idle() {
	d.seed(Foreign{Name: "printer.example.lan", Addr: alien})
	want := join(d.set(app, nodeA, nodeB, nodeA6), d.set("*.apps.example.lan", nodeA))
	d.push(want)
	for i := range 288 {
		if i%48 == 0 {
			d.connect()
		}
		d.quiet(want)
		if d.t.Failed() {
			return
		}
	}
}

func (d *driver) sets() {
	for _, addrs := range [][]netip.Addr{
		{nodeA},
		{nodeA, nodeB},
		{nodeA, nodeB, nodeC},
		{nodeC},
		{nodeA, nodeB},
		{nodeB, nodeC},
		{nodeC, nodeA, nodeA6},
		{nodeA, nodeB6},
		{nodeA, nodeA6, nodeB6},
		{nodeB6},
		{nodeA},
		{nodeA},
	} {
		want := d.set(app, addrs...)
		d.push(want)
		d.answers(app, addrs...)
		d.quiet(want)
	}
}

func (d *driver) ttls() {
	want := d.set(app, nodeA, nodeB)
	d.push(want)
	if !d.b.Traits.TTL {
		return // it has one for all, which no record changes
	}
	for _, secs := range []int{1, 60, 600, 3600, 86400, 90} {
		for i := range want {
			want[i].TTL = time.Duration(secs) * time.Second
		}
		d.push(want)
		if _, got, ok := d.ask(app, false); !ok || got != want[0].TTL {
			d.t.Errorf("the target answers with TTL %s, want %s", got, want[0].TTL)
		}
		d.answers(app, nodeA, nodeB)
		d.quiet(want)
	}
}

func (d *driver) wildcard() {
	for _, a := range []netip.Addr{nodeA, nodeB, nodeA} {
		want := join(d.set("*.apps.example.lan", a), d.set(app, nodeC))
		d.push(want)
		d.answers("x.apps.example.lan", a)
		d.answers(app, nodeC)
		d.quiet(want)
	}
}

// aliens are records of others that no name of ours meets.
func aliens(disable bool) []Foreign {
	list := []Foreign{
		{Name: "printer.example.lan", Addr: alien},
		{Name: "printer.example.lan", Addr: alien6},
		{Name: "nas.example.lan", Addr: alien, TTL: time.Hour},
		{Name: "nas.example.lan", Addr: nodeA},
		{Name: "*.guests.example.lan", Addr: alien},
	}
	if disable {
		list = append(list, Foreign{Name: "old.example.lan", Addr: alien, Disabled: true}, Foreign{Name: app, Addr: alien, Disabled: true})
	}
	return list
}

func (d *driver) foreign() {
	before := d.seed(aliens(d.b.Traits.Disable)...)
	for _, want := range [][]providers.Record{
		join(d.set(app, nodeA), d.set(other, nodeB)),
		join(d.set(app, nodeB), d.set(other, nodeB, nodeC)),
		d.set(app, nodeB, nodeA6),
		nil,
		d.set(app, nodeA),
	} {
		d.push(want)
		d.untouched(before)
		d.quiet(want)
	}
	d.answers(app, nodeA)
	d.answers("nas.example.lan", alien, nodeA)
}

func (d *driver) conflicts() {
	before := d.seed(Foreign{Name: app, Addr: alien})
	want := join(d.set(app, nodeA), d.set(other, nodeB))
	out := d.push(want)
	if len(out.First.Conflicts) != 1 || out.First.Conflicts[0].Moving || out.First.Conflicts[0].Name != d.name(app) {
		d.t.Errorf("the conflict is not told: %+v", out.First.Conflicts)
	}
	d.answers(app, alien)
	d.answers(other, nodeB) // the rest goes on
	d.quiet(want)
	d.untouched(before)

	// One that comes later stands beside ours, which go on moving.
	before = append(before, fresh(d, Foreign{Name: other, Addr: alien})...)
	want = join(d.set(app, nodeA), d.set(other, nodeC))
	out = d.push(want)
	if len(out.First.Conflicts) != 2 || !out.First.Conflicts[1].Moving {
		d.t.Errorf("the conflict beside ours is not told: %+v", out.First.Conflicts)
	}
	d.answers(other, nodeC, alien)
	d.quiet(want)
	d.untouched(before)
}

// fresh seeds one more record and gives its rows.
func fresh(d *driver, f Foreign) (rows []string) {
	before := d.stand.Dump(d.t)
	for _, row := range d.seed(f) {
		if i := slices.Index(before, row); i >= 0 {
			before = slices.Delete(before, i, i+1)
		} else {
			rows = append(rows, row)
		}
	}
	return rows
}

func (d *driver) satisfied() {
	before := d.seed(Foreign{Name: app, Addr: nodeA})
	want := d.set(app, nodeA)
	out := d.push(want)
	if len(out.First.Satisfied) != 1 {
		d.t.Errorf("that somebody else's record is enough is not told: %+v", out.First)
	}
	d.answers(app, nodeA)
	d.quiet(want)
	d.untouched(before)
	d.push(nil) // it is not ours to remove
	d.untouched(before)
}

func (d *driver) adoption() {
	before := d.seed(Foreign{Name: "printer.example.lan", Addr: alien})
	d.seed(Foreign{Name: app, Addr: nodeA}, Foreign{Name: app, Addr: nodeB}, Foreign{Name: other, Addr: nodeB})
	want := join(d.set(app, nodeA), d.set(other, nodeC))
	d.adopt = join(d.set(app, nodeA, nodeB), d.set(other, nodeB))
	d.push(want)
	d.adopt = nil
	d.answers(app, nodeA)
	d.answers(other, nodeC)
	d.connect()
	d.quiet(want)
	d.push(d.set(app, nodeC))
	d.answers(app, nodeC)
	d.untouched(before)
	d.push(nil)
	if rows := d.stand.Dump(d.t); len(rows) != len(before) {
		d.t.Errorf("what was taken over is not removed: %q", rows)
	}
}

func (d *driver) drift() {
	want := join(d.set(app, nodeA, nodeB), d.set(other, nodeC))
	d.push(want)
	edits := []Edit{{Verb: Delete, Addr: nodeA}}
	whats := []providers.DriftWhat{providers.DriftMissing}
	if d.b.Traits.Marks {
		edits, whats = append(edits, Edit{Verb: Change, Addr: nodeB, To: alien}), append(whats, providers.DriftChanged)
	}
	if d.b.Traits.Disable {
		edits, whats = append(edits, Edit{Verb: Disable, Addr: nodeA}), append(whats, providers.DriftDisabled)
	}
	for i, e := range edits {
		e.Name = d.name(app)
		d.stand.Edit(d.t, e)
		d.policy.KeepDrift = true
		before := d.stand.Writes()
		if out := d.push(want); len(out.First.Drifts) != 1 || out.First.Drifts[0].What != whats[i] || out.First.Drifts[0].Addr != e.Addr || len(out.First.Held) != 1 {
			d.t.Errorf("%v: the drift is not told: %+v", e, out.First)
		}
		if d.stand.Writes() != before {
			d.t.Errorf("%v: what was to stand was changed", e)
		}
		d.policy.KeepDrift = false
		d.push(want)
		d.answers(app, nodeA, nodeB)
		d.quiet(want)
	}
	// A hand's change stands until the next move.
	d.stand.Edit(d.t, Edit{Verb: Delete, Name: d.name(app), Addr: nodeA})
	d.policy.KeepDrift = true
	want = d.set(app, nodeC)
	d.push(want)
	d.answers(app, nodeC)
}

func (d *driver) leaving() {
	before := d.seed(Foreign{Name: "printer.example.lan", Addr: alien})
	want := join(d.set(app, nodeA, nodeA6), d.set(other, nodeB), d.set("*.apps.example.lan", nodeA), d.set("www.example.lan", nodeA))
	d.push(want)
	d.connect()
	d.policy.DeleteGuard = 50
	if out := d.push(d.set(app, nodeA)); len(out.First.Held) != 3 { // an address family alone is no name
		d.t.Errorf("the guard lets too much go at once: %+v", out.First)
	}
	d.answers(other, nodeB)
	d.policy.DeleteGuard = 100
	d.push(d.set(app, nodeA))
	d.answers(app, nodeA)
	if rows := d.stand.Dump(d.t); len(rows) != len(before)+1 {
		d.t.Errorf("names that left are there still: %q", rows)
	}
	d.untouched(before)
	d.push(nil)
	d.untouched(before)
	if rows := d.stand.Dump(d.t); len(rows) != len(before) {
		d.t.Errorf("something of ours is left: %q", rows)
	}
}

func (d *driver) lost() {
	want := join(d.set(app, nodeA), d.set(other, nodeB))
	d.push(want)
	d.stand.Edit(d.t, Edit{Verb: Delete, Name: d.name(app), Addr: nodeA})
	d.stand.Edit(d.t, Edit{Verb: Delete, Name: d.name(other), Addr: nodeB})
	if out := d.push(want); !out.First.Lost || len(out.First.Drifts) != 2 {
		d.t.Errorf("that everything is gone is not told: %+v", out.First)
	}
	d.answers(app, nodeA)
	d.answers(other, nodeB)
}

func (d *driver) thousand() {
	n := 500
	if Raced { // more of them are no matter of goroutines
		n = 50
		d.t.Logf("with the race detector only %d", 2*n)
	}
	make2 := func(addrs ...netip.Addr) (list []providers.Record) {
		for i := range n {
			list = append(list, d.set(fmt.Sprintf("h%d.example.lan", i), addrs...)...)
		}
		return list
	}
	d.push(make2(nodeA, nodeB))
	want := make2(nodeA, nodeC)
	d.push(want)
	d.answers("h0.example.lan", nodeA, nodeC)
	d.answers(fmt.Sprintf("h%d.example.lan", n-1), nodeA, nodeC)
	d.quiet(want)
}
