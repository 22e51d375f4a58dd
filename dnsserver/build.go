package dnsserver

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// draft is a zone under construction: its names apart from those of the zones
// inside it.
type draft struct {
	*zone
	nodes map[string]*draftNode
	top   *draftNode                     // at the apex
	rrs   map[string]map[uint16][]dns.RR // by owner and type
	lines []string                       // what the digest is made of
}

// addZones builds every zone and lays them over each other.
func (b *builder) addZones() {
	drafts := map[string]*draft{}
	var order []*draft
	for i := range b.cfg.Zones {
		d, err := newDraft(&b.cfg.Zones[i])
		if err == nil && drafts[d.wire] != nil {
			err = fmt.Errorf("zone %s is configured twice: remove one", d.text)
		}
		if err != nil {
			b.errs = append(b.errs, err)
			continue
		}
		drafts[d.wire] = d
		order = append(order, d)
	}
	b.addServices(drafts)
	for _, d := range order {
		// The names above a zone exist also where none delegates it: a resolver that heard
		// the contrary would ask for nothing below them (RFC 8020).
		if p := deepest(drafts, parentOf(d.wire)); p != nil {
			p.node(d.wire).inner = true
		}
	}
	for _, d := range order {
		if err := d.finish(); err != nil {
			b.errs = append(b.errs, err)
		}
	}
	if len(b.errs) > 0 {
		return
	}
	for i, d := range order {
		d.index = i
		b.zones[d.wire] = d.zone
		b.zoneList = append(b.zoneList, d.zone)
	}
	b.lay(order, drafts)
}

// deepest gives the deepest zone that holds a name, or nil.
func deepest(drafts map[string]*draft, wire string) *draft {
	for n := wire; n != ""; n = parentOf(n) {
		if d := drafts[n]; d != nil {
			return d
		}
	}
	return nil
}

// newDraft sorts a zone's records by name and type.
func newDraft(z *Zone) (*draft, error) {
	wire, err := wireName(z.Name)
	if err != nil {
		return nil, fmt.Errorf("zone %q: %w", z.Name, err)
	}
	d := &draft{
		zone:  &zone{wire: wire, text: textName(wire)},
		nodes: map[string]*draftNode{},
		rrs:   map[string]map[uint16][]dns.RR{},
	}
	var errs []error
	for _, rr := range z.Records {
		if err := d.add(rr); err != nil {
			errs = append(errs, fmt.Errorf("zone %s: %w", d.text, err))
		}
	}
	if z.DNSSEC != nil {
		errs = append(errs, d.addKeys(z.DNSSEC))
	}
	return d, errors.Join(errs...)
}

// add takes one record in.
func (d *draft) add(rr dns.RR) error {
	h := rr.Header()
	owner, err := wireName(h.Name)
	switch {
	case err != nil:
		return fmt.Errorf("owner %q: %w", h.Name, err)
	case !within(owner, d.wire):
		return fmt.Errorf("record %s %s lies outside the zone", h.Name, typeName(h.Rrtype))
	case h.Class != dns.ClassINET:
		return fmt.Errorf("record %s %s is not of class IN", h.Name, typeName(h.Rrtype))
	case h.Ttl > math.MaxInt32: // caches take it for 0 (RFC 2181 section 8)
		return fmt.Errorf("record %s %s has a TTL of %d, which is over %d seconds", h.Name, typeName(h.Rrtype), h.Ttl, math.MaxInt32)
	case isMeta(h.Rrtype) || h.Rrtype == 0:
		return fmt.Errorf("record %s: %s is no type of data", h.Name, typeName(h.Rrtype))
	}
	if d.rrs[owner] == nil {
		d.rrs[owner] = map[uint16][]dns.RR{}
	}
	d.rrs[owner][h.Rrtype] = append(d.rrs[owner][h.Rrtype], rr)
	return nil
}

