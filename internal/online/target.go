package online

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/connect"
	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// within bounds what a target may take to say what it is and what it holds.
const within = 30 * time.Second

// logins are the circuits of this look, by who logs in where: each is tried once.
type logins map[any]*providers.Circuit

// guarded is a server behind the circuit of its credentials.
type guarded struct {
	connect.Server
	circuit *providers.Circuit
}

// servers gives those of a target.
func (l logins) servers(t *config.Target) (list []guarded) {
	for _, s := range connect.Servers(t) {
		c := l[s.Login]
		if s.Login == nil || c == nil {
			c = providers.NewCircuit(1)
		}
		if s.Login != nil {
			l[s.Login] = c
		}
		list = append(list, guarded{s, c})
	}
	return list
}

// target looks at all servers of a target.
func target(ctx context.Context, cfg *config.Config, t *config.Target, servers []guarded) (list []Finding) {
	for i := range servers {
		s := &servers[i]
		l := look{about: t.Name + " (" + s.Name + ")", cfg: cfg, target: t, traits: s.Traits}
		ctx, cancel := context.WithTimeout(ctx, within)
		l.at(ctx, s)
		cancel()
		list = append(list, l.list...)
	}
	return list
}

// look is a look at one server.
type look struct {
	about  string
	cfg    *config.Config
	target *config.Target
	traits providers.Traits
	list   []Finding
}

func (l *look) say(g Grade, format string, args ...any) {
	l.list = append(l.list, Finding{About: l.about, Grade: g, Text: fmt.Sprintf(format, args...)})
}

func (l *look) at(ctx context.Context, s *guarded) {
	p, err := s.Connect()
	if err != nil {
		l.say(Failed, "%v", err)
		return
	}
	p = s.circuit.Guard(p)
	defer func() { _ = p.Close() }() // what was asked has been answered
	want := l.possible()
	var names []string
	for _, r := range want {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	// The listing first: what is said of names is of those that were listed.
	listing, listErr := p.List(ctx, names)
	if class, _ := providers.ClassOf(listErr); class == providers.Denied {
		l.say(Failed, "%v. Each look tries refused credentials once: mend them before the next, for some servers shut an address out after a few (AdGuard Home after five, for 15 minutes)", listErr)
		return
	}
	if listErr != nil {
		l.say(Failed, "%v", listErr)
	}
	in, err := p.Inspect(ctx)
	if err != nil {
		if listErr == nil { // it was said already
			l.say(Failed, "%v", err)
		}
		return
	}
	l.inspected(in)
	if listErr == nil {
		l.listed(want, listing, in.Product)
	}
}

// quoted is a name as a shell takes it: a wildcard would stand for files.
func quoted(name string) string {
	if strings.HasPrefix(name, "*") {
		return "'" + name + "'"
	}
	return name
}

func (l *look) inspected(in providers.Inspection) {
	for _, f := range in.Findings {
		switch f.Severity {
		case sites.Critical:
			l.say(Failed, "%s", f.Text)
		case sites.Warning:
			l.say(Warning, "%s", f.Text)
		default:
			l.say(Note, "%s", f.Text)
		}
	}
	if in.TTL > 0 {
		l.say(Note, "its records live %s in caches, as all records there do", in.TTL)
	}
}

// listed holds what stands there against what could ever be pushed there.
func (l *look) listed(want []providers.Record, listing providers.Listing, product string) {
	plan := providers.Make(providers.Input{Desired: want, Listing: listing, Traits: l.traits, Policy: providers.Policy{DeleteGuard: 100}})
	for _, c := range plan.Conflicts {
		l.say(Failed, "%s", c.Text())
	}
	for _, r := range plan.Satisfied {
		if l.traits.Marks {
			l.say(Failed, "%s %s stands there and is not dnsteer's, so it is left alone and does not move: take it over with \"dnsteer target adopt %s %s\"", r.Key(), r.Addr, l.target.Name, quoted(r.Name))
		} else {
			l.say(Note, "%s %s stands there; unless dnsteer has written it, take it over with \"dnsteer target adopt %s %s\"", r.Key(), r.Addr, l.target.Name, quoted(r.Name))
		}
	}
	for _, s := range listing.Shadows {
		l.say(Warning, "%s: %s", s.Name, s.Text)
	}
	ours := 0
	for _, e := range listing.Entries {
		if e.Marked {
			ours++
		}
	}
	text := fmt.Sprintf("%s: can be reached, logged in to and read; %s of the configured names", product, plural.Of(len(listing.Entries), "record"))
	if l.traits.Marks {
		text += fmt.Sprintf(", %d of them dnsteer's", ours)
	}
	l.list = slices.Insert(l.list, 0, Finding{About: l.about, Grade: OK, Text: text})
}

// possible lists every record that may ever be pushed to the target: of the
// services of its own site, and of others, which its clients get as well, each with the
// sites that may stand in for it, or for those (A4).
func (l *look) possible() (list []providers.Record) {
	for i := range l.cfg.Sites.Services {
		svc := &l.cfg.Sites.Services[i]
		names := svc.Sites
		if slices.Contains(names, l.target.Site) {
			names = []string{l.target.Site}
		}
		var addrs []netip.Addr
		ttl := svc.TTL
		for _, name := range names {
			s := siteNamed(&l.cfg.Sites, name)
			if s == nil {
				continue
			}
			if ttl == 0 {
				ttl = s.TTL
			}
			for visited := map[*sites.Site]bool{}; s != nil && !visited[s]; s = siteNamed(&l.cfg.Sites, s.EmergencySite) {
				visited[s] = true
				addrs = append(addrs, addresses(s, svc.Pool)...)
			}
		}
		for _, h := range svc.Hosts {
			if !l.target.Takes(h) {
				continue
			}
			for _, a := range addrs {
				list = append(list, providers.Record{Name: h, Addr: a, TTL: ttl})
			}
		}
	}
	return list
}

func siteNamed(c *sites.Config, name string) *sites.Site {
	for i := range c.Sites {
		if c.Sites[i].Name == name {
			return &c.Sites[i]
		}
	}
	return nil
}

// addresses lists what a site may answer for a pool: the pool's nodes and its
// page that says sorry, or all nodes where it has no such pool.
func addresses(s *sites.Site, pool string) (list []netip.Addr) {
	p := &s.Pools[0]
	for i := range s.Pools {
		if s.Pools[i].Name == pool {
			p = &s.Pools[i]
		}
	}
	for _, n := range p.Nodes {
		list = append(list, s.Nodes[n].Addresses...)
		list = append(list, s.Nodes[n].Secondary...)
	}
	return append(list, p.Sorry...)
}
