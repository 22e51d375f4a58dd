package routeros

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// listing is what was read last, and how wildcards are to stand there.
type listing struct {
	rows  map[string]row // by ID
	asRow map[string]bool
	// expressed are wildcards that stand there as expressions of ours.
	expressed map[string]bool
	onlyA     []string // names of ours that have A records and no other
}

// fullPrint is what was learnt when the whole table was read.
type fullPrint struct {
	at    time.Time
	size  int
	names []string // that were asked for
	// spelled are names as they stand there that are ours in other letters, or
	// belong to marked rows; comments those of marked rows.
	spelled, comments []string
	// around is what the wildcards among the names have around them.
	around map[string]surroundings
}

// The whole table is read each time where it is small. A large one is read whole
// once an hour, and where other names are asked for; in between the router
// searches it. What that does not find, a foreign row of a name of ours in other
// letters, or one that somebody else has marked, is found within the hour.
const (
	largeTable = 2000 // rows
	wholeEvery = time.Hour
)

// List implements [providers.Provider].
func (p *Provider) List(ctx context.Context, names []string) (providers.Listing, error) {
	end, err := p.begin(ctx)
	if err != nil {
		return providers.Listing{}, p.explain("list records", err)
	}
	defer end()
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	asked := make(map[string]bool, len(names))
	for _, n := range names {
		asked[n] = true
	}
	words := []string{fields}
	whole := p.full.size <= largeTable || time.Since(p.full.at) >= wholeEvery || !slices.Equal(names, p.full.names)
	if !whole {
		words = append(words, p.search(names)...)
	}
	found, err := p.print(ctx, "/ip/dns/static", words...)
	if err != nil {
		return providers.Listing{}, p.explain("list records", err)
	}
	rows := make([]row, 0, len(found))
	for _, s := range found {
		rows = append(rows, parseRow(s))
	}
	if whole {
		p.learn(names, asked, rows)
	}
	return p.judge(asked, rows), nil
}

// search is the query for what concerns the names: a word for each condition,
// and one that joins it to those before.
func (p *Provider) search(names []string) []string {
	conditions := []string{"?regexp", "?match-subdomain=true", "?comment=" + p.mark}
	for _, n := range slices.Concat(names, p.full.spelled) {
		conditions = append(conditions, "?name="+n)
	}
	for _, c := range p.full.comments {
		conditions = append(conditions, "?comment="+c)
	}
	words := conditions[:1:1]
	for _, c := range conditions[1:] {
		words = append(words, c, "?#|")
	}
	return words
}

// learn keeps of a whole table what a search of it needs.
func (p *Provider) learn(names []string, asked map[string]bool, rows []row) {
	p.full = fullPrint{at: time.Now(), size: len(rows), names: names, around: map[string]surroundings{}}
	spelled, comments := map[string]bool{}, map[string]bool{}
	wildcards := map[string]bool{}
	for _, n := range names {
		if strings.HasPrefix(n, "*.") {
			wildcards[n] = true
		}
	}
	for _, r := range rows {
		ours := marked(r.comment, p.mark)
		if r.name != "" && (ours || asked[canonical(r.name)]) && !asked[r.name] {
			spelled[r.name] = true
		}
		if ours && r.comment != p.mark {
			comments[r.comment] = true
		}
		if w := wildcardOf(r.regexp); ours && w != "" {
			wildcards[w] = true
		}
		if ours && r.below {
			wildcards["*."+canonical(r.name)] = true
		}
	}
	p.full.spelled = slices.Sorted(maps.Keys(spelled))
	p.full.comments = slices.Sorted(maps.Keys(comments))
	for w := range wildcards {
		p.full.around[w] = surround(w, asked, rows)
	}
}

// judge makes entries and shadows of rows.
func (p *Provider) judge(asked map[string]bool, rows []row) providers.Listing {
	var v version
	if p.session != nil {
		v = p.session.version
	}
	p.last = listing{rows: make(map[string]row, len(rows)), asRow: map[string]bool{}, expressed: map[string]bool{}}
	for w, s := range p.full.around {
		p.last.asRow[w] = s.asRow(v)
	}
	for _, r := range rows {
		if marked(r.comment, p.mark) {
			p.last.expressed[wildcardOf(r.regexp)] = true
		}
	}
	var out providers.Listing
	shadows := newShadows(asked)
	for _, r := range rows {
		p.last.rows[r.id] = r
		for _, name := range p.namesOf(r, asked) {
			e, ok := r.entry(name.name, p.mark)
			if !ok {
				continue
			}
			e.Fixed = e.Fixed || name.fixed
			if name.misplaced {
				e.TTL = unknownTTL
			}
			out.Entries = append(out.Entries, e)
		}
		shadows.see(r, marked(r.comment, p.mark))
	}
	for w, s := range p.full.around {
		if asked[w] && !p.last.asRow[w] {
			shadows.under(w, s.below)
		}
	}
	p.last.onlyA = onlyA(asked, out.Entries)
	out.Shadows = shadows.found
	slices.SortFunc(out.Shadows, func(a, b providers.Shadow) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Text, b.Text))
	})
	return out
}

// listed is a name that a row is listed under.
type listed struct {
	name      string
	fixed     bool // it may not be changed as what it is listed as
	misplaced bool // it stands there in a form that does not fit (any more)
}

// namesOf gives the names that a row of addresses is listed under.
func (p *Provider) namesOf(r row, asked map[string]bool) []listed {
	ours := marked(r.comment, p.mark)
	name := canonical(r.name)
	switch {
	case r.regexp != "":
		w := wildcardOf(r.regexp)
		if w == "" || !ours && !asked[w] {
			return nil
		}
		return []listed{{name: w, misplaced: ours && p.last.asRow[w]}}
	case r.below:
		w := "*." + name
		if ours && p.widened(name, asked) {
			return []listed{{name: name, misplaced: true}}
		}
		var out []listed
		if ours || asked[w] {
			out = append(out, listed{name: w, misplaced: ours && !p.last.asRow[w]})
		}
		if !ours && asked[name] {
			// As a record of that name alone it could only be made one.
			out = append(out, listed{name: name, fixed: true})
		}
		return out
	case ours:
		return []listed{{name: name, misplaced: strings.HasPrefix(name, "*.")}}
	case asked[r.name] && !strings.HasPrefix(name, "*."):
		return []listed{{name: name}}
	default:
		return nil
	}
}

// widened says whether a row of ours that stands for all names below its own, too, is one
// of that name alone, which somebody has widened.
func (p *Provider) widened(name string, asked map[string]bool) bool {
	w := "*." + name
	return asked[name] && !p.last.asRow[w] && (!asked[w] || p.last.expressed[w])
}

// onlyA gives the names that have an A record in force and no AAAA record.
func onlyA(asked map[string]bool, entries []providers.Entry) []string {
	has := map[string]string{}
	for _, e := range entries {
		if !e.Disabled && asked[e.Name] && has[e.Name] != "AAAA" {
			has[e.Name] = e.Key().Type()
		}
	}
	maps.DeleteFunc(has, func(_, kind string) bool { return kind != "A" })
	return slices.Sorted(maps.Keys(has))
}
