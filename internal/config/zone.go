package config

import (
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/sites"
)

// Timers of an SOA record that is made from a zone's keys, in seconds, and the
// TTL of the records at the apex. The negative TTL is short: a name that is
// added must not stay unknown for long.
const (
	soaRefresh  = 3600
	soaRetry    = 600
	soaExpire   = 1209600
	soaNegative = 60
	apexTTL     = 3600
)

// maxAtName is how many records a name may have: more of the shortest kind do
// not fit into a message.
const maxAtName = 4095

// record is a record of a zone and where it stands.
type record struct {
	rr dns.RR
	at Pos
}

// zoneTable holds a zone's records.
type zoneTable struct {
	name    string
	records []dns.RR
	byName  map[string][]record // lower case, no final dot
}

// add takes a record in; false where its name has too many already.
func (t *zoneTable) add(r record) bool {
	name := trimDot(r.rr.Header().Name)
	if len(t.byName[name]) == maxAtName {
		return false
	}
	for _, other := range t.byName[name] {
		if dns.IsDuplicate(other.rr, r.rr) {
			return true // a record set holds each record once (RFC 2181, section 5)
		}
	}
	t.records = append(t.records, r.rr)
	t.byName[name] = append(t.byName[name], r)
	return true
}

func (t *zoneTable) find(name string, types ...uint16) *record {
	for i := range t.byName[name] {
		for _, typ := range types {
			if r := &t.byName[name][i]; r.rr.Header().Rrtype == typ {
				return r
			}
		}
	}
	return nil
}

// conflict gives a record that keeps a service from having this name: any at
// all, except at the apex, which has SOA and NS of its own.
func (t *zoneTable) conflict(host string) *record {
	if host == t.name {
		return t.find(host, dns.TypeA, dns.TypeAAAA, dns.TypeCNAME)
	}
	if list := t.byName[host]; len(list) > 0 {
		return &list[0]
	}
	return nil
}

// cut gives the delegation or DNAME that a host lies below.
func (t *zoneTable) cut(host string) *record {
	for name := host; name != t.name; {
		_, parent, ok := strings.Cut(name, ".")
		if !ok {
			return nil
		}
		name = parent
		if r := t.find(name, dns.TypeDNAME); r != nil {
			return r
		}
		if r := t.find(name, dns.TypeNS); r != nil && name != t.name {
			return r
		}
	}
	return nil
}

// zone makes a zone's records: SOA and NS from its keys or from its file, the
// file's other records, and those that stand inline.
func (b *builder) zone(k *zoneKeys, name string) *zoneTable {
	t := &zoneTable{name: name, byName: make(map[string][]record)}
	whole := true
	if k.File.Set {
		whole = b.zoneFile(k, t)
	}
	for _, r := range k.Records {
		b.inlineRecord(r, t)
	}
	if whole { // what is missing may stand in the rest
		b.apex(k, t)
	}
	b.hold(t)
	b.sameTTL(t)
	return t
}

