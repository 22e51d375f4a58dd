package contract

import (
	"context"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/providers"
)

// oldBackup has what the controller keeps be that of an earlier time. What was
// written since bears our mark or, elsewhere, counts as somebody else's until it is
// taken over; nothing is removed, and no name is empty.
func (d *driver) oldBackup() {
	before := d.seed(aliens(d.b.Traits.Disable)...)
	from, to := d.move()
	d.push(from)
	owned, last := d.owned, d.last
	d.push(to)
	d.owned, d.last = owned, last
	d.connect()
	w := d.watch(app, other)
	writes := d.stand.Writes()
	out := d.push(to)
	d.answers(app, nodeB, nodeC, nodeB6)
	d.answers(other, nodeC)
	d.answers("new.example.lan", nodeA, nodeB)
	d.untouched(before)
	if n := d.stand.Writes() - writes; n > 0 {
		d.t.Errorf("%d writes where all is as it should be", n)
	}
	marked := slices.ContainsFunc(out.Listing.Entries, func(e providers.Entry) bool { return e.Name == d.name(app) && e.Marked })
	if d.b.Traits.Marks && !marked || marked != (len(out.First.Satisfied) == 0) {
		d.t.Errorf("marks %v, and somebody else's are %+v", marked, out.First.Satisfied)
	}
	d.adopt = to
	d.push(to)
	d.adopt = nil
	d.push(from)
	w.end(d.t)
	d.answers(app, nodeA, nodeA6)
	d.answers(other, nodeB)
	d.untouched(before)
	d.push(nil)
	if rows := d.stand.Dump(d.t); len(rows) != len(before) {
		d.t.Errorf("something of ours is left: %q", rows)
	}
}

// forgetful is a provider whose first listing lacks most of what is there.
type forgetful struct {
	providers.Provider
	done bool
}

func (f *forgetful) List(ctx context.Context, names []string) (providers.Listing, error) {
	l, err := f.Provider.List(ctx, names)
	if !f.done {
		f.done = true
		l.Entries = slices.DeleteFunc(l.Entries, func(e providers.Entry) bool { return e.Name != names[0] })
	}
	return l, err
}

// shrunk has a listing lack all names but one. Nothing is doubled by it, and nothing
// removed.
func (d *driver) shrunk() {
	if !slices.Contains(d.b.Faults, Duplicate) {
		return // it does not look whether something is there already
	}
	d.seed(aliens(d.b.Traits.Disable)...)
	_, to := d.move()
	d.push(to)
	before := d.stand.Dump(d.t)
	w := d.watch(app, other)
	if _, err := d.round(d.t.Context(), &forgetful{Provider: d.p}, to); err != nil {
		d.t.Error(err)
	}
	w.end(d.t)
	after := d.stand.Dump(d.t)
	if !slices.Equal(before, after) {
		d.t.Errorf("there was\n%s\nand is\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	d.quiet(to)
}
