package config

import (
	"net/netip"

	"github.com/dnsteer/dnsteer/sites"
)

// policyOf gives the policy of a name; "" is the default.
func policyOf(text string) sites.Policy {
	switch text {
	case "weighted":
		return sites.PolicyWeighted
	case "ip_hash":
		return sites.PolicyIPHash
	case "least_load":
		return sites.PolicyLeastLoad
	default:
		return sites.PolicyAll
	}
}

// policies refuses a policy of active_active pools that was given to others by
// themselves (A8). The list holds the site's default pool first.
func (b *builder) policies(k *siteKeys, list []sites.Pool) {
	const remedy = "write \"mode: active_active\", or remove the policy"
	reached := list[0].Mode == sites.ActiveActive // by what the site says
	for i := range k.Pools {
		own, active := k.Pools[i].Policy, list[i+1].Mode == sites.ActiveActive
		if own.Set && !active && policyOf(own.V) != sites.PolicyAll {
			b.fault(own.At, "the policy %s is one of active_active pools, found the active_passive pool %s: %s", own.V, list[i+1].Name, remedy)
		}
		reached = reached || active && !own.Set
	}
	if k.Policy.Set && !reached && policyOf(k.Policy.V) != sites.PolicyAll {
		b.fault(k.Policy.At, "the policy %s is one of active_active pools, found no such pool at site %s that it reaches: %s", k.Policy.V, k.Name.V, remedy)
	}
}

// doubtWeights warns of weights that nobody looks at.
func (b *builder) doubtWeights(k *siteKeys, s *sites.Site) {
	weighed := make(map[int]bool)
	for _, p := range s.Pools {
		for _, n := range p.Nodes {
			weighed[n] = weighed[n] || p.Policy != sites.PolicyAll
		}
	}
	for i := range k.Nodes {
		if w := k.Nodes[i].Weight; w.At.File != "" && !weighed[i] {
			b.warn(w.At, "the weight of node %s/%s has no effect: no active_active pool with it has the policy weighted, ip_hash or least_load", s.Name, s.Nodes[i].Name)
		}
	}
}

// emptyAnswer is an entry of on_empty: an address, or keep or remove alone.
type emptyAnswer struct {
	word string
	addr netip.Addr
}

func (e *emptyAnswer) form() form {
	return form{name: "keep, remove or address", pattern: `^([0-9a-fA-F.:]+|keep|remove)$`, words: []string{"keep", "remove"}}
}

func (e *emptyAnswer) UnmarshalText(text []byte) (err error) {
	switch s := string(text); s {
	case "keep", "remove":
		e.word = s
	default:
		if e.addr, err = netip.ParseAddr(s); err == nil {
			e.addr, err = parseAddr(s)
		} else {
			err = expected(`keep, remove or an IP address such as 10.9.0.1 or "fd00:9::1"` + Suggest(s, []string{"keep", "remove"}))
		}
	}
	return err
}

// onEmpty resolves what is answered when nothing is left (A5).
func (b *builder) onEmpty(list List[Value[emptyAnswer]]) (sites.OnEmpty, []netip.Addr) {
	var sorry []netip.Addr
	seen := newNames(b.report, "address")
	for _, e := range list {
		switch word := e.V.word; {
		case word == "":
			seen.add(Value[string]{V: e.V.addr.String(), At: e.At})
			sorry = append(sorry, e.V.addr)
		case len(list) > 1:
			b.fault(e.At, "found %s beside other entries, expected it alone, or addresses", word)
		case word == "remove":
			return sites.OnEmptyRemove, nil
		}
	}
	if sorry == nil {
		return sites.OnEmptyKeep, nil
	}
	return sites.OnEmptyAnswer, sorry
}

// doubtEmpty warns of names that may vanish.
func (b *builder) doubtEmpty(k *siteKeys, s *sites.Site) {
	for i := range s.Pools {
		if s.Pools[i].OnEmpty != sites.OnEmptyRemove {
			continue
		}
		list := firstList(k.OnEmpty, b.file.Defaults.OnEmpty)
		if i > 0 {
			list = firstList(k.Pools[i-1].OnEmpty, list)
		}
		b.warn(list[0].At, "on_empty: remove leaves the names without an address when nothing is left, and resolvers remember that for a while; \"keep\" answers the nodes that may come back first")
	}
}
