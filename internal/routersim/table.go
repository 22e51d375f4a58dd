package routersim

import (
	"maps"
	"slices"
	"strings"
)

// table is /ip/dns/static. Its rows are never changed once they are in it, so
// that a copy of the list is a copy of all.
type table struct {
	rows []*row
	last uint64 // the last ID that was given out
}

// find gives the place of a row.
func (t *table) find(id string) int {
	n, ok := parseID(id)
	if !ok {
		return -1
	}
	return slices.IndexFunc(t.rows, func(r *row) bool { return r.id == n })
}

// clash says whether another enabled row has the same key.
func (t *table) clash(r *row) bool {
	if !r.enabled() {
		return false
	}
	return slices.ContainsFunc(t.rows, func(o *row) bool { return o.key == r.key && o.id != r.id && o.enabled() })
}

// add puts a new row at the end, or before another, and gives its ID.
func (t *table) add(args []pair, p profile) (id, why string) {
	at := len(t.rows)
	var fields []pair
	for _, a := range args {
		switch a.key {
		case "place-before":
			if at = t.find(a.value); at < 0 {
				return "", "no such item"
			}
		case "copy-from":
			from := t.find(a.value)
			if from < 0 {
				return "", "no such item"
			}
			for _, k := range slices.Sorted(maps.Keys(t.rows[from].fields)) {
				if p.knows(k) {
					fields = append(fields, pair{k, t.rows[from].fields[k]})
				}
			}
		default:
			fields = append(fields, a)
		}
	}
	r, why := (*row)(nil).with(fields, p)
	if why != "" {
		return "", why
	}
	if t.clash(r) {
		return "", t.taken(p)
	}
	t.last++
	r.id = t.last
	t.rows = slices.Insert(slices.Clone(t.rows), at, r)
	return formatID(r.id), ""
}

func (t *table) taken(p profile) string {
	if p.oldMessages {
		return "failure: already have such entry"
	}
	return "failure: entry already exists"
}

// each does something with the rows of a list of IDs, one after another: what
// was done before an error stays done.
func (t *table) each(ids string, do func(at int) string) string {
	for id := range strings.SplitSeq(ids, ",") {
		at := t.find(id)
		if at < 0 {
			return "no such item"
		}
		if t.rows[at].dynamic {
			return "failure: can not change dynamic entry"
		}
		if why := do(at); why != "" {
			return why
		}
	}
	return ""
}

// set changes rows.
func (t *table) set(ids string, args []pair, p profile) string {
	for _, a := range args { // known before any row is touched
		if !p.knows(a.key) {
			return "unknown parameter " + a.key
		}
	}
	return t.each(ids, func(at int) string {
		r, why := t.rows[at].with(args, p)
		switch {
		case why != "":
			return why
		case t.clash(r):
			return t.taken(p)
		}
		t.rows = slices.Clone(t.rows)
		t.rows[at] = r
		return ""
	})
}

// remove takes rows away.
func (t *table) remove(ids string) string {
	return t.each(ids, func(at int) string {
		t.rows = slices.Delete(slices.Clone(t.rows), at, at+1)
		return ""
	})
}

// move puts rows before another; "" is the end.
func (t *table) move(ids, before string) string {
	return t.each(ids, func(at int) string {
		r := t.rows[at]
		rest := slices.Delete(slices.Clone(t.rows), at, at+1)
		to := len(rest)
		if before != "" {
			n, _ := parseID(before)
			if to = slices.IndexFunc(rest, func(o *row) bool { return o.id == n }); to < 0 {
				return "no such item"
			}
		}
		t.rows = slices.Insert(rest, to, r)
		return ""
	})
}
