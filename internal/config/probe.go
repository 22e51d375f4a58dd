package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dnsteer/dnsteer/probes"
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
		if name := list[i].Name; name.Set {
			if at, twice := taken[string(name.V)]; twice {
				b.fault(name.At, "the probe %q stands twice, first at %s", name.V, at)
			}
			taken[string(name.V)] = name.At
		}
	}
	for i := range list {
		k := &list[i]
		fillDefaults(k, true)
		name := string(k.Name.V)
		if !k.Name.Set {
			name = freeName(k.Type.V, taken)
			taken[name] = k.At
		}
		prober, definition := b.prober(&k.probeKind)
		node.Probes = append(node.Probes, sites.Probe{Name: name, Key: definition, Steer: k.Steer.V})
		b.cfg.probers[subject] = append(b.cfg.probers[subject], prober)
		if k.Steer.V {
			steering++
		}
	}
	return steering
}

// freeName names a probe after its type: "tcp", "tcp-2", …
func freeName(typ string, taken map[string]Pos) string {
	name := typ
	for i := 2; ; i++ {
		if _, used := taken[name]; !used {
			return name
		}
		name = fmt.Sprintf("%s-%d", typ, i)
	}
}

// prober makes a probe and a stable text of its definition: a changed
// definition is a new probe (O2).
func (b *builder) prober(k *probeKind) (probes.Prober, string) {
	switch k.Type.V {
	case "icmp":
		return probes.ICMP{Packets: k.Packets.V}, fmt.Sprintf("icmp packets=%d", k.Packets.V)
	case "tcp":
		return probes.TCP{Port: k.Port.V}, fmt.Sprintf("tcp port=%d", k.Port.V)
	}
	b.checkHTTP(k)
	h := probes.HTTP{
		URL: string(k.URL.V), Method: string(k.Method.V), Host: string(k.Host.V), Body: k.Body.V, Redirects: k.Redirects.V,
		Verify: probes.Verify(k.Verify.V), Fingerprint: string(k.Fingerprint.V),
	}
	for name, value := range k.Headers {
		if h.Headers == nil {
			h.Headers = make(map[string]string)
		}
		h.Headers[name] = string(value.V)
	}
	for _, r := range k.Status {
		h.Status = append(h.Status, probes.StatusRange(r.V))
	}
	definition, err := json.Marshal([]any{h.URL, h.Method, h.Headers, h.Host, h.Status, h.Body, h.Redirects, h.Verify, h.Fingerprint})
	if err != nil {
		panic(fmt.Sprintf("config: a definition of strings and numbers cannot be encoded: %s", err))
	}
	return h, "http " + string(definition)
}

// checkHTTP refuses what an HTTP request could not carry.
func (b *builder) checkHTTP(k *probeKind) {
	for name, value := range k.Headers {
		switch {
		case name == "" || strings.Trim(name, nameChars) != "":
			b.fault(value.At, "found the header %q, expected a name of letters, digits and \"-\"", clip(name))
		case strings.EqualFold(name, "Host"):
			b.fault(value.At, "found the header %q, expected the key \"host\" of the probe in its place", name)
		}
	}
	switch wants := k.Verify.V == "fingerprint"; {
	case wants && !k.Fingerprint.Set:
		b.fault(k.Verify.At, "verify: fingerprint needs the key \"fingerprint\"")
	case !wants && k.Fingerprint.Set:
		b.fault(k.Fingerprint.At, "a fingerprint without \"verify: fingerprint\" would have no effect, expected both or neither")
	}
}
