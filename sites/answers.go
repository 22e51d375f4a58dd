package sites

import (
	"net/netip"
	"slices"
	"time"
)

// Answer gives what a pool answers at the time of the last Step.
func (m *Machine) Answer(id PoolID) Answer {
	a := m.answer(id)
	a.IPv4, a.IPv6 = distinct(a.IPv4), distinct(a.IPv6)
	for i := range a.Nodes {
		n := &a.Nodes[i]
		n.IPv4, n.IPv6 = distinct(n.IPv4), distinct(n.IPv6)
	}
	return a
}

// answer gives it with what several nodes have as often as they have it.
func (m *Machine) answer(id PoolID) Answer {
	p := m.sites[id.Site].pools[id.Pool]
	a := Answer{Source: p.Source, From: p.site.Name, Horizon: m.horizon(p)}
	from := p
	if p.From != "" {
		a.From = p.From
		from = p.stand(m.byName[p.From])
	}
	if p.Source == LastResort && p.cfg.OnEmpty == OnEmptyAnswer {
		for f := range Family(families) {
			add(&a.IPv4, &a.IPv6, f, p.cfg.Sorry)
		}
		return a
	}
	if from.cfg.Mode == ActiveActive && p.Source != LastResort {
		a.Policy = from.cfg.Policy // a last resort answers all (A5)
	}
	average := 0.0
	if a.Policy == PolicyLeastLoad {
		var known bool
		if average, known = from.byLoad(); !known {
			a.Policy = PolicyAll
		}
	}
	for _, x := range from.Members {
		n := from.find(x.Node, x.Replaced)
		if n == nil {
			continue
		}
		one := AnswerNode{Name: n.Name, Weight: n.cfg.Weight}
		if a.Policy == PolicyLeastLoad {
			one.Weight = n.weightAt(average)
		}
		for f := range x.In {
			if !x.In[f] {
				continue
			}
			for _, list := range [...][]netip.Addr{n.cfg.Addresses, n.cfg.Secondary} {
				add(&a.IPv4, &a.IPv6, Family(f), list)
				if a.Policy != PolicyAll {
					add(&one.IPv4, &one.IPv6, Family(f), list)
				}
			}
		}
		if a.Policy != PolicyAll {
			a.Nodes = append(a.Nodes, one)
		}
	}
	return a
}

// add puts the addresses of a family behind those that are there.
func add(v4, v6 *[]netip.Addr, f Family, addrs []netip.Addr) {
	list := v4
	if f == IPv6 {
		list = v6
	}
	for _, x := range addrs {
		if FamilyOf(x) == f {
			*list = append(*list, x)
		}
	}
}

// few is up to how many addresses are held against each other one by one.
const few = 16

// distinct leaves each address in its first place.
func distinct(list []netip.Addr) []netip.Addr {
	if len(list) > few {
		seen := make(map[netip.Addr]bool, len(list))
		return slices.DeleteFunc(list, func(x netip.Addr) bool {
			again := seen[x]
			seen[x] = true
			return again
		})
	}
	kept := list[:0]
	for _, x := range list {
		if !slices.Contains(kept, x) {
			kept = append(kept, x)
		}
	}
	return kept
}

// horizon is how long no change of the pool's answer is in sight, rounded down
// to the TTLs of the site's names (A9).
func (m *Machine) horizon(p *pool) time.Duration {
	near := p.nearest(m)
	if p.Source == Emergency {
		near = min(near, p.stand(m.byName[p.From]).nearest(m))
	}
	if near == Forever {
		return near
	}
	h := time.Duration(0)
	for _, ttl := range p.site.ttls {
		if ttl <= near {
			h = ttl
		} else {
			return h
		}
	}
	return Forever
}

// nearest is how far the next change of the pool's own nodes is away.
func (p *pool) nearest(m *Machine) time.Duration {
	near := p.putOffNear(m.now.Boot)
	for _, n := range p.nodes {
		if n.taken() {
			continue
		}
		for _, l := range n.lines {
			switch {
			case l == nil:
			case l.unsettled:
				return 0
			case l.Word == WordRecovering && l.answers() && !l.doubted && n.cfg.Failback == FailbackAuto:
				near = min(near, max(0, l.graceEnd()-m.now.Boot))
			}
		}
	}
	for i := range p.site.windows {
		if m.now.Suspect {
			break // no window opens (O6)
		}
		if w := &p.site.windows[i]; !w.active && !w.change.IsZero() && w.concerns(p) {
			near = min(near, max(0, w.change.Sub(m.now.Wall)))
		}
	}
	return near
}
