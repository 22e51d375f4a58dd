package dnsserver

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// outcome is an answer on the library's types, before it is packed.
type outcome struct {
	rcode             int
	aa                bool
	answer, ns, extra []dns.RR
	pool              *pool // the one that answered, nil for the zone's own records
}

// resolver answers one question by RFC 1034 section 4.3.2, step by step from
// the zone's apex down. It is the measure for the hot path, which looks names
// up from the other end.
type resolver struct {
	snap *snapshot
	site func() int32
	turn uint32
	// client is who asks, for the policies that choose a node by it; not valid
	// for what a pool gives altogether.
	client netip.Addr
	// most is how many addresses of a service an answer holds; 0 for all.
	most int

	qtype uint16
	// proves asks for what proves the answer, as of now, where a zone is signed; co
	// for NXDOMAIN beside the proof that a name is missing. fault is why something
	// cannot be proved.
	proves, co bool
	now        int64
	fault      error
	signs      *allowance // nil for no bound

	out  outcome
	seen map[string]bool
}

// resolve answers a question about a name in presentation form with the final
// dot; owners are written as they were asked.
func (r *resolver) resolve(name string) outcome {
	r.seen = map[string]bool{}
	for i := 0; ; i++ {
		wire, err := wireName(name)
		if err != nil {
			r.out.rcode = dns.RcodeServerFailure
			return r.out
		}
		r.seen[wire] = true
		z := r.zoneOf(wire)
		if z == nil {
			if i == 0 {
				r.out.rcode = dns.RcodeRefused
			}
			return r.out
		}
		target := r.descend(z, name, wire, i == 0)
		if target == "" {
			return r.out
		}
		if next, err := wireName(target); err != nil || r.seen[next] || i+1 == maxChain {
			return r.out
		}
		name = target
	}
}

// zoneOf gives the zone that answers for a name: the deepest, but for DS at its
// apex the one above.
func (r *resolver) zoneOf(wire string) *zone {
	for n := wire; n != ""; n = parentOf(n) {
		z := r.snap.zones[n]
		if z == nil {
			continue
		}
		if r.qtype == dns.TypeDS && n == wire {
			for up := parentOf(n); up != ""; up = parentOf(up) {
				if above := r.snap.zones[up]; above != nil {
					return above
				}
			}
		}
		return z
	}
	return nil
}

// descend walks from the apex to the name. It gives the name to go on with.
func (r *resolver) descend(z *zone, name, wire string, first bool) (next string) {
	if first {
		r.out.aa = true
	}
	var path []string // names from the apex to wire
	for n := wire; n != z.wire; n = parentOf(n) {
		path = append(path, n)
	}
	slices.Reverse(path)
	at := z.apex
	for _, n := range path {
		if at.has(nodeDNAME) {
			return r.dname(z, at, name)
		}
		below := r.nodeIn(z, n)
		if below == nil {
			star := r.nodeIn(z, "\x01*"+string(at.name()))
			if star == nil {
				r.absent(z, nil, name, nil)
				return ""
			}
			return r.records(z, star, name)
		}
		at = below
		if at.find(dns.TypeNS) != nil && !(n == wire && r.qtype == dns.TypeDS) {
			r.referral(z, at, first)
			return ""
		}
	}
	return r.records(z, at, name)
}

// nodeIn gives a zone's node, also where a zone inside it begins.
func (r *resolver) nodeIn(z *zone, wire string) node {
	if n := r.snap.names.get([]byte(wire)); n != nil && r.snap.zoneOf(n) == z {
		return n
	}
	if n := r.snap.parents[wire]; n != nil && r.snap.zoneOf(n) == z {
		return n
	}
	return nil
}

// records adds what lies at a node.
func (r *resolver) records(z *zone, n node, name string) (next string) {
	svc := r.snap.serviceOf(n)
	var body *poolBody
	if svc != nil && (r.qtype == dns.TypeA || r.qtype == dns.TypeAAAA) {
		e, b := svc.pick(r.site())
		if b == nil {
			r.out = outcome{rcode: dns.RcodeServerFailure}
			return ""
		}
		r.out.pool, body = e.pool, b
		if r.addresses(z, e, b, r.qtype, name) {
			return ""
		}
	}
	if z.signer != nil && asksForProof(r.qtype) {
		r.proofOf(z, n, name)
		return ""
	}
	if r.qtype == dns.TypeANY {
		r.any(z, n, name)
		return ""
	}
	if set := n.find(r.qtype); set != nil {
		r.add(z, set, name)
		return ""
	}
	if set := n.find(dns.TypeCNAME); set != nil {
		r.add(z, set, name)
		return textName(string(set.target()))
	}
	r.absent(z, n, name, body)
	return ""
}

