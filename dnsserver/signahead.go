package dnsserver

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// What moves is signed ahead, beside the answers: after a move the next question
// finds the new addresses at once, and their signatures where nobody was faster in
// asking. Names of wildcards are signed when they are asked for.

// aheadOf has the names signed that a pool answers; nil is for all. It is called
// under Server.mu.
func (s *Server) aheadOf(p *pool) {
	sn := s.snap.Load()
	if sn == nil || !sn.signs {
		return
	}
	a := &s.signing
	if a.moved == nil {
		a.moved = map[*pool]bool{}
	}
	switch {
	case p == nil:
		for p := range sn.ahead {
			a.moved[p] = true
		}
	case sn.ahead[p] != nil:
		a.moved[p] = true
	default:
		return
	}
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// signAhead signs what has moved until ctx ends. Its goroutine is Serve's.
func (s *Server) signAhead(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.signing.wake:
		}
		s.mu.Lock()
		sn, moved := s.snap.Load(), s.signing.moved
		s.signing.moved = nil
		s.mu.Unlock()
		for _, z := range sn.zoneList {
			s.signSOA(z)
		}
		for p := range moved {
			for _, n := range sn.ahead[p] {
				if ctx.Err() != nil {
					return
				}
				s.signHost(sn, n, p)
				runtime.Gosched() // answers do not wait for the others
			}
		}
	}
}

// signSOA signs a zone's SOA record, which every denial has.
func (s *Server) signSOA(z *zone) {
	if z.signer != nil {
		k := proofKey{owner: z.apex.name(), rrtype: dns.TypeSOA, content: z.soa.body(), extra: z.serial.Load()}
		z.signer.keep(&k, s.signTime(), func() []dns.RR { return z.soa.signable(&k, z) })
	}
}

// signHost signs what a pool gives for a name.
func (s *Server) signHost(sn *snapshot, n node, p *pool) {
	z, b := sn.zoneOf(n), p.body.Load()
	if b == nil {
		return
	}
	for i := range sn.serviceOf(n).entries {
		e := &sn.serviceOf(n).entries[i]
		if e.pool != p {
			continue
		}
		for _, f := range []*familyBody{&b.v4, &b.v6} {
			lists := []*addresses{&f.all}
			if len(f.nodes) > 0 {
				lists = nil
				for i := range f.nodes {
					lists = append(lists, &f.nodes[i].addresses)
				}
			}
			for _, a := range lists {
				if len(a.list) == 0 || len(a.list) > maxAddresses {
					continue
				}
				k := addressKey(n.name(), a, e.most(), 0)
				z.signer.keep(&k, s.signTime(), func() []dns.RR { return a.signable(&k) })
			}
		}
	}
}

// keep makes the signatures of a set that are not kept yet.
func (z *zoneSigner) keep(k *proofKey, now int64, records func() []dns.RR) {
	if z.real.get(k, now) != nil {
		return
	}
	if p, err := z.prepare(k, records(), now); err == nil { // else a question will tell
		z.real.put(k, p)
	}
}

// addAhead lists the names of a signed zone by the pools that answer them.
func (b *builder) addAhead(z *zone) {
	b.names.walk(z, func(n node) bool {
		svc := b.serviceOf(n)
		if svc == nil || strings.HasPrefix(string(n.name()), "\x01*") {
			return true
		}
		pools := map[*pool]bool{}
		for i := range svc.entries {
			pools[svc.entries[i].pool] = true
		}
		for p := range pools {
			b.ahead[p] = append(b.ahead[p], n)
		}
		return true
	})
}

// SignedZone is what is known of a zone that is signed.
type SignedZone struct {
	Zone string
	// Keys are in the order of the configuration.
	Keys []SigningKey
	// Signatures counts those that were made since the keys are in use.
	Signatures uint64
}

// signedZones lists them by name.
func (s *Server) signedZones() (out []SignedZone) {
	for _, z := range s.snap.Load().zoneList {
		if z.signer != nil {
			out = append(out, SignedZone{zoneKey(z), z.signer.keys, z.signer.count.Load()})
		}
	}
	slices.SortFunc(out, func(a, b SignedZone) int { return strings.Compare(a.Zone, b.Zone) })
	return out
}
