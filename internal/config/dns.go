package config

import (
	"net/netip"
	"slices"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/sites"
)

// dns resolves what the built-in server needs.
func (b *builder) dns() {
	k := b.file.DNS
	if k == nil {
		if len(b.file.Services) > 0 && len(b.file.Targets) == 0 {
			b.fault(b.file.Services[0].At, "services are published nowhere, expected the built-in server or targets: add the key \"dns\" or \"targets\" at the top")
		}
		return
	}
	d := &dnsserver.Config{Listen: unwrap(k.Listen), Views: b.views()}
	seen := newNames(b.report, "listen address")
	for _, l := range k.Listen {
		seen.add(Value[string]{V: l.V.String(), At: l.At})
	}
	if len(b.file.Sites) > 0 {
		d.DefaultSite = string(b.file.Sites[0].Name.V)
	}
	if k.DefaultSite.Set {
		d.DefaultSite = k.DefaultSite.V
		if _, ok := b.siteAt[k.DefaultSite.V]; !ok {
			b.unknownName(k.DefaultSite, "there is no site", b.siteNames())
		}
	}
	d.AllowQuery = b.allowed(k, d.Views)
	d.Keys = b.tsigKeys(k)
	d.RateLimit = b.rateLimit(&k.RateLimit)
	if q := k.QueryLog; q != nil {
		d.QueryLog = dnsserver.QueryLog{Every: q.Every.V, Clients: q.Clients.V}
	}
	d.ServerID, d.Version = string(k.ServerID.V), string(k.Version.V)
	zones := newNames(b.report, "zone")
	tables := make([]*zoneTable, len(k.Zones))
	for i := range k.Zones {
		z := &k.Zones[i]
		name := zoneName(z)
		zones.add(text(z.Name))
		tables[i] = b.zone(z, name)
		zone := dnsserver.Zone{Name: name, Records: tables[i].records}
		zone.Transfer, zone.Notify = b.transfer(k, z, d.DefaultSite)
		zone.DNSSEC = b.dnssec(z, tables[i])
		d.Zones = append(d.Zones, zone)
	}
	b.place(k, tables)
	for i := range b.cfg.Sites.Services {
		if s := b.dnsService(k, &b.cfg.Sites.Services[i]); len(s.Hosts) > 0 && len(s.Sites) > 0 {
			d.Services = append(d.Services, s)
		}
	}
	b.doubtDenials(k, tables)
	b.cfg.DNS = d
}

// dnsService gives a service the TTLs of its sites (A9), without the sites and
// the hosts that the built-in server does not answer for.
func (b *builder) dnsService(k *dnsKeys, s *sites.Service) dnsserver.Service {
	out := dnsserver.Service{Pool: s.Pool}
	for _, h := range s.Hosts {
		if zoneOf(h, k.Zones) >= 0 {
			out.Hosts = append(out.Hosts, h)
		}
	}
	for _, name := range s.Sites {
		i := b.siteAt[name]
		if site := &b.cfg.Sites.Sites[i]; b.file.Sites[i].publishes() {
			out.Sites = append(out.Sites, dnsserver.ServiceSite{Site: name, TTL: ttlOf(s, site), TTLUnsettled: site.TTLUnsettled})
		}
	}
	return out
}

// views says which site a client belongs to. A prefix belongs to one site; a
// resolver that two sites share belongs to the first.
func (b *builder) views() []dnsserver.View {
	type owner struct {
		site string
		at   Pos
	}
	owners := make(map[netip.Prefix]owner)
	for i := range b.file.Sites {
		k := &b.file.Sites[i]
		for _, c := range k.Clients {
			if first, twice := owners[c.V]; twice {
				b.fault(c.At, "the prefix %s stands twice, first at site %s (%s): its clients can belong to one site", c.V, first.site, first.at)
				continue
			}
			owners[c.V] = owner{string(k.Name.V), c.At}
		}
	}
	var views []dnsserver.View
	for i := range b.file.Sites {
		k := &b.file.Sites[i]
		v := dnsserver.View{Site: string(k.Name.V), Clients: unwrap(k.Clients)}
		for _, r := range k.Resolver {
			addr := netip.AddrPort(r.V.Address.V).Addr()
			host := netip.PrefixFrom(addr, addr.BitLen())
			if first, other := owners[host]; other && first.site != v.Site {
				b.warn(r.V.Address.At, "the address %s belongs to site %s already (%s): questions from it get the answers of that site", addr, first.site, first.at)
				continue
			}
			owners[host] = owner{v.Site, r.V.Address.At}
			if !slices.Contains(v.Resolvers, addr) {
				v.Resolvers = append(v.Resolvers, addr)
			}
		}
		views = append(views, v)
	}
	return views
}

