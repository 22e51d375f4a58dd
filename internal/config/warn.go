package config

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/dnsteer/dnsteer/sites"
)

// suspicions warns of what is allowed and likely not meant.
func (b *builder) suspicions() {
	if len(b.report.faults) > 0 {
		return
	}
	if len(b.file.Sites) == 0 && len(b.file.Services) == 0 {
		b.warn(b.file.At, "there are no sites and no services: nothing is watched and nothing fails over")
	}
	b.doubtTop()
	used := b.cfg.usage()
	for i := range b.file.Sites {
		k, s := &b.file.Sites[i], &b.cfg.Sites.Sites[i]
		b.doubtWitnesses(k, s)
		b.doubtAsk(k)
		b.doubtTimes(k, s)
		b.doubtPools(k, s)
		b.doubtUnused(k, s, used)
		b.doubtWeights(k, s)
		b.doubtEmpty(k, s)
		b.doubtGuards(k, s)
		b.doubtLoads(k, s)
		b.doubtSiteDown(k, s)
		b.doubtWindows(k, s)
		b.doubtLine(k, s)
		for j := range k.Nodes {
			b.doubtNode(k, &k.Nodes[j], s, &s.Nodes[j])
			b.doubtQuarantine(k, &k.Nodes[j], s, &s.Nodes[j])
		}
	}
	b.doubtServices()
	b.doubtTransfers()
	b.doubtSigning()
	b.doubtTargets()
}

// doubtWitnesses warns of witnesses that prove little or the wrong thing.
func (b *builder) doubtWitnesses(k *siteKeys, s *sites.Site) {
	if s.NoWitness {
		at := b.file.Defaults.Witnesses.Word.At
		if k.Witnesses != nil {
			at = k.Witnesses.At
		}
		b.warn(at, "site %s has no witness: an outage of the line to it takes its nodes out although they work", s.Name)
	}
	for _, r := range k.Resolver {
		addr := netip.AddrPort(r.V.Address.V)
		name := sites.Witness{Name: "resolver " + addr.Addr().String(), Addr: addr.Addr()}
		asked := slices.ContainsFunc(s.Witnesses, func(w sites.Witness) bool { return w.Addr == name.Addr })
		// Where answers are pushed to the site, its resolver is asked for one of them (O3).
		if asked && len(r.V.Expect) == 0 && !b.pushed(k) {
			b.warn(r.V.Address.At, "the resolver %s proves little: any answer counts, also one from something on the way; give \"ask\" and \"expect\" with a name that it answers by itself", addr.Addr())
		}
	}
	at := k.At
	if k.Witnesses != nil {
		at = k.Witnesses.At
	}
	for _, w := range s.Witnesses {
		for j := range s.Nodes {
			n := &s.Nodes[j]
			if slices.Contains(n.Addresses, w.Addr) || slices.Contains(n.Secondary, w.Addr) {
				b.warn(witnessAt(k, w.Addr).or(at), "the witness %s is the node %s too: when that host dies the witness is silent, and there is no failover", w.Name, n.Name)
			}
		}
	}
}

// witnessAt is where a site's witness is written.
func witnessAt(k *siteKeys, addr netip.Addr) Pos {
	for _, r := range k.Resolver {
		if netip.AddrPort(r.V.Address.V).Addr() == addr {
			return r.V.Address.At
		}
	}
	if k.Witnesses != nil {
		for i := range k.Witnesses.Of {
			if a := k.Witnesses.Of[i].Address; a.V == addr {
				return a.At
			}
		}
	}
	return Pos{}
}

// doubtTimes warns of TTLs that outlast what they are for.
func (b *builder) doubtTimes(k *siteKeys, s *sites.Site) {
	d := &b.file.Defaults
	ttl, unsettled := first(k.TTL, d.TTL), first(k.TTLUnsettled, d.TTLUnsettled)
	if n := quickest(s); n != nil && s.TTL > n.Threshold && b.inherits(s.Name) {
		b.warn(ttl.At.or(k.At), "the TTL %s is over the threshold %s of node %s/%s: caches may outlast the failover", formatDuration(s.TTL), formatDuration(n.Threshold), s.Name, n.Name)
	}
	if s.TTLUnsettled > s.TTL {
		b.warn(unsettled.At.or(k.At), "ttl_unsettled %s is over the TTL %s: it has no effect", formatDuration(s.TTLUnsettled), formatDuration(s.TTL))
	}
	interval, timeout := first(k.ProbeInterval, d.ProbeInterval), first(k.ProbeTimeout, d.ProbeTimeout)
	if timeout.V > interval.V {
		b.warn(timeout.At.or(interval.At).or(k.At), "probe_timeout %s is over probe_interval %s: while nothing answers, probes are that far apart", formatDuration(timeout.V), formatDuration(interval.V))
	}
}

// inherits says whether a service at a site has the site's TTL: each may have one
// of its own.
func (b *builder) inherits(site string) bool {
	own := false
	for _, svc := range b.cfg.servicesOf(site) {
		if svc.TTL == 0 {
			return true
		}
		own = true
	}
	return !own
}

// quickest is the node with the least threshold.
func quickest(s *sites.Site) *sites.Node {
	var least *sites.Node
	for i := range s.Nodes {
		if n := &s.Nodes[i]; least == nil || n.Threshold < least.Threshold {
			least = n
		}
	}
	return least
}

