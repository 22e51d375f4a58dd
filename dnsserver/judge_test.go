package dnsserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// zoneKey makes a key.
func signingKey(t testing.TB, zone string, algorithm uint8) SigningKey {
	t.Helper()
	k, _, err := GenerateSigningKey(zone, algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// signedConfig is lanConfig with both zones signed, one by keys of two algorithms,
// and with a pool of more addresses than an answer holds.
func signedConfig(t testing.TB) *Config {
	t.Helper()
	cfg := lanConfig(t)
	cfg.Zones[0].DNSSEC = &Signing{Keys: []SigningKey{
		signingKey(t, "example.lan", dns.ECDSAP256SHA256), signingKey(t, "example.lan", dns.ECDSAP256SHA256),
	}}
	cfg.Zones[1].DNSSEC = &Signing{Keys: []SigningKey{
		signingKey(t, "inner.example.lan", dns.ED25519), signingKey(t, "inner.example.lan", dns.ECDSAP256SHA256),
	}}
	cfg.Services = append(cfg.Services, Service{Hosts: []string{"many.example.lan", "*.many.example.lan"}, Pool: "many", Sites: cfg.Services[0].Sites[:1]})
	return cfg
}

// manyServer serves a configuration, and the pool of many addresses too.
func manyServer(t testing.TB, cfg *Config) *Server {
	t.Helper()
	s := lanServerOf(t, cfg)
	var list []string
	for i := range 11 {
		list = append(list, fmt.Sprintf("10.1.1.%d", i), fmt.Sprintf("fd00:1::1:%d", i))
	}
	s.SetAnswer("berlin", "many", answer(list...))
	return s
}

// verify holds the signatures of a section against its records, and gives the sets
// that are proved, as "name type". Sets of other kinds than those that are never
// signed must be.
func verify(t fataler, keys map[string][]*dns.DNSKEY, rrs []dns.RR, now time.Time) map[string]bool {
	sets, sigs, proved := map[string][]dns.RR{}, map[string][]*dns.RRSIG{}, map[string]bool{}
	name := func(rr dns.RR, typ uint16) string {
		return dns.CanonicalName(rr.Header().Name) + " " + dns.Type(typ).String()
	}
	for _, rr := range rrs {
		if sig, ok := rr.(*dns.RRSIG); ok {
			n := name(sig, sig.TypeCovered)
			sigs[n] = append(sigs[n], sig)
		} else {
			n := name(rr, rr.Header().Rrtype)
			sets[n] = append(sets[n], rr)
		}
	}
	for n, list := range sigs {
		set := sets[n]
		for _, sig := range list {
			if set == nil {
				continue // the signatures were asked for themselves
			}
			good := false
			for _, key := range keys[sig.SignerName] {
				if key.KeyTag() == sig.KeyTag {
					good = sig.Verify(key, set) == nil
				}
			}
			if !good || !sig.ValidityPeriod(now) || sig.Hdr.Ttl != set[0].Header().Ttl || sig.OrigTtl < sig.Hdr.Ttl || sig.Labels != labels(n) {
				t.Fatalf("%s: not proved by %v", n, sig)
			}
		}
		proved[n] = true
	}
	return proved
}

// labels counts those of a name that stands before a space, but for the star.
func labels(n string) uint8 {
	name, _, _ := strings.Cut(n, " ")
	return uint8(dns.CountLabel(strings.TrimPrefix(name, "*.")))
}

// keysOf gives the keys of a configuration's zones by the zones' names.
func keysOf(cfg *Config) map[string][]*dns.DNSKEY {
	keys := map[string][]*dns.DNSKEY{}
	for _, z := range cfg.Zones {
		for _, k := range z.DNSSEC.Keys {
			keys[dns.Fqdn(z.Name)] = append(keys[dns.Fqdn(z.Name)], k.Record())
		}
	}
	return keys
}

// askSigned makes a query that wants proof.
func askSigned(name string, qtype uint16, co bool) []byte {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	m.SetEdns0(1232, true)
	m.IsEdns0().SetCo(co)
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

// judge holds an answer against what a validator asks of it: that every set is
// proved which the zone is the author of, that what is not there is denied by a
// record that says so of this very name, and that what is there is not denied.
func judge(t fataler, keys map[string][]*dns.DNSKEY, m *dns.Msg, now time.Time) {
	q := m.Question[0]
	proved := verify(t, keys, m.Answer, now)
	final := dns.CanonicalName(q.Name)
	delegated := !m.Authoritative || len(m.Ns) > 0 && m.Ns[0].Header().Rrtype == dns.TypeNS
	answered, dname := false, false
	for _, rr := range m.Answer {
		h := rr.Header()
		n := dns.CanonicalName(h.Name) + " " + dns.Type(h.Rrtype).String()
		made := h.Rrtype == dns.TypeCNAME && dname // RFC 6672 section 5.3.1
		if h.Rrtype != dns.TypeRRSIG && !proved[n] && !made {
			t.Fatalf("%s is not proved:\n%v", n, m)
		}
		dname = h.Rrtype == dns.TypeDNAME || dname && h.Rrtype == dns.TypeRRSIG
		if c, ok := rr.(*dns.CNAME); ok && q.Qtype != dns.TypeCNAME {
			final = dns.CanonicalName(c.Target)
		}
		answered = answered || h.Rrtype == q.Qtype || q.Qtype == dns.TypeANY && h.Rrtype != dns.TypeCNAME && h.Rrtype != dns.TypeRRSIG
	}
	proved = verify(t, keys, m.Ns, now)
	if answered || len(m.Ns) == 0 {
		return
	}
	var nsec *dns.NSEC
	for _, rr := range m.Ns {
		n := dns.CanonicalName(rr.Header().Name) + " " + dns.Type(rr.Header().Rrtype).String()
		if x, ok := rr.(*dns.NSEC); ok {
			nsec = x
		}
		if typ := rr.Header().Rrtype; typ != dns.TypeRRSIG && typ != dns.TypeNS && !proved[n] {
			t.Fatalf("%s is not proved:\n%v", n, m)
		}
	}
	has := func(typ uint16) bool { return slices.Contains(nsec.TypeBitMap, typ) }
	if delegated {
		cut := m.Ns[0].Header().Name
		if nsec != nil && (!has(dns.TypeNS) || has(dns.TypeDS) || has(dns.TypeSOA) || dns.CanonicalName(nsec.Hdr.Name) != dns.CanonicalName(cut)) {
			t.Fatalf("the delegation is not proved to be insecure:\n%v", m)
		}
		if nsec == nil && !proved[dns.CanonicalName(cut)+" DS"] {
			t.Fatalf("the delegation has no proof:\n%v", m)
		}
		return
	}
	switch {
	case nsec == nil:
		t.Fatalf("nothing is denied:\n%v", m)
	case dns.CanonicalName(nsec.Hdr.Name) != final:
		t.Fatalf("%s is denied in place of %s:\n%v", nsec.Hdr.Name, final, m)
	case has(q.Qtype), has(dns.TypeCNAME), !has(dns.TypeNSEC), !has(dns.TypeRRSIG):
		t.Fatalf("the types are not those of an absence:\n%v", m)
	case has(dns.TypeNXNAME) && len(nsec.TypeBitMap) != 3:
		t.Fatalf("a missing name has types:\n%v", m)
	case q.Qtype == dns.TypeDS && hasParent(keys, final) && (has(dns.TypeSOA) || has(dns.TypeDNSKEY)):
		t.Fatalf("the child denies its own DS record:\n%v", m)
	case m.Rcode == dns.RcodeNameError && !has(dns.TypeNXNAME):
		t.Fatalf("NXDOMAIN for a name that is there:\n%v", m)
	}
}

// hasParent says whether a zone lies in another of the zones.
func hasParent(keys map[string][]*dns.DNSKEY, zone string) bool {
	for name := range keys {
		if name != zone && strings.HasSuffix(zone, "."+name) {
			return true
		}
	}
	return false
}
