package routeros

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dnsteer/dnsteer/providers"
)

// shadows finds rows that may be answered in place of the names that were asked
// for.
type shadows struct {
	names []string
	asked map[string]bool
	found []providers.Shadow
}

func newShadows(asked map[string]bool) *shadows {
	s := &shadows{asked: asked}
	for n := range asked {
		s.names = append(s.names, n)
	}
	return s
}

// see looks at one row.
func (s *shadows) see(r row, ours bool) {
	name := canonical(r.name)
	_, isAddr := r.addr()
	switch {
	case r.disabled:
	case r.regexp != "":
		s.expression(r, ours)
	case r.below && !ours:
		for _, n := range s.names {
			if strings.HasSuffix(n, "."+name) && n != "*."+name {
				s.add(n, r, "answers for all names below its own; remove it, or its match-subdomain")
			}
		}
		if !isAddr && s.asked[name] {
			s.other(name, r)
		}
	case !s.asked[name]:
	case strings.HasPrefix(name, "*."):
		if !ours {
			s.add(name, r, "has a star in its name, of which nobody knows what the router makes; remove it")
		}
	case !isAddr:
		s.other(name, r)
	case r.name != name && !ours:
		s.add(name, r, "is the same name in other letters, and is answered together with ours; remove it, or write the name in lower case")
	}
}

// other is about a row of a name of ours that is no address.
func (s *shadows) other(name string, r row) {
	switch r.kind {
	case "CNAME", "NXDOMAIN", "FWD", "A", "AAAA":
		s.add(name, r, "may be answered in place of the addresses; remove it")
	}
}

// expression is about a regular expression, which the router tries before plain
// names.
func (s *shadows) expression(r row, ours bool) {
	wildcard := wildcardOf(r.regexp)
	if ours && wildcard != "" {
		return // what it hides is said of the wildcard
	}
	matches := matcher(r.regexp)
	for _, n := range s.names {
		if n == wildcard {
			continue // it is listed as that
		}
		// Which name below a wildcard is asked for is not known.
		if matches(strings.Replace(n, "*.", "dnsteer-any.", 1)) {
			s.add(n, r, "is a regular expression that fits, and is tried first; remove it, or have it not fit")
		}
	}
}

// matcher gives what tells whether an expression fits a name. One that cannot be
// read as the router may read it fits where its letters stand in the name.
func matcher(expr string) func(string) bool {
	if re, err := regexp.Compile(expr); err == nil {
		return re.MatchString
	}
	letters := strings.Trim(strings.NewReplacer(`\`, "", "*", "", "^", "", "$", "", "(", "", ")", "").Replace(expr), ".")
	return func(name string) bool { return strings.Contains(name, letters) }
}

// under tells of single names below a wildcard that stands there as an
// expression.
func (s *shadows) under(wildcard string, below []string) {
	for _, n := range below {
		name, whose := wildcard, "the record "+n
		if s.asked[n] {
			name, whose = n, "it"
		}
		s.found = append(s.found, providers.Shadow{
			Name: name,
			Text: fmt.Sprintf("the wildcard %s is tried before %s, as RouterOS cannot hold both apart here; give the wildcard another name", wildcard, whose),
		})
	}
}

func (s *shadows) add(name string, r row, text string) {
	s.found = append(s.found, providers.Shadow{Name: name, Text: fmt.Sprintf("the row %s of /ip/dns/static %s", r, text)})
}