// private lists who may ask without being named.
func private() []netip.Prefix {
	var list []netip.Prefix
	for _, p := range []string{
		"127.0.0.0/8", "::1/128", // loopback
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // RFC 1918
		"169.254.0.0/16", "fe80::/10", // link-local
		"fc00::/7", // RFC 4193
	} {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

// allowed resolves allow_query; nil lets anybody ask.
func (b *builder) allowed(k *dnsKeys, views []dnsserver.View) []netip.Prefix {
	var list []netip.Prefix
	for _, q := range k.AllowQuery {
		if q.V.any {
			if len(k.AllowQuery) > 1 {
				b.fault(q.At, "found any beside prefixes, expected one or the other")
			}
			return nil
		}
		list = append(list, q.V.prefix)
	}
	if len(list) > 0 {
		b.shutOut(k, list)
		return list
	}
	list = private()
	for _, l := range k.Listen { // who looks on this machine whether it answers
		if a := l.V.Addr(); !a.IsUnspecified() {
			list = append(list, netip.PrefixFrom(a.WithZone(""), a.BitLen()))
		}
	}
	for _, v := range views {
		list = append(list, v.Clients...)
		for _, r := range v.Resolvers {
			list = append(list, netip.PrefixFrom(r, r.BitLen()))
		}
	}
	return append(list, unwrap(secondaries(k))...)
}

// shutOut warns of clients of a site and of secondaries that may not ask.
func (b *builder) shutOut(k *dnsKeys, list []netip.Prefix) {
	covered := func(p netip.Prefix) bool {
		return slices.ContainsFunc(list, func(a netip.Prefix) bool { return covers(a, p) })
	}
	for _, p := range secondaries(k) {
		if !covered(p.V) {
			b.warn(p.At, "allow_query does not let secondaries in %s ask", p.V)
		}
	}
	for i := range b.file.Sites {
		k := &b.file.Sites[i]
		for _, c := range k.Clients {
			if !covered(c.V) {
				b.warn(c.At, "allow_query does not let clients of %s ask", c.V)
			}
		}
		for _, r := range k.Resolver {
			a := netip.AddrPort(r.V.Address.V).Addr()
			if !covered(netip.PrefixFrom(a, a.BitLen())) {
				b.warn(r.V.Address.At, "allow_query does not let the resolver %s ask", a)
			}
		}
	}
}

// place holds the services' hosts against the zones.
func (b *builder) place(k *dnsKeys, tables []*zoneTable) {
	for i := range b.file.Services {
		for _, h := range b.file.Services[i].Hosts {
			host := string(h.V)
			z := zoneOf(host, k.Zones)
			if !b.needsZone(i, host) && z < 0 {
				continue
			}
			if z < 0 {
				var known []string
				for j := range k.Zones {
					known = append(known, zoneName(&k.Zones[j]))
				}
				b.fault(h.At, "the host %q is in no zone of the built-in server, expected one in %s", host, clipWords(known))
				continue
			}
			if r := tables[z].conflict(host); r != nil {
				b.fault(h.At, "the host %q is a service and stands in the zone too (%s at %s): remove one of the two", host, dns.TypeToString[r.rr.Header().Rrtype], r.at)
			} else if r := tables[z].cut(host); r != nil {
				b.fault(h.At, "the host %q lies below the %s record of %q at %s, where this zone does not answer", host, dns.TypeToString[r.rr.Header().Rrtype], trimDot(r.rr.Header().Name), r.at)
			}
		}
	}
}