func (b *builder) doubtNode(k *siteKeys, n *nodeKeys, s *sites.Site, node *sites.Node) {
	d := &b.file.Defaults
	threshold := first(n.Threshold, k.Threshold, d.Threshold)
	if node.Threshold < 2*node.Interval {
		b.warn(threshold.At.or(n.At), "the threshold %s of node %s/%s is under two probe intervals of %s: two lost probes may decide", formatDuration(node.Threshold), s.Name, node.Name, formatDuration(node.Interval))
	}
	if n.ProbeTimeout.Set && node.Timeout > node.Interval {
		b.warn(n.ProbeTimeout.At, "probe_timeout %s is over probe_interval %s: while nothing answers, probes are that far apart", formatDuration(node.Timeout), formatDuration(node.Interval))
	}
	if !judged(s, node) {
		b.warn(n.Addresses[0].At, "no address of node %s/%s is of a family in which the site has a witness: the node is never taken out (rule N13)", s.Name, node.Name)
	}
	for _, a := range n.Addresses {
		f := sites.FamilyOf(a.V)
		proven := slices.ContainsFunc(s.Witnesses, func(w sites.Witness) bool { return sites.FamilyOf(w.Addr) == f })
		if proven && s.WitnessAll && s.WitnessNodes && !others(s, node, f) {
			b.warn(a.At, "no other node of site %s has an address in %s, and with \"require: all\" one must answer before an outage of node %s is believed: in that family it is never taken out", s.Name, f, node.Name)
			break
		}
	}
	for j := range s.Nodes {
		other := &s.Nodes[j]
		if other.Name == node.Name {
			return
		}
		for _, a := range n.Addresses {
			if slices.Contains(other.Addresses, a.V) {
				b.warn(a.At, "the address %s is that of node %s/%s too: it stays in the answers until both are out", a.V, s.Name, other.Name)
			}
		}
	}
}

// judged says whether a node has an address on a line with a witness (N13).
func judged(s *sites.Site, n *sites.Node) bool {
	at := slices.IndexFunc(s.Nodes, func(x sites.Node) bool { return x.Name == n.Name })
	return slices.ContainsFunc(n.Addresses, func(a netip.Addr) bool { return s.Judges(at, sites.FamilyOf(a)) })
}

// others says whether another node of the site is asked in a family.
func others(s *sites.Site, n *sites.Node, f sites.Family) bool {
	for i := range s.Nodes {
		o := &s.Nodes[i]
		if o.Name != n.Name && slices.ContainsFunc(o.Addresses, func(a netip.Addr) bool { return sites.FamilyOf(a) == f }) {
			return true
		}
	}
	return false
}

// doubtPools warns of nodes that could never serve.
func (b *builder) doubtPools(k *siteKeys, s *sites.Site) {
	for i, p := range s.Pools {
		if p.Mode != sites.ActivePassive {
			continue
		}
		for at, n := range p.Nodes[:max(0, len(p.Nodes)-1)] {
			if node := &s.Nodes[n]; !node.Failover {
				place := k.Nodes[n].Failover.At
				if i > 0 {
					place = k.Pools[i-1].Nodes[at].At
				}
				b.warn(place.or(k.At), "in the active_passive pool %s/%s the node %s is never taken out (failover: false): the nodes after it never serve, whether it answers or not", s.Name, p.Name, node.Name)
				break
			}
		}
	}
}

// doubtLine warns of clients that lose the names together with the line. A site
// that no clients belong to is asked for from elsewhere.
func (b *builder) doubtLine(k *siteKeys, s *sites.Site) {
	if !atSite(k) || s.Local || b.file.DNS == nil || !b.has(s.Name) || b.handed(s.Name) || b.pushed(k) {
		return
	}
	at := k.At
	if len(k.Targets) > 0 && k.Targets[0].At.File != "" {
		at = k.Targets[0].At
	}
	b.warn(at, "site %s is remote and its answers are published by the built-in server alone: its clients lose the names together with the line to the controller (a target at the site prevents that, see targets, or a secondary, see transfer); say \"local: true\" if the controller stands there", s.Name)
}

// has says whether a site has a service.
func (b *builder) has(site string) bool {
	return len(b.cfg.find.services[site]) > 0
}

// doubtServices warns of TTLs and emergency sites that do not fit services.
func (b *builder) doubtServices() {
	for i := range b.cfg.Sites.Services {
		s, k := &b.cfg.Sites.Services[i], &b.file.Services[i]
		for _, name := range s.Sites {
			site := &b.cfg.Sites.Sites[b.siteAt[name]]
			if n := quickest(site); s.TTL > n.Threshold {
				b.warn(k.TTL.At, "the TTL %s is over the threshold %s of node %s/%s: caches may outlast the failover", formatDuration(s.TTL), formatDuration(n.Threshold), name, n.Name)
				break
			}
		}
	}
	for i := range b.file.Sites {
		k := &b.file.Sites[i]
		if !k.Emergency.Set || !b.has(string(k.Name.V)) {
			continue
		}
		shared := slices.ContainsFunc(b.cfg.find.services[string(k.Name.V)], func(i int) bool {
			return slices.Contains(b.cfg.Sites.Services[i].Sites, k.Emergency.V)
		})
		if !shared {
			b.warn(k.Emergency.At, "the emergency site %s has none of the services of %s: its nodes may not know these hosts", k.Emergency.V, k.Name.V)
		}
	}
}

// plural counts things for people.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
