package config

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"

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
			if at, twice := taken[name.V]; twice {
				b.fault(name.At, "the probe %q stands twice, first at %s", name.V, at)
			}
			taken[name.V] = name.At
		}
	}
	for i := range list {
		k := &list[i]
		fillDefaults(k, true)
		name := k.Name.V
		if !k.Name.Set {
			name = freeName(k.Type.V, taken)
			taken[name] = k.At
		}
		prober, definition := b.prober(&k.probeKind, k.At)
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
func (b *builder) prober(k *probeKind, at Pos) (probes.Prober, string) {
	switch k.Type.V {
	case "icmp":
		return probes.ICMP{Packets: k.Packets.V}, fmt.Sprintf("icmp packets=%d", k.Packets.V)
	case "tcp":
		return probes.TCP{Port: k.Port.V}, fmt.Sprintf("tcp port=%d", k.Port.V)
	}
	b.checkHTTP(k, at)
	h := probes.HTTP{
		URL: k.URL.V, Method: k.Method.V, Host: k.Host.V, Body: k.Body.V, Redirects: k.Redirects.V,
		Verify: probes.Verify(k.Verify.V), Fingerprint: string(k.Fingerprint.V),
	}
	for name, value := range k.Headers {
		if h.Headers == nil {
			h.Headers = make(map[string]string)
		}
		h.Headers[name] = value.V
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
func (b *builder) checkHTTP(k *probeKind, at Pos) {
	const example = "expected a URL such as https://{address}/healthz"
	u, err := url.Parse(strings.ReplaceAll(k.URL.V, "{address}", "192.0.2.1"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		b.fault(k.URL.At, "found %q, %s", clip(k.URL.V), example)
	case strings.ContainsAny(u.Host, "{}") || strings.Contains(u.Path, "{addr"):
		b.fault(k.URL.At, "found %q, %s: {address} is all that is replaced", clip(k.URL.V), example)
	case u.User != nil:
		b.fault(k.URL.At, "found a user in the URL, expected none: give the header Authorization under headers")
	}
	if strings.Trim(k.Method.V, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" || k.Method.V == "" {
		b.fault(k.Method.At.or(at), "found %q, expected an HTTP method such as GET or HEAD", clip(k.Method.V))
	}
	if host, _, _ := strings.Cut(k.Host.V, ":"); k.Host.Set && checkHost(strings.ToLower(host), false) != nil {
		b.fault(k.Host.At, "found %q, expected a host name", clip(k.Host.V))
	}
	for name, value := range k.Headers {
		switch {
		case name == "" || strings.Trim(name, nameChars) != "":
			b.fault(value.At, "found the header %q, expected a name of letters, digits and \"-\"", clip(name))
		case strings.EqualFold(name, "Host"):
			b.fault(value.At, "found the header %q, expected the key \"host\" of the probe in its place", name)
		case strings.ContainsFunc(value.V, unicode.IsControl):
			b.fault(value.At, "found %q, expected a value without control characters", clip(value.V))
		}
	}
	switch wants := k.Verify.V == "fingerprint"; {
	case wants && !k.Fingerprint.Set:
		b.fault(k.Verify.At, "verify: fingerprint needs the key \"fingerprint\"")
	case !wants && k.Fingerprint.Set:
		b.fault(k.Fingerprint.At, "a fingerprint without \"verify: fingerprint\" would have no effect, expected both or neither")
	}
}
