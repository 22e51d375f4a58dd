package sites

import (
	"slices"
	"strings"
)

// given is what a pool answered before a command.
type given struct {
	pool   *pool
	spoken spoken
	text   string
}

// given gives what the pools of a command's site answer that services use; nil where
// it names none.
func (m *Machine) given(c *Command) (list []given) {
	s := m.byName[c.Site]
	if s == nil {
		return nil
	}
	for _, p := range s.pools {
		if !p.used(m.cfg.Services) {
			continue
		}
		list = append(list, given{p, p.spoken(), m.givesText(p)})
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
		how := ""
		switch p.Source {
		case Emergency:
			how = ": " + p.From + " steps in, for no node of its own serves"
		case LastResort, Removed:
			how = ", as a last resort: nothing can serve it"
		case Own, Empty:
		}
		switch {
		case gives != was.text:
			said = append(said, p.label()+" answers "+gives+" now"+how+".")
		case takes || now.source != was.spoken.source || now.from != was.spoken.from:
			said = append(said, p.label()+" still answers "+gives+how+".")
		}
	}
	return strings.Join(said, " ")
}
