package config

import (
	"fmt"
	"slices"

	"github.com/dnsteer/dnsteer/sites"
)

// doubtUnused warns of pools that no service names, and of sites that no service
// has: they are watched, and their nodes are never answered. A configuration
// without services means that.
func (b *builder) doubtUnused(k *siteKeys, s *sites.Site, u *usage) {
	if len(b.cfg.Sites.Services) == 0 {
		return
	}
	told := false
	for i := range k.Pools {
		p := &k.Pools[i]
		if name := string(p.Name.V); !u.pools[name] {
			// A pool that the site has as well is not the one that was meant.
			missing := slices.DeleteFunc(slices.Clone(u.names), func(other string) bool {
				return slices.ContainsFunc(s.Pools, func(q sites.Pool) bool { return q.Name == other })
			})
			b.warn(p.At, "no service uses the pool %s: it is never answered%s%s", name, b.elsewhere(k, nearest(name, missing)), Suggest(name, missing))
			told = true
		}
	}
	if !u.sites[s.Name] && !told && atSite(k) {
		b.warn(k.At, "no service has the site %s: its nodes are watched and never answered%s", s.Name, b.elsewhere(k, ""))
	}
}

// elsewhere is the clause on whose answers the clients of a site get for
// services that it does not have: those with the pool, or any where that is
// empty and the site has none at all; "" where nobody asks.
func (b *builder) elsewhere(k *siteKeys, pool string) string {
	site := string(k.Name.V)
	if !atSite(k) || pool == "" && b.has(site) {
		return ""
	}
	for i := range b.cfg.Sites.Services {
		s := &b.cfg.Sites.Services[i]
		if (pool == "" || s.Pool == pool) && len(s.Sites) > 0 && len(s.Hosts) > 0 && !slices.Contains(s.Sites, site) {
			return fmt.Sprintf(", and clients of %s get the answer of %s for %s", site, words(s.Sites), s.Hosts[0])
		}
	}
	return ""
}

// atSite says whether clients belong to a site.
func atSite(k *siteKeys) bool { return len(k.Clients) > 0 || len(k.Resolver) > 0 }

// usage is what services name.
type usage struct {
	// pools are those beside the default one, names the same in their order.
	pools map[string]bool
	names []string
	// sites are those whose nodes are ever answered: for a service that they have, or in
	// place of a site that has one (A4).
	sites map[string]bool
}

func (c *Config) usage() *usage {
	next := make(map[string]string, len(c.Sites.Sites))
	for i := range c.Sites.Sites {
		next[c.Sites.Sites[i].Name] = c.Sites.Sites[i].EmergencySite
	}
	u := &usage{sites: make(map[string]bool), pools: make(map[string]bool)}
	for i := range c.Sites.Services {
		s := &c.Sites.Services[i]
		if s.Pool != sites.DefaultPool && !u.pools[s.Pool] {
			u.pools[s.Pool] = true
			u.names = append(u.names, s.Pool)
		}
		for _, name := range s.Sites {
			for ; name != "" && !u.sites[name]; name = next[name] {
				u.sites[name] = true
			}
		}
	}
	return u
}
