package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/sites"
)

// services resolves host names to pools of sites.
func (b *builder) services() {
	type hostAtSite struct{ host, site string }
	taken := make(map[hostAtSite]Pos)
	for i := range b.file.Services {
		k := &b.file.Services[i]
		b.known.fill(k, false)
		s := sites.Service{Pool: k.Pool.V, Sites: b.serviceSites(k), TTL: k.TTL.V}
		seen := newNames(b.report, "host")
		for _, h := range k.Hosts {
			host := string(h.V)
			if !seen.add(text(h)) {
				continue
			}
			s.Hosts = append(s.Hosts, host)
			for _, site := range s.Sites {
				at := hostAtSite{host, site}
				if first, twice := taken[at]; twice {
					b.fault(h.At, "the host %q has a service at site %s already, at %s", host, site, first)
					break
				}
				taken[at] = h.At
			}
		}
		b.cfg.Sites.Services = append(b.cfg.Sites.Services, s)
	}
	b.cfg.lookUpServices()
}

// serviceSites gives the sites of a service: those that are named, or all that
// have its pool.
func (b *builder) serviceSites(k *serviceKeys) []string {
	find := &b.cfg.find
	if len(k.Sites) == 0 {
		switch {
		case len(b.file.Sites) == 0:
			b.fault(k.At, "a service needs a site with nodes, expected at least one under \"sites\"")
		case len(find.named[k.Pool.V]) == 0:
			b.unknownName(Value[string]{V: k.Pool.V, At: k.Pool.At.or(k.At)}, "there is no pool", slices.Sorted(maps.Keys(find.named)))
		}
		return slices.Clone(find.named[k.Pool.V])
	}
	var list []string
	seen := newNames(b.report, "site")
	for _, ref := range k.Sites {
		i, ok := b.siteAt[ref.V]
		_, has := find.pool[poolAtSite{ref.V, k.Pool.V}]
		switch {
		case !ok:
			b.unknownName(ref, "there is no site", b.siteNames())
		case !seen.add(ref):
		case !has:
			b.fault(k.Pool.At.or(ref.At), "site %s has no pool %q, expected %s", ref.V, k.Pool.V, poolNames(&b.cfg.Sites.Sites[i]))
		default:
			list = append(list, ref.V)
		}
	}
	return list
}

func poolNames(s *sites.Site) string {
	var list []string
	for _, p := range s.Pools {
		list = append(list, p.Name)
	}
	return words(list)
}

// zoneOf gives the longest of the zones that a host lies in, or -1.
func zoneOf(host string, zones []zoneKeys) int {
	host = strings.TrimPrefix(host, "*.")
	best := -1
	for i := range zones {
		name := zoneName(&zones[i])
		if inside(host, name) && (best < 0 || len(name) > len(zoneName(&zones[best]))) {
			best = i
		}
	}
	return best
}

func zoneName(k *zoneKeys) string { return string(k.Name.V) }
