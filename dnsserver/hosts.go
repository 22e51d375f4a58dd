package dnsserver

import (
	"fmt"
	"slices"

	"github.com/miekg/dns"
)

// addServices lays the services' names over the zones.
func (b *builder) addServices(drafts map[string]*draft) {
	by := map[string][]int{} // services of a host
	var hosts []string
	for i, s := range b.cfg.Services {
		if len(s.Sites) == 0 {
			b.fail("service %s has no site", firstHost(s))
		}
		for _, h := range s.Hosts {
			wire, err := wireName(h)
			if err != nil {
				b.fail("host %q: %w", h, err)
				continue
			}
			if by[wire] == nil {
				hosts = append(hosts, wire)
			}
			by[wire] = append(by[wire], i)
		}
	}
	merged := map[string]*service{}
	for _, wire := range hosts {
		key := fmt.Sprint(by[wire])
		svc := merged[key]
		if svc == nil {
			var err error
			if svc, err = b.service(wire, by[wire]); err != nil {
				b.errs = append(b.errs, err)
				continue
			}
			merged[key] = svc
		}
		if err := b.addHost(drafts, wire, svc); err != nil {
			b.errs = append(b.errs, err)
		}
	}
}

func firstHost(s Service) string {
	if len(s.Hosts) == 0 {
		return "without hosts"
	}
	return s.Hosts[0]
}

// service joins the services that share a host, each at sites of its own.
func (b *builder) service(wire string, indices []int) (*service, error) {
	svc := &service{}
	for _, i := range indices {
		s := &b.cfg.Services[i]
		for _, at := range s.Sites {
			site := b.site(at.Site)
			if svc.at(site) != none {
				return nil, fmt.Errorf("host %s is in two services at site %s: remove it from one", textName(wire), at.Site)
			}
			svc.entries = append(svc.entries, serviceEntry{
				site: site, pool: b.pools(poolKey{at.Site, s.Pool}), ttl: at.TTL, unsettled: at.TTLUnsettled,
			})
			if svc.bySite != nil {
				svc.bySite[site] = int32(len(svc.entries) - 1)
			} else if len(svc.entries) > fewEntries {
				svc.bySite = slices.Repeat([]int32{none}, len(b.siteNames))
				for n := range svc.entries {
					svc.bySite[svc.entries[n].site] = int32(n)
				}
			}
		}
	}
	b.services = append(b.services, svc)
	svc.number = len(b.services)
	return svc, nil
}

// addHost puts a service's name into its zone.
func (b *builder) addHost(drafts map[string]*draft, wire string, svc *service) error {
	d := deepest(drafts, wire)
	if d == nil {
		return fmt.Errorf("host %s lies in no zone of this server: add the zone or remove the host", textName(wire))
	}
	if len(svc.entries) == 0 {
		return nil // reported already
	}
	for t := range d.rrs[wire] {
		// The apex has records that no service can give.
		if wire != d.wire || t == dns.TypeA || t == dns.TypeAAAA || t == dns.TypeCNAME {
			return fmt.Errorf("host %s is defined by a service and by a record (%s) of zone %s: remove one of them", textName(wire), typeName(t), d.text)
		}
	}
	d.node(wire).service = svc
	d.moving = true
	for _, e := range svc.entries {
		if !slices.Contains(b.feeds[e.pool], d.zone) {
			b.feeds[e.pool] = append(b.feeds[e.pool], d.zone)
		}
		d.lines = append(d.lines, fmt.Sprintf("service %q %s/%s", wire, e.pool.key.site, e.pool.key.pool))
	}
	return nil
}
