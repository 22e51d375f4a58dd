package rehearsal

import (
	"slices"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// lookedUp gives the names as the clients of every site find them: those that the
// built-in server answers, and those that are pushed to targets alone, which is all
// of them where there is no built-in server.
func lookedUp(cfg *config.Config) *dnsserver.Config {
	c := &dnsserver.Config{}
	if cfg.DNS != nil {
		*c = *cfg.DNS
	} else if len(cfg.Sites.Sites) > 0 {
		c.DefaultSite = cfg.Sites.Sites[0].Name
	}
	c.Zones = unsigned(c.Zones)
	c.Services = nil
	for i := range cfg.Sites.Services {
		c.Services = append(c.Services, service(cfg, i))
	}
	return c
}

// service gives a service of the rules at all of its sites. What is pushed keeps one
// TTL (A9).
func service(cfg *config.Config, i int) dnsserver.Service {
	s := &cfg.Sites.Services[i]
	out := dnsserver.Service{Hosts: s.Hosts, Pool: s.Pool}
	for _, name := range s.Sites {
		site := &cfg.Sites.Sites[slices.IndexFunc(cfg.Sites.Sites, func(x sites.Site) bool { return x.Name == name })]
		at := dnsserver.ServiceSite{Site: site.Name, TTL: site.TTL}
		if s.TTL > 0 {
			at.TTL = s.TTL
		}
		if at.TTLUnsettled = at.TTL; cfg.Builtin(site.Name) {
			at.TTLUnsettled = site.TTLUnsettled
		}
		out.Sites = append(out.Sites, at)
	}
	return out
}

// unsigned gives the zones without signing, for what is looked up is the same and
// the controller's keys are not a rehearsal's, and a zone for names that are in none.
func unsigned(zones []dnsserver.Zone) []dnsserver.Zone {
	zones = slices.Clone(zones)
	rest := true
	for i := range zones {
		zones[i].DNSSEC = nil
		rest = rest && dns.Fqdn(zones[i].Name) != "."
	}
	if rest {
		at := dns.RR_Header{Name: ".", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 60}
		ns := at
		ns.Rrtype = dns.TypeNS
		zones = append(zones, dnsserver.Zone{Name: ".", Records: []dns.RR{
			&dns.SOA{Hdr: at, Ns: "ns.invalid.", Mbox: "hostmaster.invalid.", Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: 60},
			&dns.NS{Hdr: ns, Ns: "ns.invalid."},
		}})
	}
	return zones
}
