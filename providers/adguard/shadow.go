package adguard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// shadows finds what may be answered in place of the rewrites of names.
func shadows(rows []row, names map[string]bool) []providers.Shadow {
	own := map[string][]row{} // answered rewrites of each name
	var wild []row            // answered wildcards
	for _, r := range rows {
		if r.off {
			continue
		}
		own[r.name()] = append(own[r.name()], r)
		if strings.HasPrefix(r.Domain, "*.") {
			wild = append(wild, r)
		}
	}
	var list []providers.Shadow
	for name := range names {
		for _, r := range own[name] {
			if text := hides(r); text != "" {
				list = append(list, providers.Shadow{Name: name, Text: text})
			}
		}
		if strings.HasPrefix(name, "*.") {
			list = append(list, wildcardShadows(name, own, names)...)
		} else {
			list = append(list, leaks(name, own[name], wild)...)
		}
	}
	slices.SortFunc(list, func(a, b providers.Shadow) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Text, b.Text)
	})
	return slices.Compact(list)
}

// hides says how a rewrite that is no address comes before those that are.
func hides(r row) string {
	_, address := r.addr()
	switch {
	case address:
		return ""
	case r.Answer == "A" || r.Answer == "AAAA":
		return fmt.Sprintf("%s has questions for %s answered by the upstream, whatever other rewrites say; delete it there", r.text(), r.Answer)
	case strings.EqualFold(r.Answer, r.Domain):
		return fmt.Sprintf("%s has all questions answered by the upstream, whatever other rewrites say; delete it there", r.text())
	default:
		return fmt.Sprintf("%s is a CNAME, which is answered in place of addresses; delete it there", r.text())
	}
}

func family(r row) (sites.Family, bool) {
	addr, ok := r.addr()
	return sites.FamilyOf(addr), ok
}

// leaks finds wildcards that answer for a type of which the name itself has no
// rewrite.
func leaks(name string, own []row, wild []row) (list []providers.Shadow) {
	if len(own) == 0 {
		return nil
	}
	for _, f := range []sites.Family{sites.IPv4, sites.IPv6} {
		if slices.ContainsFunc(own, func(r row) bool { of, ok := family(r); return ok && of == f }) {
			continue
		}
		for _, w := range wild {
			if of, ok := family(w); ok && of == f && under(name, w.Domain) {
				k := providers.Key{Name: name, Family: f}
				list = append(list, providers.Shadow{Name: name, Text: fmt.Sprintf("%s is answered for questions for %s of %s too, which has no %s of its own; name the wildcard more narrowly, or give the name addresses of both kinds", w.text(), k.Type(), name, k.Type())})
				break
			}
		}
	}
	return list
}

func under(name, wildcard string) bool {
	return strings.HasSuffix(name, strings.ToLower(strings.TrimPrefix(wildcard, "*"))) && name != wildcard
}

// most is how many names a text lists.
const most = 3

// wildcardShadows tells of several values on a wildcard, of which one is
// answered, and of names below it that are answered otherwise.
func wildcardShadows(name string, own map[string][]row, names map[string]bool) (list []providers.Shadow) {
	for _, f := range []sites.Family{sites.IPv4, sites.IPv6} {
		var values []string
		for _, r := range own[name] {
			if of, ok := family(r); ok && of == f && !slices.Contains(values, r.Answer) {
				values = append(values, r.Answer)
			}
		}
		if len(values) > 1 {
			list = append(list, providers.Shadow{Name: name, Text: fmt.Sprintf("AdGuard Home answers a wildcard with its first rewrite only: of %s it is %s", strings.Join(values, ", "), values[0])})
		}
	}
	var below []string
	for other := range own {
		if !names[other] && under(other, name) {
			below = append(below, other)
		}
	}
	if len(below) == 0 {
		return list
	}
	slices.Sort(below)
	text := strings.Join(below[:min(len(below), most)], ", ")
	if len(below) > most {
		text += fmt.Sprintf(" and %d more", len(below)-most)
	}
	return append(list, providers.Shadow{Name: name, Text: text + " below it have rewrites that dnsteer did not write: they do not move with the wildcard"})
}
