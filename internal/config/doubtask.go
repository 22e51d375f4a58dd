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
		for i := range b.file.Targets {
			t := &b.file.Targets[i]
			if b.targetUse[string(t.Name.V)].V != string(k.Name.V) || !b.isHost(t, ask) {
				continue
			}
			// Elsewhere it may forward to the built-in server.
			if !k.publishes() || t.isAt(netip.AddrPort(r.V.Address.V).Addr()) {
				b.warn(r.V.Ask.At, "the resolver is asked for %s, which it gets when it is pushed to %s: until then the site is not seen, and nothing is pushed to a site that was not seen (rule S2); ask for a name that is not among the hosts, or leave \"ask\" out: a pushed record is asked for by itself once it is there", ask, t.Name.V)
			}
		}
	}
}

// isHost says whether a name is, or is covered by, a host that a target gets.
func (b *builder) isHost(t *targetKeys, name string) bool {
	for i := range b.cfg.Sites.Services {
		for _, h := range b.cfg.Sites.Services[i].Hosts {
			above, wild := strings.CutPrefix(h, "*")
			if (h == name || wild && strings.HasSuffix(name, above)) && t.takes(h) {
				return true
			}
		}
	}
	return false
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