// finish makes the nodes of a zone, once its services are known.
func (d *draft) finish() error {
	var errs []error
	for _, owner := range slices.Sorted(maps.Keys(d.rrs)) {
		n := d.node(owner)
		types := d.rrs[owner]
		if err := coexist(owner, types); err != nil {
			errs = append(errs, fmt.Errorf("zone %s: %w", d.text, err))
		}
		for _, t := range slices.Sorted(maps.Keys(types)) {
			set, err := newRRset(types[t], d.wire)
			if err != nil {
				errs = append(errs, fmt.Errorf("zone %s: %w", d.text, err))
				continue
			}
			n.sets = append(n.sets, set)
			d.digestOf(&set)
		}
	}
	if err := d.finishApex(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	d.connect()
	if err := d.finishNodes(); err != nil {
		return err
	}
	slices.Sort(d.lines)
	d.digest = sha256.Sum256([]byte(strings.Join(d.lines, "\n")))
	return nil
}

// node gives the node of a name, and makes those above it (RFC 4592 section
// 2.2.2).
func (d *draft) node(wire string) *draftNode {
	n := d.nodes[wire]
	if n != nil {
		return n
	}
	n = &draftNode{wire: wire, zone: d.zone}
	d.nodes[wire] = n
	if wire != d.wire {
		up := d.node(parentOf(wire))
		if strings.HasPrefix(wire, "\x01*") {
			up.wild = n
		}
	}
	return n
}

// coexist checks which types stand beside each other at a name.
func coexist(owner string, types map[uint16][]dns.RR) error {
	if len(types[dns.TypeCNAME]) > 0 && len(types) > 1 {
		for t := range types {
			// RFC 4034 sections 3 and 4.
			if t != dns.TypeCNAME && t != dns.TypeRRSIG && t != dns.TypeNSEC {
				return fmt.Errorf("%s has a CNAME and other records: remove one or the other", textName(owner))
			}
		}
	}
	for _, t := range []uint16{dns.TypeCNAME, dns.TypeDNAME} {
		if rrs := types[t]; len(rrs) > 1 && !sameData(rrs) {
			return fmt.Errorf("%s has more than one %s", textName(owner), typeName(t))
		}
	}
	return nil
}

func sameData(rrs []dns.RR) bool {
	for _, rr := range rrs[1:] {
		if !dns.IsDuplicate(rrs[0], rr) {
			return false
		}
	}
	return true
}

// digestOf takes a set into the digest: its data and TTL, and of the SOA all but
// the serial.
func (d *draft) digestOf(set *rrset) {
	for _, rr := range set.rrs {
		if soa, ok := rr.(*dns.SOA); ok {
			c := *soa
			c.Serial = 0
			rr = &c
		}
		d.lines = append(d.lines, rr.String())
	}
}

// finishApex checks what every zone has at its apex.
func (d *draft) finishApex() error {
	types := d.rrs[d.wire]
	if n := len(types[dns.TypeSOA]); n != 1 {
		return fmt.Errorf("zone %s has %d SOA records at its apex: exactly one is needed", d.text, n)
	}
	if len(types[dns.TypeNS]) == 0 {
		return fmt.Errorf("zone %s has no NS record at its apex", d.text)
	}
	if len(types[dns.TypeDNAME]) > 0 && len(d.nodes) > 1 {
		for owner := range d.nodes {
			if owner != d.wire && d.nodes[owner].service != nil {
				return fmt.Errorf("zone %s has a DNAME at its apex that hides the service %s", d.text, textName(owner))
			}
		}
	}
	for owner, types := range d.rrs {
		if owner != d.wire && len(types[dns.TypeSOA]) > 0 {
			return fmt.Errorf("zone %s: SOA record at %s, which is not the apex", d.text, textName(owner))
		}
	}
	d.top = d.nodes[d.wire]
	set := d.top.find(dns.TypeSOA)
	soa, ok := set.rrs[0].(*dns.SOA)
	if !ok {
		return fmt.Errorf("zone %s: malformed SOA record", d.text)
	}
	d.written = soa.Serial
	d.negTTL = min(set.ttl, soa.Minttl)
	return nil
}

// typeName writes a type as people do.
func typeName(t uint16) string {
	if s := dns.TypeToString[t]; s != "" {
		return s
	}
	return "TYPE" + strconv.Itoa(int(t))
}
