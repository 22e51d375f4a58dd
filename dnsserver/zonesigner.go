package dnsserver

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// keyTTL is that of DNSKEY, CDS and CDNSKEY records, in seconds.
const keyTTL = 3600

// inceptionSkew is how far a signature's validity begins in the past, for
// validators whose clocks are late.
const inceptionSkew = time.Hour

// zoneSigner signs a zone. It outlives reloads that change neither keys nor
// validity, so that what is signed stays signed.
type zoneSigner struct {
	zone     string // presentation form
	keys     []SigningKey
	data     []SigningKey // those that sign more than keys
	validity int64        // seconds
	// mark is the same for the same keys and validity, and about as many names.
	mark [sha256.Size]byte
	// real keeps the signatures of what the zone holds, made those of names that
	// askers choose: of wildcards' and of missing ones. A flood of the second kind
	// costs nothing of the first.
	real, made *proofCache
	count      atomic.Uint64 // signatures
}

// newZoneSigner makes a signer, or takes an earlier one of the same keys.
func newZoneSigner(wire string, s *Signing, names int, prior *zone) (*zoneSigner, error) {
	if len(s.Keys) == 0 {
		return nil, errors.New("it is to be signed, and has no key")
	}
	z := &zoneSigner{zone: textName(wire), keys: s.Keys, validity: int64(cmp.Or(s.Validity, defaultValidity).Seconds())}
	h, room := sha256.New(), bits.Len(uint(4*names))
	_, _ = fmt.Fprint(h, z.validity, room, " ") // never fails
	var algorithms []uint8
	for i, k := range s.Keys {
		owner, err := wireName(k.record.Hdr.Name)
		if err != nil || owner != wire {
			return nil, fmt.Errorf("%v is that of another zone", k)
		}
		if slices.ContainsFunc(s.Keys[:i], func(o SigningKey) bool { return o.Tag() == k.Tag() }) {
			return nil, fmt.Errorf("%v is there twice, or has the tag of another key: remove one, or make another", k)
		}
		_, _ = fmt.Fprint(h, k.record.String())
		if a := k.record.Algorithm; !slices.Contains(algorithms, a) {
			algorithms, z.data = append(algorithms, a), append(z.data, k)
		}
	}
	h.Sum(z.mark[:0])
	if v := time.Duration(z.validity) * time.Second; v < MinValidity || v > MaxValidity {
		return nil, fmt.Errorf("signatures are to be valid for %s, expected %s to %s", v, MinValidity, MaxValidity)
	}
	if prior != nil && prior.signer != nil && prior.signer.mark == z.mark {
		return prior.signer, nil
	}
	z.real, z.made = newProofCache(min(max(room, 10), 18), 16<<10), newProofCache(12, 1<<10)
	return z, nil
}

// addKeys puts the records into a zone that tell of its keys.
func (d *draft) addKeys(s *Signing) error {
	for _, types := range d.rrs {
		for _, t := range []uint16{dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeDNSKEY, dns.TypeCDS, dns.TypeCDNSKEY} {
			if rrs := types[t]; len(rrs) > 0 && (s.CDS != CDSNone || t != dns.TypeCDS && t != dns.TypeCDNSKEY) {
				return fmt.Errorf("zone %s is signed by this server, which makes %s records: remove that of %s", d.text, typeName(t), rrs[0].Header().Name)
			}
		}
	}
	add := func(rr dns.RR, t uint16) error {
		*rr.Header() = dns.RR_Header{Name: d.text, Rrtype: t, Class: dns.ClassINET, Ttl: keyTTL}
		return d.add(rr)
	}
	var errs []error
	for _, k := range s.Keys {
		errs = append(errs, add(k.Record(), dns.TypeDNSKEY))
		if s.CDS == CDSKeys {
			errs = append(errs, add(&dns.CDS{DS: *k.DS()}, dns.TypeCDS), add(&dns.CDNSKEY{DNSKEY: *k.Record()}, dns.TypeCDNSKEY))
		}
	}
	if s.CDS == CDSDelete { // RFC 8078 section 4, with its errata: one octet of zero
		errs = append(errs, add(&dns.CDS{DS: dns.DS{Digest: "00"}}, dns.TypeCDS),
			add(&dns.CDNSKEY{DNSKEY: dns.DNSKEY{Protocol: 3, PublicKey: "AA=="}}, dns.TypeCDNSKEY))
	}
	return errors.Join(errs...)
}

