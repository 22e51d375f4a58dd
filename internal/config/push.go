package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// push is what it takes to have a site's answers at one of its targets; the zero
// push is the built-in server's.
type push struct {
	// secondaries: it is those that take a zone with the site's answers.
	secondaries bool
	target      *Target
	// records that a move of everything writes, at most, and what each takes.
	records int
	each    time.Duration
	// ttl is the fixed one of what is pushed (A9).
	ttl time.Duration
	// own: it is the server's, as it comes.
	own bool
}

// pushes lists the ways in which a site's answers are published.
func (c *Config) pushes(s *sites.Site) []push {
	var list []push
	for _, i := range c.find.targets[s.Name] {
		list = append(list, c.pushTo(&c.Targets[i], s))
	}
	if len(list) == 0 || c.find.builtin[s.Name] {
		list = append(list, push{})
	}
	if c.DNS != nil && handed(c.DNS.Zones, s.Name) {
		list = append(list, push{secondaries: true, ttl: c.quietTTL(s)})
	}
	return list
}

func (c *Config) pushTo(t *Target, s *sites.Site) push {
	p := push{target: t, each: updateEach}
	for i := range c.Sites.Services {
		svc := &c.Sites.Services[i]
		own := slices.Contains(svc.Sites, s.Name)
		for _, h := range svc.Hosts {
			switch {
			case !t.Takes(h):
			case own:
				p.records += c.mostAnswers(s, svc.Pool)
				p.ttl = max(p.ttl, ttlOf(svc, s))
			default: // its clients get what other sites answer
				p.records += c.mostOf(svc)
			}
		}
	}
	switch {
	case t.RouterOS != nil:
		p.each = routerosEach
	case t.AdGuard != nil && t.AdGuard[0].ManageTTL:
		p.each, p.ttl = adguardEach, t.AdGuard[0].TTL
	case t.AdGuard != nil:
		p.each, p.ttl, p.own = adguardEach, adguardTTL, true
	}
	return p
}

// chained is how far a chain of emergency sites is followed here: in a ring of many each
// would be gone through for each.
const chained = 16

// mostAnswers is how many addresses a pool answers at most: those of the site's
// own nodes, or of the nodes that stand in for them, or for those (A4).
func (c *Config) mostAnswers(s *sites.Site, pool string) int {
	most := answersOf(s, c.poolNamed(s, pool))
	other := c.siteNamed(s.EmergencySite)
	for i := 0; i < chained && other != nil && other != s; i++ {
		most = max(most, answersOf(other, c.poolNamed(other, pool)), answersOf(other, &other.Pools[0]))
		other = c.siteNamed(other.EmergencySite)
	}
	return most
}

// mostOf is how many addresses the sites of a service answer at most.
func (c *Config) mostOf(svc *sites.Service) (most int) {
	for _, name := range svc.Sites {
		most = max(most, c.mostAnswers(c.siteNamed(name), svc.Pool))
	}
	return most
}

func answersOf(s *sites.Site, p *sites.Pool) int {
	n := 0
	for _, i := range p.Nodes {
		own := len(s.Nodes[i].Addresses) + len(s.Nodes[i].Secondary)
		if p.Mode == sites.ActiveActive {
			n += own
		} else {
			n = max(n, own)
		}
	}
	return n
}

// in gives a failover's sum at this target.
func (p push) in(s Sum) Sum {
	s.push = p
	switch {
	case p.secondaries:
		s.Publish, s.TTL = transferring, p.ttl
	case p.target != nil:
		s.Target = p.target.Name
		s.Publish = publishing + time.Duration(p.records)*p.each
		s.TTL = p.ttl
	}
	return s
}

func (p push) text() string {
	if p.secondaries {
		return "publish: until the secondaries have taken and loaded it (NOTIFY, IXFR)"
	}
	if p.target == nil {
		return "publish: until the built-in server answers with it"
	}
	return fmt.Sprintf("publish: until %s has all of it (%s at most, %s each)", p.target.Name, plural(p.records, "record"), formatDuration(p.each))
}

func (p push) ttlText() string {
	switch {
	case p.secondaries:
		return "in caches: the TTL of the records at the secondaries, which stays as it is (rule A9)"
	case p.own:
		return "in caches: the TTL that AdGuard Home gives all rewrites, unless it was changed there (`dnsteer check --online` shows it)"
	case p.target.AdGuard != nil:
		return "in caches: the TTL that manage_ttl sets at " + p.target.Name
	default:
		return fmt.Sprintf("in caches: the TTL of the records at %s, which stays as it is (rule A9)", p.target.Name)
	}
}

// pushText says what the site's pushes to routers take, but for the one that the
// sum is about.
func (c *Config) pushText(s *sites.Site, told string) string {
	var b strings.Builder
	for _, p := range c.pushes(s) {
		if p.target != nil && p.target.RouterOS != nil && p.target.Name != told {
			fmt.Fprintf(&b, "  %s takes %s one after another (RouterOS, %s each): %s at most until all of them are there.\n",
				p.target.Name, plural(p.records, "record"), formatDuration(p.each), formatDuration(time.Duration(p.records)*p.each))
		}
	}
	return b.String()
}
