package dnsserver

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/miekg/dns"
)

// connect marks what lies below delegations and DNAMEs, from the apex down.
func (d *draft) connect() {
	nodes := slices.Collect(maps.Values(d.nodes))
	slices.SortFunc(nodes, func(a, b *draftNode) int { return cmp.Compare(labelsOf(a.wire), labelsOf(b.wire)) })
	for _, n := range nodes {
		if n == d.top {
			continue
		}
		up := d.nodes[parentOf(n.wire)]
		switch {
		case up.cut != nil:
			n.cut = up.cut
		case up.dname != nil:
			n.dname = up.dname
		case up.find(dns.TypeDNAME) != nil:
			n.dname = up
		case n.inner, n.find(dns.TypeNS) != nil:
			n.cut = n
		}
	}
}

// finishNodes adds glue to delegations and the targets of CNAMEs, and refuses
// services that no query could reach.
func (d *draft) finishNodes() error {
	var errs []error
	for _, n := range d.nodes {
		if n.service != nil && n.cut != nil {
			errs = append(errs, fmt.Errorf("zone %s: service %s lies at or below the delegation of %s", d.text, textName(n.wire), textName(n.cut.wire)))
		}
		if n.service != nil && n.dname != nil {
			errs = append(errs, fmt.Errorf("zone %s: service %s is hidden by the DNAME at %s", d.text, textName(n.wire), textName(n.dname.wire)))
		}
		if n.cut == n {
			errs = append(errs, d.addGlue(n))
		}
		set := n.find(dns.TypeCNAME)
		if set == nil {
			continue
		}
		cname, ok := set.rrs[0].(*dns.CNAME)
		if !ok {
			errs = append(errs, fmt.Errorf("zone %s: malformed CNAME at %s", d.text, textName(n.wire)))
			continue
		}
		target, err := wireName(cname.Target)
		if err != nil {
			errs = append(errs, fmt.Errorf("zone %s: CNAME at %s: %w", d.text, textName(n.wire), err))
		}
		set.target = target
	}
	return errors.Join(errs...)
}

// addGlue collects the zone's addresses of a delegation's name servers.
func (d *draft) addGlue(n *draftNode) error {
	set := n.find(dns.TypeNS)
	if set == nil {
		return nil // a zone of ours that nobody delegates
	}
	for _, rr := range set.rrs {
		ns, ok := rr.(*dns.NS)
		if !ok {
			return fmt.Errorf("zone %s: malformed NS at %s", d.text, textName(n.wire))
		}
		target, err := wireName(ns.Ns)
		if err != nil {
			return fmt.Errorf("zone %s: NS at %s: %w", d.text, textName(n.wire), err)
		}
		host := d.nodes[target]
		if host == nil {
			continue
		}
		for _, t := range []uint16{dns.TypeA, dns.TypeAAAA} {
			set := host.find(t)
			if set == nil {
				continue
			}
			for _, rr := range set.rrs {
				packed, _, err := packFull(rr)
				if err != nil {
					return fmt.Errorf("zone %s: glue %s: %w", d.text, textName(target), err)
				}
				n.glue.body = append(n.glue.body, packed...)
				n.glue.count++
			}
		}
	}
	return nil
}