// apex makes SOA and NS where no record gives them.
func (b *builder) apex(k *zoneKeys, t *zoneTable) {
	soa, ns := t.find(t.name, dns.TypeSOA), t.find(t.name, dns.TypeNS)
	header := func(typ uint16) dns.RR_Header {
		return dns.RR_Header{Name: dns.Fqdn(t.name), Rrtype: typ, Class: dns.ClassINET, Ttl: apexTTL}
	}
	switch {
	case ns != nil && len(k.NS) > 0:
		b.fault(k.NS[0].At, "the zone has NS records of its own (%s), expected them or the key \"ns\"", ns.at)
	case ns == nil && len(k.NS) == 0:
		b.fault(k.At, "the zone %s has no name server, expected the key \"ns\", such as [ns1.%s]", t.name, t.name)
	}
	primary := ""
	if ns != nil {
		if rr, ok := ns.rr.(*dns.NS); ok {
			primary = rr.Ns
		}
	}
	for _, v := range k.NS {
		server := string(v.V)
		if !strings.Contains(server, ".") {
			b.fault(v.At, "found %q, expected the full name: write %s.%s", server, server, t.name)
		}
		if primary == "" {
			primary = dns.Fqdn(server)
		}
		t.add(record{&dns.NS{Hdr: header(dns.TypeNS), Ns: dns.Fqdn(server)}, v.At})
		if inside(server, t.name) && t.find(server, dns.TypeA, dns.TypeAAAA) == nil && !b.isService(server) {
			b.warn(v.At, "the name server %s has no address in the zone: add a record such as \"%s. 300 IN A 10.0.0.53\"", server, server)
		}
	}
	switch {
	case soa != nil && k.Hostmaster.Set:
		b.fault(k.Hostmaster.At, "the zone has an SOA record of its own (%s), expected it or the key \"hostmaster\"", soa.at)
	case soa == nil && !k.Hostmaster.Set:
		b.fault(k.At, "the zone %s has no SOA record, expected the key \"hostmaster\", such as admin@%s", t.name, t.name)
	case soa == nil:
		t.add(record{&dns.SOA{
			Hdr: header(dns.TypeSOA), Ns: primary, Mbox: string(k.Hostmaster.V), Serial: 1,
			Refresh: soaRefresh, Retry: soaRetry, Expire: soaExpire, Minttl: soaNegative,
		}, k.Hostmaster.At})
	}
}

// doubtDenials warns of zones whose SOA record lets resolvers keep for long that a
// service has nothing, where that happens in an outage (RFC 2308 section 5). The
// built-in server says a minute at most, but a resolver may have the record from
// another answer, and a secondary goes by the record alone.
func (b *builder) doubtDenials(k *dnsKeys, tables []*zoneTable) {
	warned := map[int]bool{}
	for i := range b.cfg.Sites.Services {
		s := &b.cfg.Sites.Services[i]
		for _, host := range s.Hosts {
			z := zoneOf(host, k.Zones)
			if z < 0 || warned[z] || !b.vanishes(s) {
				continue
			}
			r := tables[z].find(tables[z].name, dns.TypeSOA)
			if r == nil {
				continue
			}
			soa, ok := r.rr.(*dns.SOA)
			if kept := time.Duration(min(soa.Minttl, soa.Hdr.Ttl)) * time.Second; ok && kept > soaNegative*time.Second {
				warned[z] = true
				b.warn(r.at, "resolvers and secondaries may keep for %s that %s has no address, which \"on_empty: remove\" lets happen: give the SOA record a minimum (its last number) of %d", formatDuration(kept), host, soaNegative)
			}
		}
	}
}

// vanishes says whether a service has no address when nothing of a site is left.
func (b *builder) vanishes(s *sites.Service) bool {
	for _, name := range s.Sites {
		for _, p := range b.cfg.Sites.Sites[b.siteAt[name]].Pools {
			if p.Name == s.Pool && p.OnEmpty == sites.OnEmptyRemove {
				return true
			}
		}
	}
	return false
}

// hold refuses record sets that no server could answer from.
func (b *builder) hold(t *zoneTable) {
	for name, list := range t.byName {
		soa, cname := 0, (*record)(nil)
		for i := range list {
			switch r := &list[i]; r.rr.Header().Rrtype {
			case dns.TypeSOA:
				soa++
				if name != t.name || soa > 1 {
					b.fault(r.at, "found an SOA record of %q, expected one at the zone's apex alone", name)
				}
			case dns.TypeCNAME:
				if cname != nil {
					b.fault(r.at, "the name %q has a second CNAME record, the first at %s: expected one", name, cname.at)
				}
				cname = r
			}
		}
		if cname == nil {
			continue
		}
		for i := range list {
			if typ := list[i].rr.Header().Rrtype; typ != dns.TypeCNAME && typ != dns.TypeRRSIG && typ != dns.TypeNSEC {
				b.fault(list[i].at, "the name %q has a CNAME record (%s) beside this one of type %s: a CNAME stands alone (RFC 1034, section 3.6.2)", name, cname.at, dns.TypeToString[typ])
				break
			}
		}
	}
}

// isService says whether a service answers for the name.
func (b *builder) isService(name string) bool {
	return b.cfg.find.hosts[name]
}

func trimDot(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
