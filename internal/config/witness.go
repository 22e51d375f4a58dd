package config

import (
	"fmt"
	"net/netip"
	"path/filepath"

	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// witnesses resolves what proves a site's lines (O3, N2, N3).
func (b *builder) witnesses(k *siteKeys, s *sites.Site) {
	w := k.Witnesses
	at := k.At
	if w == nil {
		w = b.file.Defaults.Witnesses
	} else {
		at = w.At
	}
	seen := newNames(b.report, "witness")
	if w.Word.Set {
		if w.Word.V == "none" {
			s.NoWitness = true
			return
		}
		b.resolvers(k, s, at, seen)
		return
	}
	if len(w.Of) == 0 {
		b.resolvers(k, s, at, seen)
	}
	s.WitnessAll = w.Require.Set && w.Require.V == "all"
	for i := range w.Of {
		switch o := &w.Of[i]; {
		case o.Word.V == "resolver":
			b.resolvers(k, s, o.Word.At, seen)
		case o.Word.V == "nodes":
			if s.WitnessNodes {
				b.fault(o.Word.At, "the witness \"nodes\" stands twice, expected it once")
			}
			if len(s.Nodes) < 2 {
				b.fault(o.Word.At, "site %s has one node, expected another: it cannot be its own witness", s.Name)
			}
			s.WitnessNodes = true
		default:
			b.probeWitness(s, o, seen)
		}
	}
	if s.WitnessNodes && len(s.Witnesses) == 0 {
		b.warn(at, "nodes are the only witness of site %s: those that die together hold each other, and the last one is never taken out; a resolver or another probe beside them tells such an outage from one of the line", s.Name)
	}
}

// resolvers adds a site's resolvers as witnesses.
func (b *builder) resolvers(k *siteKeys, s *sites.Site, at Pos, seen *seenNames) {
	if len(k.Resolver) == 0 {
		b.fault(at.or(k.At), "site %s has no resolver and no other witness: without one an outage of the line looks like an outage of its nodes; give \"resolver\", \"witnesses\", or \"witnesses: none\" to do without", s.Name)
	}
	for _, r := range k.Resolver {
		addr := netip.AddrPort(r.V.Address.V)
		name := "resolver " + addr.Addr().String()
		if addr.Port() != 53 {
			name = "resolver " + addr.String()
		}
		if !seen.add(Value[string]{V: name, At: r.V.Address.At}) {
			continue
		}
		s.Witnesses = append(s.Witnesses, sites.Witness{Name: name, Addr: addr.Addr()})
		b.cfg.probers[sites.Subject{Site: s.Name, Witness: name}] = []probes.Prober{b.question(&r.V, int(addr.Port()))}
	}
}

// question makes the probe of a resolver (O3).
func (b *builder) question(r *resolverKeys, port int) probes.Resolver {
	b.known.fill(r, true)
	q := probes.Resolver{Ask: string(r.Ask.V) + ".", Type: "A", Port: port, Expect: unwrap(r.Expect)}
	if r.Ask.At.File == "" && len(r.Expect) > 0 {
		b.fault(r.Expect[0].At, "\"expect\" without \"ask\" would have no effect, expected both")
	}
	for _, a := range r.Expect {
		if sites.FamilyOf(a.V) != sites.FamilyOf(r.Expect[0].V) {
			b.fault(a.At, "found addresses of both families, expected one: they are answers to one question")
		} else if a.V.Is6() {
			q.Type = "AAAA"
		}
	}
	return q
}

// probeWitness adds a probe with an address as a witness.
func (b *builder) probeWitness(s *sites.Site, o *witnessKeys, seen *seenNames) {
	b.known.fill(o, true)
	if o.Type.V == "heartbeat" {
		b.fault(o.Type.At, "found a heartbeat as a witness, expected a probe that asks: what is only told proves no line")
		return
	}
	prober, _ := b.prober(&o.probeKind)
	if o.ExpiresWithin.Set {
		b.fault(o.ExpiresWithin.At, "found \"expires_within\" in a witness, expected it in a probe of a node: the line works whatever the certificate says")
	}
	if o.Server.Set {
		b.fault(o.Server.At, "found \"server\" in a witness, expected its \"address\" alone: that is what it proves")
	}
	name := witnessName(o)
	if o.Type.V == "exec" {
		name = freeName(name, seen.at)
	}
	if !seen.add(Value[string]{V: name, At: o.Address.At}) {
		return
	}
	s.Witnesses = append(s.Witnesses, sites.Witness{Name: name, Addr: o.Address.V})
	b.cfg.probers[sites.Subject{Site: s.Name, Witness: name}] = []probes.Prober{prober}
}

// witnessName says what a witness asks.
func witnessName(o *witnessKeys) string {
	addr := o.Address.V
	switch o.Type.V {
	case "tcp", "tls":
		return o.Type.V + " " + netip.AddrPortFrom(addr, uint16(o.Port.V)).String()
	case "http", "haproxy":
		return fmt.Sprintf("%s %s %s", o.Type.V, addr, o.URL.V)
	case "dns":
		at := addr.String()
		if port := o.dnsPort(); port != 53 {
			at = netip.AddrPortFrom(addr, uint16(port)).String()
		}
		return fmt.Sprintf("dns %s %s %s", at, o.Query.V, o.RRType.V)
	case "exec":
		// Without the arguments: there may be a password among them.
		return fmt.Sprintf("exec %s %s", addr, filepath.Base(string(o.Command[0].V)))
	default:
		return o.Type.V + " " + addr.String()
	}
}
