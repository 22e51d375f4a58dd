package dnsserver

import "github.com/miekg/dns"

// proven appends records with a TTL that their set has at most, and their
// signatures where these are asked for. What cannot be signed fails.
func (r *resolver) proven(z *zone, to, rrs []dns.RR, most uint32) []dns.RR {
	to = append(to, rrs...)
	if len(rrs) == 0 || !r.proves || z.signer == nil {
		return to
	}
	return append(to, r.signatures(z, rrs, most)...)
}

// signatures makes those of records.
func (r *resolver) signatures(z *zone, rrs []dns.RR, most uint32) []dns.RR {
	shown := rrs[0].Header().Ttl
	var whole []dns.RR
	for _, rr := range rrs {
		c := dns.Copy(rr)
		c.Header().Ttl = most
		whole = append(whole, c)
	}
	if r.fault != nil {
		return nil
	}
	if !r.signs.begin(true) { // nothing of this is kept
		r.fault = errSignLater
		return nil
	}
	defer r.signs.end()
	sigs, _, _, err := z.signer.sign(whole, r.now)
	if err != nil {
		r.fault = err
		return nil
	}
	for _, sig := range sigs {
		sig.Header().Ttl = shown
	}
	return sigs
}

// absent says that a node has no record of the type or, for nil, that a name is
// missing. body is what its service gives, where that has been looked at.
func (r *resolver) absent(z *zone, n node, name string, body *poolBody) {
	if z.signer != nil && asksForProof(r.qtype) {
		r.proofOf(z, n, name)
		return
	}
	rcode := dns.RcodeSuccess
	if n == nil && (!r.proves || z.signer == nil || r.co) {
		rcode = dns.RcodeNameError
	}
	r.negative(z, rcode, n != nil && n.service() > 0)
	r.types(z, n, name, body)
}

// nsec gives the NSEC record of a node.
func (r *resolver) nsec(z *zone, n node, name string, body *poolBody) []dns.RR {
	service := n != nil && n.service() > 0
	if service && body == nil {
		_, body = r.snap.serviceOf(n).pick(r.site())
	}
	wire, err := wireName(name)
	if err != nil {
		r.fault = err
		return nil
	}
	h := dns.RR_Header{Name: name, Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: z.negativeTTL(service)}
	return []dns.RR{&dns.NSEC{Hdr: h, NextDomain: textName(string(successor(nil, []byte(wire)))), TypeBitMap: typesOf(nil, n, body)}}
}

// types adds the NSEC record of a node, where proof is asked for.
func (r *resolver) types(z *zone, n node, name string, body *poolBody) {
	if !r.proves || z.signer == nil {
		return
	}
	if rrs := r.nsec(z, n, name, body); rrs != nil {
		r.out.ns = r.proven(z, r.out.ns, rrs, rrs[0].Header().Ttl)
	}
}

// proofOf answers with the NSEC record of a node, or with its signatures, as is
// asked.
func (r *resolver) proofOf(z *zone, n node, name string) {
	rrs := r.nsec(z, n, name, nil)
	switch {
	case rrs == nil:
	case r.qtype == dns.TypeNSEC:
		r.out.answer = r.proven(z, r.out.answer, rrs, rrs[0].Header().Ttl)
	default:
		r.out.answer = append(r.out.answer, r.signatures(z, rrs, rrs[0].Header().Ttl)...)
	}
}

// anyAddress answers ANY with the addresses of one family of a service: a record
// that is made up would be one that the name's NSEC record denies.
func (r *resolver) anyAddress(z *zone, n node, name string) {
	e, b := r.snap.serviceOf(n).pick(r.site())
	if b == nil {
		r.out = outcome{rcode: dns.RcodeServerFailure}
		return
	}
	for _, t := range []uint16{dns.TypeA, dns.TypeAAAA} {
		if r.addresses(z, e, b, t, name) {
			return
		}
	}
	r.absent(z, n, name, b)
}
