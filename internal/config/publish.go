package config

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/sites"
)

// takes says whether a target of a site holds a host: one that is pushed to.
func (b *builder) takes(k *siteKeys, host string) bool {
	return slices.ContainsFunc(k.Targets, func(t Value[string]) bool {
		i, known := b.targetAt[t.V]
		switch {
		case t.V == builtin:
			return false
		case !known:
			return true // a fault of its own
		}
		return b.file.Targets[i].takes(host)
	})
}

// takes says whether a target holds a host: a zone holds those in it.
func (k *targetKeys) takes(host string) bool {
	return k.Type.V != "rfc2136" || inside(strings.TrimPrefix(host, "*."), string(k.Zone.V))
}

// Takes says whether a host is pushed to the target: a zone holds the hosts in
// it alone.
func (t *Target) Takes(host string) bool {
	return t.RFC2136 == nil || inside(strings.TrimPrefix(host, "*."), t.RFC2136.Zone)
}

// pushed says whether a site has a target beside the built-in server.
func (b *builder) pushed(k *siteKeys) bool {
	return slices.ContainsFunc(k.Targets, func(t Value[string]) bool { return t.V != builtin })
}

// needsZone says whether a host of a service must be in a zone of the built-in
// server: a site publishes it there, and nowhere else.
func (b *builder) needsZone(service int, host string) bool {
	return slices.ContainsFunc(b.cfg.Sites.Services[service].Sites, func(site string) bool {
		k := &b.file.Sites[b.siteAt[site]]
		return k.publishes() && !b.takes(k, host)
	})
}

// published refuses hosts that a site publishes nowhere.
func (b *builder) published() {
	if b.file.DNS == nil && len(b.file.Targets) == 0 {
		return // a fault of its own
	}
	for i := range b.cfg.Sites.Services {
		for _, site := range b.cfg.Sites.Services[i].Sites {
			b.publishedAt(i, &b.file.Sites[b.siteAt[site]])
		}
	}
}

func (b *builder) publishedAt(service int, k *siteKeys) {
	if b.file.DNS != nil && k.publishes() {
		return // the zones of the built-in server decide
	}
	if !b.pushed(k) {
		b.fault(k.At, "the services of site %s are published nowhere, expected the built-in server or a target: give the site the key \"targets\", or add the key \"dns\" at the top", k.Name.V)
		return
	}
	for _, h := range b.file.Services[service].Hosts {
		if !b.takes(k, string(h.V)) {
			b.fault(h.At, "the host %q is in no zone that site %s publishes to (%s): give the site another target, or leave the host out", h.V, k.Name.V, clipWords(b.zonesOf(k)))
		}
	}
}

// zonesOf lists the zones of a site's targets.
func (b *builder) zonesOf(k *siteKeys) (list []string) {
	for _, t := range k.Targets {
		if i, known := b.targetAt[t.V]; known && b.file.Targets[i].Zone.Set {
			list = append(list, string(b.file.Targets[i].Zone.V))
		}
	}
	return list
}

// doubtTargets warns of targets that do less than it seems.
func (b *builder) doubtTargets() {
	marked := b.file.Instance.Set
	for i := range b.file.Targets {
		k := &b.file.Targets[i]
		use, used := b.targetUse[string(k.Name.V)]
		if !used {
			b.warn(k.Name.At, "no site has the target %s: nothing is pushed to it; add it to the key \"targets\" of a site", k.Name.V)
			continue
		}
		switch {
		case k.DryRun.V:
			b.warn(k.DryRun.At, "nothing is changed at %s while dry_run is set: its names have no failover", k.Name.V)
		case k.CreateOnly.V:
			b.warn(k.CreateOnly.At, "records at %s are never changed or removed while create_only is set: its names have no failover", k.Name.V)
		}
		if !marked && (k.Type.V == "routeros" || k.Ownership.V == "txt") {
			b.warn(k.Name.At, "what dnsteer has written to %s is known by the name of this controller, and that is the name of this machine: under another, as each new container has, none of it would be dnsteer's, and nothing there would fail over; give the key \"instance\" at the top", k.Name.V)
			marked = true // once is enough
		}
		b.doubtSecrecy(k)
		b.doubtHosts(k, use.V)
	}
}

// doubtSecrecy warns of passwords and records that others can read or forge.
func (b *builder) doubtSecrecy(k *targetKeys) {
	switch {
	case k.Plain.V && !loopback(k.Address.V.host):
		b.warn(k.Plain.At, "the password of %s goes over the line as it is: whoever stands between reads it", k.Name.V)
	case k.Insecure.V:
		b.warn(k.Insecure.At, "the certificate of %s is not looked at: whoever stands between reads the password; tls_fingerprint says which is the right one (`dnsteer target pin %s` shows it)", k.Name.V, k.Name.V)
	case k.Type.V == "rfc2136" && k.TSIG == nil && !loopback(k.Server.V.host):
		b.warn(k.Type.At, "updates of %s are not signed: whoever can send from this machine's address, or in its name, changes the zone; give the key \"tsig\"", k.Name.V)
	}
	for _, s := range k.Servers {
		if u := string(s.V.URL.V); plainURL(u) && !loopback(hostOf(u)) {
			b.warn(s.V.URL.At, "the password of %s goes over the line as it is (http://): whoever stands between reads it", k.Name.V)
		}
	}
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback() || host == "localhost"
}

// doubtHosts warns of hosts that a target answers otherwise than the built-in
// server would.
func (b *builder) doubtHosts(k *targetKeys, site string) {
	s := &b.cfg.Sites.Sites[b.siteAt[site]]
	for i, svc := range b.cfg.servicesOf(site) {
		at, pool := &b.file.Services[i], b.cfg.poolNamed(s, svc.Pool)
		if pool.Policy != sites.PolicyAll {
			b.warn(at.Pool.At.or(at.At), "the policy %s of the pool %s/%s holds at the built-in server alone: %s is given all nodes that serve", pool.Policy, site, pool.Name, k.Name.V)
		}
		for _, h := range at.Hosts {
			switch {
			case !k.takes(string(h.V)):
				b.warn(h.At, "the host %q is not pushed to %s: it lies outside of the zone %s", h.V, k.Name.V, k.Zone.V)
			case k.Type.V == "adguard" && strings.HasPrefix(string(h.V), "*.") && several(s, pool):
				b.warn(h.At, "AdGuard Home answers one value of a wildcard alone: of the nodes of %s/%s that serve, clients of %s get one; hosts without a wildcard have all", site, pool.Name, k.Name.V)
			}
		}
	}
}

// several says whether a pool may answer more than one address of a family.
func several(s *sites.Site, p *sites.Pool) bool {
	most := [2]int{}
	for _, n := range p.Nodes {
		of := [2]int{}
		for _, list := range [][]netip.Addr{s.Nodes[n].Addresses, s.Nodes[n].Secondary} {
			for _, a := range list {
				of[sites.FamilyOf(a)]++
			}
		}
		for f := range of {
			if p.Mode == sites.ActiveActive {
				most[f] += of[f]
			} else {
				most[f] = max(most[f], of[f])
			}
		}
	}
	return max(most[0], most[1]) > 1
}