// any answers ANY with one set, or with HINFO where a service gives none (RFC
// 8482 sections 4.1 and 4.2).
func (r *resolver) any(z *zone, n node, name string) {
	next, count := n.sets()
	switch {
	case count > 0:
		least := next
		for range count - 1 {
			if next = next.next(); next.bodyLen() < least.bodyLen() {
				least = next
			}
		}
		r.add(z, least, name)
	case n.service() > 0 && z.signer != nil:
		r.anyAddress(z, n, name)
	case n.service() > 0:
		h := dns.RR_Header{Name: name, Rrtype: dns.TypeHINFO, Class: dns.ClassINET, Ttl: z.negativeTTL(true)}
		r.out.answer = append(r.out.answer, &dns.HINFO{Hdr: h, Cpu: "RFC8482"})
	default:
		r.absent(z, n, name, nil)
	}
}

// add puts a set into the answer under the name that was asked for.
func (r *resolver) add(z *zone, set set, name string) {
	rrs := set.records(z.wire, z.wire)
	for _, rr := range rrs {
		rr.Header().Name = name
		if soa, ok := rr.(*dns.SOA); ok {
			soa.Serial = z.serial.Load()
		}
	}
	r.out.answer = r.proven(z, r.out.answer, rrs, rrs[0].Header().Ttl)
}

// addresses adds those of the type from a pool, rotated.
func (r *resolver) addresses(z *zone, e *serviceEntry, b *poolBody, t uint16, name string) bool {
	f, h := &b.v4, dns.RR_Header{Name: name, Rrtype: t, Class: dns.ClassINET, Ttl: e.seconds(b)}
	if t == dns.TypeAAAA {
		f = &b.v6
	}
	list := f.give(r.client, r.turn).list
	count, first := len(list), rotation(r.turn, len(list))
	if r.most > 0 {
		count = min(count, r.most)
	}
	var rrs []dns.RR
	for i := range count {
		a := list[(first+i)%len(list)]
		if t == dns.TypeA {
			rrs = append(rrs, &dns.A{Hdr: h, A: net.IP(a.AsSlice())})
		} else {
			rrs = append(rrs, &dns.AAAA{Hdr: h, AAAA: net.IP(a.AsSlice())})
		}
	}
	r.out.answer = r.proven(z, r.out.answer, rrs, e.most())
	return count > 0
}

// negative adds the zone's SOA (RFC 2308 section 3).
func (r *resolver) negative(z *zone, rcode int, service bool) {
	r.out.rcode = rcode
	rrs := z.soa.records(z.wire, z.wire)
	ttl := rrs[0].Header().Ttl
	for _, rr := range rrs {
		rr.Header().Ttl = z.negativeTTL(service)
		if soa, ok := rr.(*dns.SOA); ok {
			soa.Serial = z.serial.Load()
		}
	}
	r.out.ns = r.proven(z, r.out.ns, rrs, ttl)
}

// referral adds a delegation (RFC 1034 section 4.3.2, step 3b).
func (r *resolver) referral(z *zone, n node, first bool) {
	if first {
		r.out.aa = false
	}
	r.out.ns = append(r.out.ns, n.find(dns.TypeNS).records(string(n.name()), z.wire)...)
	if ds := n.find(dns.TypeDS); ds != nil && r.proves && z.signer != nil {
		rrs := ds.records(string(n.name()), z.wire)
		r.out.ns = r.proven(z, r.out.ns, rrs, rrs[0].Header().Ttl)
	} else {
		r.types(z, n, textName(string(n.name())), nil)
	}
	r.out.extra = append(r.out.extra, n.glue().whole()...)
}

// dname adds a DNAME and the CNAME that it makes for the name (RFC 6672 section
// 3.1).
func (r *resolver) dname(z *zone, n node, name string) (next string) {
	rrs := n.find(dns.TypeDNAME).records(string(n.name()), z.wire)
	dn, ok := rrs[0].(*dns.DNAME)
	if !ok {
		r.out.rcode = dns.RcodeServerFailure
		return ""
	}
	owner := textName(string(n.name()))
	if !holds(r.out.answer, dn) { // a chain may come by it again
		r.out.answer = r.proven(z, r.out.answer, rrs, dn.Hdr.Ttl)
	}
	labels, above := dns.SplitDomainName(name), dns.CountLabel(owner)
	target := strings.Join(labels[:len(labels)-above], ".") + "."
	if dn.Target != "." {
		target += dn.Target
	}
	if w, err := wireName(target); err != nil || len(w) > maxName {
		r.out.rcode = dns.RcodeYXDomain
		return ""
	}
	h := dns.RR_Header{Name: name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: dn.Hdr.Ttl}
	r.out.answer = append(r.out.answer, &dns.CNAME{Hdr: h, Target: target})
	if r.qtype == dns.TypeCNAME || dns.IsSubDomain(owner, dn.Target) { // one that leads below itself never ends
		return ""
	}
	return target
}
