package config

import (
	"fmt"

	"github.com/dnsteer/dnsteer/sites"
)

// site resolves one site: what stands on it, else in the defaults.
func (b *builder) site(k *siteKeys) sites.Site {
	d := &b.file.Defaults
	b.known.fill(k, false)
	s := sites.Site{
		Name:          string(k.Name.V),
		Local:         k.Local.V,
		Threshold:     first(k.SiteThreshold, d.SiteThreshold).V,
		Interval:      first(k.ProbeInterval, d.ProbeInterval).V,
		Timeout:       first(k.ProbeTimeout, d.ProbeTimeout).V,
		EmergencySite: k.Emergency.V,
		TTL:           first(k.TTL, d.TTL).V,
		TTLUnsettled:  first(k.TTLUnsettled, d.TTLUnsettled).V,
		FailoverAfter: b.failoverAfter(k),
	}
	nodeAt := make(map[string]int)
	seen := newNames(b.report, "node")
	for i := range k.Nodes {
		n := &k.Nodes[i]
		if seen.add(text(n.Name)) {
			nodeAt[string(n.Name.V)] = i
		}
		s.Nodes = append(s.Nodes, b.node(k, n))
	}
	s.Pools = b.pools(k, nodeAt)
	for i := range k.Maintenance {
		s.Windows = append(s.Windows, b.window(k, &k.Maintenance[i], nodeAt))
	}
	b.witnesses(k, &s)
	b.siteTargets(k)
	return s
}

// node resolves one node: what stands on it, else on its site, else in the
// defaults.
func (b *builder) node(k *siteKeys, n *nodeKeys) sites.Node {
	d := &b.file.Defaults
	b.known.fill(n, false)
	node := sites.Node{
		Name:      string(n.Name.V),
		Addresses: unwrap(n.Addresses),
		Secondary: unwrap(n.Secondary),
		Threshold: first(n.Threshold, k.Threshold, d.Threshold).V,
		Grace:     first(n.Grace, k.Grace, d.Grace).V,
		Rise:      first(n.Rise, k.Rise, d.Rise).V,
		Interval:  first(n.ProbeInterval, k.ProbeInterval, d.ProbeInterval).V,
		Timeout:   first(n.ProbeTimeout, k.ProbeTimeout, d.ProbeTimeout).V,
		Failover:  n.Failover.V,
		Weight:    n.Weight.V,
	}
	if q := first(n.Quarantine, k.Quarantine, d.Quarantine).V; q.Outages.Set {
		node.Quarantine = sites.Quarantine{Outages: q.Outages.V, Within: q.Within.V, Hold: q.Hold.V}
	}
	if first(n.Failback, k.Failback, d.Failback).V == "manual" {
		node.Failback = sites.FailbackManual
	}
	b.distinct(n.Addresses, n.Secondary)
	list := d.Probes
	switch {
	case n.Probes != nil:
		list = n.Probes
	case k.Probes != nil:
		list = k.Probes
	}
	require := first(n.Require, k.Require, d.Require)
	node.Require = int(require.V)
	steering := b.nodeProbes(string(k.Name.V), &node, list)
	switch at := require.At.or(n.At); {
	case steering == 0 && len(list) > 0:
		b.fault(list[0].At, "none of the probes steers, expected one without \"steer: false\": a node would never be judged")
	case node.Require > steering:
		b.fault(at, "%d probes are required, expected at most the %d that steer at node %s", node.Require, steering, node.Name)
	}
	return node
}

// pools resolves a site's pools: the pool of all nodes, then the others.
func (b *builder) pools(k *siteKeys, nodeAt map[string]int) []sites.Pool {
	all := make([]int, len(k.Nodes))
	for i := range all {
		all[i] = i
	}
	list := []sites.Pool{b.pool(k, sites.DefaultPool, &poolSettings{}, all)}
	seen := newNames(b.report, "pool")
	for i := range k.Pools {
		p := &k.Pools[i]
		if p.Name.V == sites.DefaultPool {
			b.fault(p.Name.At, "found \"default\", expected another name: this pool has all nodes of the site in their order, and the site's settings")
		}
		seen.add(text(p.Name))
		list = append(list, b.pool(k, string(p.Name.V), &p.poolSettings, b.members(p.Nodes, nodeAt, k)))
	}
	b.policies(k, list)
	return list
}

func (b *builder) pool(k *siteKeys, name string, own *poolSettings, nodes []int) sites.Pool {
	d := &b.file.Defaults
	p := sites.Pool{
		Name:    name,
		Nodes:   nodes,
		MinHold: first(own.MinHold, k.MinHold, d.MinHold).V,
		Guard:   b.guard(first(own.Guard, k.Guard, d.Guard).V),
	}
	if first(own.Mode, k.Mode, d.Mode).V == "active_passive" {
		p.Mode = sites.ActivePassive
	} else {
		p.Policy = policyOf(first(own.Policy, k.Policy, d.Policy).V)
	}
	p.OnEmpty, p.Sorry = b.onEmpty(firstList(own.OnEmpty, k.OnEmpty, d.OnEmpty))
	return p
}

// members finds nodes by name.
func (b *builder) members(refs []Value[string], nodeAt map[string]int, k *siteKeys) []int {
	var list []int
	seen := newNames(b.report, "node")
	for _, ref := range refs {
		i, ok := nodeAt[ref.V]
		switch {
		case !ok:
			b.unknownName(ref, fmt.Sprintf("site %s has no node", k.Name.V), nodeNames(k))
		case seen.add(ref):
			list = append(list, i)
		}
	}
	return list
}

func nodeNames(k *siteKeys) (list []string) {
	for i := range k.Nodes {
		list = append(list, string(k.Nodes[i].Name.V))
	}
	return list
}

// window resolves a maintenance window (C5).
func (b *builder) window(k *siteKeys, w *windowKeys, nodeAt map[string]int) sites.Window {
	b.known.fill(w, false)
	out := sites.Window{
		Nodes:    b.members(w.Nodes, nodeAt, k),
		Schedule: w.Schedule.V.schedule,
		Text:     w.Schedule.V.text,
		Duration: w.Duration.V,
		Location: w.Timezone.V.Location,
	}
	if gap := shortestGap(out.Schedule); gap <= out.Duration {
		b.warn(w.Duration.At, "the window lasts %s and begins again after %s: it does not end between the two", formatDuration(out.Duration), formatDuration(gap))
	}
	return out
}