// signers says which keys sign a set: what tells of the keys is signed by all of
// them (RFC 7344 section 4.1).
func (z *zoneSigner) signers(t uint16) []SigningKey {
	if t == dns.TypeDNSKEY || t == dns.TypeCDS || t == dns.TypeCDNSKEY {
		return z.keys
	}
	return z.data
}

// sign makes the signatures of a set, whose records bear the TTL that it has at
// most. They begin to count at from, and are made anew at until, Unix seconds.
func (z *zoneSigner) sign(rrs []dns.RR, now int64) (sigs []dns.RR, from, until int64, err error) {
	h := rrs[0].Header()
	from = now - int64(inceptionSkew.Seconds())
	expire := now + z.validity - z.jitter(h)
	for _, k := range z.signers(h.Rrtype) {
		sig := k.blank(z.zone)
		sig.Hdr.Ttl, sig.OrigTtl = h.Ttl, h.Ttl
		sig.Inception, sig.Expiration = uint32(from), uint32(expire)
		if err := sig.Sign(k.private(), rrs); err != nil {
			return nil, 0, 0, fmt.Errorf("sign %s %s by %v: %w", h.Name, typeName(h.Rrtype), k, err)
		}
		sigs = append(sigs, sig)
		z.count.Add(1)
	}
	return sigs, from, expire - z.validity/3, nil
}

// jitter spreads the ends of signatures over a tenth of their validity, the same
// for a set each time.
func (z *zoneSigner) jitter(h *dns.RR_Header) int64 {
	x := hashOf(dns.CanonicalName(h.Name)) ^ scramble(uint64(h.Rrtype))
	return int64(x % uint64(z.validity/10))
}

// prepare signs a set and packs the signatures for messages.
func (z *zoneSigner) prepare(k *proofKey, rrs []dns.RR, now int64) (*proof, error) {
	sigs, from, until, err := z.sign(rrs, now)
	if err != nil {
		return nil, err
	}
	p := &proof{hash: k.hash(), rrtype: k.rrtype, ttl: k.ttl, extra: k.extra, owner: len(k.owner), from: from, until: until, count: uint16(len(sigs))}
	p.key = string(k.owner) + string(k.content)
	for _, sig := range sigs {
		packed, owner, err := packFull(sig)
		if err != nil {
			return nil, fmt.Errorf("pack the signature of %s: %w", rrs[0].Header().Name, err)
		}
		p.body = binary.BigEndian.AppendUint16(p.body, ownerPointer)
		p.body = append(p.body, packed[owner:]...)
	}
	return p, nil
}

// addSigners prepares the zones that are signed.
func (b *builder) addSigners() {
	for i := range b.cfg.Zones {
		cfg := &b.cfg.Zones[i]
		if cfg.DNSSEC == nil {
			continue
		}
		if cfg.Transfer != nil || len(cfg.Notify) > 0 {
			b.fail("zone %s: it is signed when it is asked, which secondaries cannot do: remove the transfer and its notify, or the signing", cfg.Name)
			continue
		}
		wire, err := wireName(cfg.Name)
		z := b.zones[wire]
		if err != nil || z == nil {
			continue // reported already
		}
		names := 0
		b.names.walk(z, func(node) bool { names++; return true })
		var before *zone
		if b.prior != nil {
			before = b.prior.zones[wire]
		}
		if z.signer, err = newZoneSigner(wire, cfg.DNSSEC, names, before); err != nil {
			b.fail("zone %s: %w", cfg.Name, err)
			continue
		}
		b.signs = true
		b.addAhead(z)
	}
}
