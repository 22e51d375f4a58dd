package config

import (
	"fmt"

	"github.com/dnsteer/dnsteer/sites"
)

// nodeProbes resolves the probes of a node and counts those that steer.
func (b *builder) nodeProbes(site string, node *sites.Node, list []probeKeys) (steering int) {
	subject := sites.Subject{Site: site, Node: node.Name}
	if _, twice := b.cfg.probers[subject]; twice {
		return len(list) // the double name is a fault of its own
	}
	taken := make(map[string]Pos)
	for i := range list {
		if name := list[i].Label; name.Set {
			if at, twice := taken[string(name.V)]; twice {
				b.fault(name.At, "the probe %q stands twice, first at %s", name.V, at)
			}
			taken[string(name.V)] = name.At
		}
	}
	for i := range list {
		k := &list[i]
		b.known.fill(k, true)
		name := string(k.Label.V)
		if !k.Label.Set {
			name = freeName(k.Type.V, taken)
			taken[name] = k.At
		}
		prober, definition := b.prober(&k.probeKind)
		node.Probes = append(node.Probes, sites.Probe{Name: name, Key: definition, Steer: k.Steer.V})
		b.cfg.probers[subject] = append(b.cfg.probers[subject], prober)
		if k.Steer.V {
			steering++
			if k.ExpiresWithin.Set {
				b.warn(k.ExpiresWithin.At, "expires_within in a probe that steers takes the node out %s before its certificate ends, while it still works: write \"steer: false\" to be told and no more", formatDuration(k.ExpiresWithin.V))
			}
		}
	}
	b.beats(site, node, list)
	return steering
}

// freeName numbers what has the same name: "tcp", "tcp-2", …
func freeName(base string, taken map[string]Pos) string {
	name := base
	for i := 2; ; i++ {
		if _, used := taken[name]; !used {
			return name
		}
		name = fmt.Sprintf("%s-%d", base, i)
	}
}
