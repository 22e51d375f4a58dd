package config

import (
	"iter"

	"github.com/dnsteer/dnsteer/sites"
)

// lookup finds what belongs to a site: nothing that is done for each part of a
// configuration goes through all of it.
type lookup struct {
	site     map[string]int      // in Sites.Sites; the first of two of the same name
	services map[string][]int    // in Sites.Services
	hosts    map[string]bool     // of services, wildcards as they are written
	targets  map[string][]int    // in Targets
	builtin  map[string]bool     // whether the built-in server has a service of it
	pool     map[poolAtSite]int  // in Site.Pools; the first of two of the same name
	named    map[string][]string // the sites with a pool of that name, in their order
}

type poolAtSite struct{ site, pool string }

// lookUpPools is to be called when the sites are there, and each of the others when
// what it is about is.
func (c *Config) lookUpPools(site map[string]int) {
	c.find = lookup{site: site, pool: make(map[poolAtSite]int), named: make(map[string][]string)}
	for i := range c.Sites.Sites {
		s := &c.Sites.Sites[i]
		if site[s.Name] != i {
			continue
		}
		for j := range s.Pools {
			at := poolAtSite{s.Name, s.Pools[j].Name}
			if _, twice := c.find.pool[at]; !twice {
				c.find.pool[at] = j
			}
			c.find.named[at.pool] = append(c.find.named[at.pool], s.Name)
		}
	}
}

func (c *Config) lookUpServices() {
	c.find.services, c.find.hosts = make(map[string][]int), make(map[string]bool)
	for i := range c.Sites.Services {
		for _, h := range c.Sites.Services[i].Hosts {
			c.find.hosts[h] = true
		}
		for _, name := range c.Sites.Services[i].Sites {
			c.find.services[name] = append(c.find.services[name], i)
		}
	}
}

func (c *Config) lookUpPublished() {
	c.find.targets, c.find.builtin = make(map[string][]int), make(map[string]bool)
	for i := range c.Targets {
		c.find.targets[c.Targets[i].Site] = append(c.find.targets[c.Targets[i].Site], i)
	}
	if c.DNS == nil {
		return
	}
	for i := range c.DNS.Services {
		for _, s := range c.DNS.Services[i].Sites {
			c.find.builtin[s.Site] = true
		}
	}
}

// siteNamed gives a site, or nil.
func (c *Config) siteNamed(name string) *sites.Site {
	i, known := c.find.site[name]
	if !known {
		return nil
	}
	return &c.Sites.Sites[i]
}

// poolNamed gives a pool of a site, or one without nodes.
func (c *Config) poolNamed(s *sites.Site, name string) *sites.Pool {
	i, known := c.find.pool[poolAtSite{s.Name, name}]
	if !known {
		return &sites.Pool{}
	}
	return &s.Pools[i]
}

// servicesOf gives the services of a site with their numbers.
func (c *Config) servicesOf(site string) iter.Seq2[int, *sites.Service] {
	return func(yield func(int, *sites.Service) bool) {
		for _, i := range c.find.services[site] {
			if !yield(i, &c.Sites.Services[i]) {
				return
			}
		}
	}
}
