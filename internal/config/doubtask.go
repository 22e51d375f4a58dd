package config

import (
	"net/netip"
	"strings"
)

// doubtAsk warns of a resolver that is asked for a host that it gets by a push
// alone: before the first push it does not answer as is expected, so the site is
// not seen, and nothing is pushed to a site that was not seen (S2).
func (b *builder) doubtAsk(k *siteKeys) {
	for _, r := range k.Resolver {
		if r.V.Ask.At.File == "" {
			continue
		}
		ask := strings.ToLower(string(r.V.Ask.V))
		for _, ref := range k.Targets {
			i, known := b.targetAt[ref.V]
			if !known || b.targetUse[ref.V].V != string(k.Name.V) || !b.isHost(&b.file.Targets[i], ask) {
				continue
			}
			t := &b.file.Targets[i]
			// Elsewhere it may forward to the built-in server.
			if !k.publishes() || t.isAt(netip.AddrPort(r.V.Address.V).Addr()) {
				b.warn(r.V.Ask.At, "the resolver is asked for %s, which it gets when it is pushed to %s: until then the site is not seen, and nothing is pushed to a site that was not seen (rule S2); ask for a name that is not among the hosts, or leave \"ask\" out: a pushed record is asked for by itself once it is there", ask, t.Name.V)
			}
		}
	}
}

// isHost says whether a name is, or is covered by, a host that a target gets.
func (b *builder) isHost(t *targetKeys, name string) bool {
	for host := name; ; {
		if b.cfg.find.hosts[host] && t.takes(host) {
			return true
		}
		_, above, more := strings.Cut(strings.TrimPrefix(host, "*."), ".")
		if !more {
			return false
		}
		host = "*." + above
	}
}

// isAt says whether a server of the target has an address.
func (k *targetKeys) isAt(addr netip.Addr) bool {
	hosts := []string{k.Address.V.host, k.Server.V.host}
	for _, s := range k.Servers {
		hosts = append(hosts, hostOf(string(s.V.URL.V)))
	}
	for _, h := range hosts {
		if a, err := netip.ParseAddr(h); err == nil && a == addr {
			return true
		}
	}
	return false
}
