package routeros

import (
	"regexp"
	"slices"
	"strings"
)

// A wildcard, "*.apps.lan", stands at a router in one of two forms, of which
// neither is quite one:
//
//   - a regular expression for the names below apps.lan. It leaves apps.lan
//     itself alone, but is tried before the records of single names, so that it
//     hides one of www.apps.lan;
//   - from 7.5 a row apps.lan with match-subdomain, which answers for apps.lan
//     too, and would mix with a record of it.
//
// So it is the expression, but for a wildcard with single names below it whose
// own name is free, on a router that can do the other.

// expression is a wildcard's in the first form.
func expression(wildcard string) string {
	return `.*\.` + regexp.QuoteMeta(strings.TrimPrefix(wildcard, "*.")) + "$"
}

// wildcardOf gives the wildcard that an expression stands for, "" for none.
func wildcardOf(expr string) string {
	quoted, ok := strings.CutPrefix(expr, `.*\.`)
	if !ok {
		return ""
	}
	quoted, ok = strings.CutSuffix(quoted, "$")
	name := strings.ReplaceAll(quoted, `\.`, ".")
	if !ok || name == "" || name != canonical(name) || expression(name) != expr {
		return ""
	}
	return "*." + name
}

// covers says whether a name is below that of a wildcard.
func covers(wildcard, name string) bool {
	return name != wildcard && strings.HasSuffix(name, wildcard[1:])
}

// surroundings are the names that a wildcard has to get along with.
type surroundings struct {
	apex  bool     // its own name has records
	below []string // single names below it
}

// surround looks for them in the names that are ours and in the table.
func surround(wildcard string, asked map[string]bool, rows []row) surroundings {
	var s surroundings
	apex := wildcard[2:]
	see := func(name string) {
		switch {
		case name == apex:
			s.apex = true
		case covers(wildcard, name):
			s.below = append(s.below, name)
		}
	}
	for name := range asked {
		see(name)
	}
	for _, r := range rows {
		if !r.disabled && !r.below && r.name != "" {
			see(canonical(r.name))
		}
	}
	slices.Sort(s.below)
	s.below = slices.Compact(s.below)
	return s
}

// asRow says whether it is to stand there as a row with match-subdomain.
func (s surroundings) asRow(v version) bool {
	return v.subdomains() && len(s.below) > 0 && !s.apex
}
