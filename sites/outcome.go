package sites

import (
	"slices"
	"strings"
)

// given is what a pool answered before a command. Where the pool is of another site it
// is told of only if that changes.
type given struct {
	pool   *pool
	other  bool
	spoken spoken
	text   string
}

// given gives what the pools answer that services use: those of a command's site, and
// those that it serves as their emergency site. nil where the command names no site.
func (m *Machine) given(c *Command) (list []given) {
	s := m.byName[c.Site]
	if s == nil {
		return nil
	}
	for _, p := range s.pools {
		if p.used(m.cfg.Services) {
			list = append(list, given{p, false, p.spoken(), m.givesText(p)})
		}
	}
	for _, d := range s.dependents {
		for _, p := range d.pools {
			if d != s && p.used(m.cfg.Services) {
				list = append(list, given{p, true, p.spoken(), m.givesText(p)})
			}
		}
	}
	return list
}

// used says whether a service has the pool's answers. Where there are no services at
// all, any pool is what there is to tell of.
func (p *pool) used(services []Service) bool {
	for i := range services {
		if s := &services[i]; s.Pool == p.Name && slices.Contains(s.Sites, p.site.Name) {
			return true
		}
	}
	return len(services) == 0
}

// outcomeText says what a command that was carried out has made of the answers of its
// site, as sentences: what is answered otherwise now, and, where nodes were taken out,
// what is not.
func (m *Machine) outcomeText(c *Command, before []given) string {
	takes := c.Verb == Maintenance || c.Verb == Disable
	var said []string
	for _, was := range before {
		p, gives, now := was.pool, m.givesText(was.pool), was.pool.spoken()
		how, none := "", !p.any("", (*node).serving) // else a pause keeps it from one
		switch p.Source {
		case Emergency:
			how = ": " + p.From + " steps in"
			if none {
				how += ", for no node of its own serves"
			}
		case LastResort, Removed:
			how = ", as a last resort"
			if none {
				how += ": nothing can serve it"
			}
		case Own, Empty:
		}
		switch {
		case gives != was.text:
			said = append(said, p.label()+" answers "+gives+" now"+how+".")
		case takes && !was.other || now.source != was.spoken.source || now.from != was.spoken.from:
			said = append(said, p.label()+" still answers "+gives+how+".")
		}
	}
	return strings.Join(said, " ")
}
