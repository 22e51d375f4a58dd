package config

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/adguard"
	"github.com/dnsteer/dnsteer/providers/rfc2136"
	"github.com/dnsteer/dnsteer/providers/routeros"
	"github.com/dnsteer/dnsteer/sites"
)

// builtin is the built-in server among a site's targets.
const builtin = "builtin"

// indexTargets finds the targets by name and refuses a name that stands twice.
func (b *builder) indexTargets() {
	b.targetAt, b.targetUse = make(map[string]int), make(map[string]Value[string])
	seen := newNames(b.report, "target")
	for i := range b.file.Targets {
		name := text(b.file.Targets[i].Name)
		if name.V == builtin {
			b.fault(name.At, "found \"builtin\", expected another name: it stands for the built-in server")
		}
		if seen.add(name) {
			b.targetAt[name.V] = i
		}
	}
}

func (b *builder) targetNames() (list []string) {
	for i := range b.file.Targets {
		list = append(list, string(b.file.Targets[i].Name.V))
	}
	return list
}

// siteTargets checks where a site's answers are published.
func (b *builder) siteTargets(k *siteKeys) {
	if !k.publishes() {
		if b.cfg.elsewhere == nil {
			b.cfg.elsewhere = map[string]bool{}
		}
		b.cfg.elsewhere[string(k.Name.V)] = true
	}
	seen := newNames(b.report, "target")
	for _, t := range k.Targets {
		_, known := b.targetAt[t.V]
		used, twice := b.targetUse[t.V]
		switch {
		case !seen.add(t):
		case t.V == builtin:
			if b.file.DNS == nil && t.At.File != "" {
				b.fault(t.At, "the built-in server is not configured: add the key \"dns\" at the top")
			}
		case !known:
			b.unknownName(t, "there is no target", append(b.targetNames(), builtin))
		case twice:
			b.fault(t.At, "the target %q is that of site %s already (%s), and a target holds the answers of one site: give this site one of its own, such as the resolver that its clients ask", t.V, used.V, used.At)
		default:
			b.targetUse[t.V] = Value[string]{V: string(k.Name.V), At: t.At, Set: true}
		}
	}
}

// publishes says whether a site's answers go to the built-in server.
func (k *siteKeys) publishes() bool {
	return slices.ContainsFunc(k.Targets, func(t Value[string]) bool { return t.V == builtin })
}

// targets resolves what sites are pushed to.
func (b *builder) targets() {
	seen := make(map[string]Pos)
	for i := range b.file.Targets {
		k := &b.file.Targets[i]
		b.known.fill(k, true)
		t := Target{
			Name: string(k.Name.V), Site: b.targetUse[string(k.Name.V)].V,
			Reconcile: k.Reconcile.V.schedule, DryRun: k.DryRun.V, CreateOnly: k.CreateOnly.V, DeleteGuard: int(k.DeleteGuard.V),
			Drift: map[string]Drift{"report": DriftReport, "adopt": DriftAdopt}[k.Drift.V],
		}
		switch k.Type.V {
		case "routeros":
			t.RouterOS = b.routeros(k)
		case "adguard":
			t.AdGuard = b.adguard(k, &t)
		case "rfc2136":
			t.RFC2136 = b.rfc2136(k)
		}
		for _, at := range k.devices() {
			if first, twice := seen[at.V]; twice {
				b.fault(at.At, "the same device stands twice, first at %s: two targets would undo each other's records there", first)
				continue
			}
			seen[at.V] = at.At
		}
		if t.Site != "" { // one that no site uses is not pushed to
			b.cfg.Targets = append(b.cfg.Targets, t)
		}
	}
}

// devices names what a target writes to, so that two targets can be told apart.
func (k *targetKeys) devices() (list []Value[string]) {
	switch k.Type.V {
	case "routeros":
		list = append(list, Value[string]{V: "routeros " + k.apiAddress(), At: k.Address.At})
	case "adguard":
		for _, s := range k.Servers {
			list = append(list, Value[string]{V: "adguard " + string(s.V.URL.V), At: s.V.URL.At})
		}
	case "rfc2136":
		list = append(list, Value[string]{V: fmt.Sprintf("rfc2136 %s %s", k.Server.V, k.Zone.V), At: k.Server.At})
	}
	return list
}

// Ports of the API of RouterOS.
const (
	apiPort    = 8728
	apiTLSPort = 8729
)

// apiAddress gives the router's address with its port.
func (k *targetKeys) apiAddress() string {
	m := k.Address.V.machine
	switch {
	case m.port != 0:
	case k.Plain.V:
		m.port = apiPort
	default:
		m.port = apiTLSPort
	}
	return m.String()
}

func (b *builder) routeros(k *targetKeys) *routeros.Config {
	switch port := k.Address.V.port; {
	case port == apiPort && !k.Plain.V:
		b.fault(k.Address.At, "port 8728 does not speak TLS, so whoever stands between reads the password: use 8729 with tls_fingerprint, or write \"plain: true\" to have it all the same")
	case port == apiTLSPort && k.Plain.V:
		b.fault(k.Plain.At, "found plain: true beside port 8729, which speaks TLS: remove one of the two")
	}
	return &routeros.Config{
		Address: k.apiAddress(), Username: k.Username.V, Password: b.password(k), TLS: b.tls(k),
		Mark: b.cfg.Instance, OldLogin: k.OldLogin.V, Guard: b.outbound(),
	}
}

func (b *builder) adguard(k *targetKeys, t *Target) (list []adguard.Config) {
	ttl := b.leastTTL(t.Site)
	trust, word := b.tls(k), b.password(k)
	for _, s := range k.Servers {
		c := adguard.Config{URL: string(s.V.URL.V), Username: k.Username.V, Password: word, TLS: trust, ManageTTL: k.ManageTTL.V, TTL: ttl, Guard: b.outbound()}
		if s.V.Fingerprint.Set {
			c.TLS.Mode, c.TLS.Fingerprint = providers.Pinned, s.V.Fingerprint.V.sum()
		}
		if plainURL(c.URL) {
			if at := k.trusted(); at.Set || s.V.Fingerprint.Set {
				b.fault(s.V.URL.At, "there is no TLS in http://, so %s has no effect: write https://, or remove the key", first(at, Value[string]{V: "tls_fingerprint", Set: true}).V)
			}
			c.TLS = providers.TLS{Mode: providers.Plain}
		}
		list = append(list, c)
	}
	return list
}

func (b *builder) rfc2136(k *targetKeys) *rfc2136.Config {
	c := &rfc2136.Config{Server: k.Server.V.String(), Zone: string(k.Zone.V), Guard: b.outbound()}
	if k.Ownership.V == "txt" {
		c.Mark = b.cfg.Instance
	}
	if s := k.TSIG; s != nil {
		c.KeyName, c.Algorithm, c.Secret = b.targetKey(s)
	}
	return c
}

// targetKey gives the key of a target: its own, or one of the built-in server's.
func (b *builder) targetKey(k *targetTSIGKeys) (name, algorithm string, secret providers.Secret) {
	if !k.Secret.Set && !k.SecretFile.Set {
		var known []string
		if d := b.file.DNS; d != nil {
			for i := range d.TSIGKeys {
				known = append(known, string(d.TSIGKeys[i].Name.V))
			}
			if i := slices.Index(known, string(k.Name.V)); i >= 0 {
				own := b.cfg.DNS.Keys[i]
				return own.Name, string(own.Algorithm), providers.Secret(base64.StdEncoding.EncodeToString(own.Secret))
			}
		}
		b.fault(k.Name.At, "the key %q has no secret, expected secret_file or secret, or the name of one of dns.tsig_keys", k.Name.V)
		return "", "", ""
	}
	b.known.fill(k, true)
	own := tsigKeys{At: k.At, Name: k.Name, Algorithm: k.Algorithm, Secret: k.Secret, SecretFile: k.SecretFile}
	return string(k.Name.V), k.Algorithm.V, providers.Secret(base64.StdEncoding.EncodeToString(b.tsigSecret(&own)))
}

// password gives what a target is logged in to with.
func (b *builder) password(k *targetKeys) providers.Secret {
	switch {
	case k.Password.Set && k.PasswordFile.Set:
		b.fault(k.PasswordFile.At, "found password_file beside password, expected one or the other")
	case k.Password.Set:
		return providers.Secret(k.Password.V)
	case k.PasswordFile.Set:
		data, ok := b.secretData(k.PasswordFile)
		data = bytes.TrimRight(data, "\r\n")
		var word password
		if err := word.UnmarshalText(data); ok && err != nil {
			b.fault(k.PasswordFile.At, "the secret file %s: %s", relative(k.PasswordFile), err)
		}
		return providers.Secret(word)
	case k.Type.At.File != "":
		b.fault(k.At, "the target %q has no password, expected password_file or password", k.Name.V)
	}
	return ""
}

// trusted gives the first key that says how the certificate is judged.
func (k *targetKeys) trusted() Value[string] {
	at := func(name string, pos Pos, set bool) Value[string] { return Value[string]{V: name, At: pos, Set: set} }
	return first(at("tls_fingerprint", k.Fingerprint.At, k.Fingerprint.Set), at("ca_file", k.CAFile.At, k.CAFile.Set),
		at("insecure", k.Insecure.At, k.Insecure.V))
}

// tls says how a target's certificate is judged.
func (b *builder) tls(k *targetKeys) providers.TLS {
	only := func(at Pos, what, other string) {
		b.fault(at, "found %s beside %s, expected one or the other: it says how the certificate is judged", what, other)
	}
	switch {
	case k.Plain.V:
		if t := k.trusted(); t.Set {
			b.fault(t.At, "there is no TLS with plain: true, so %s has no effect: remove one of the two", t.V)
		}
		return providers.TLS{Mode: providers.Plain}
	case k.Insecure.V && (k.Fingerprint.Set || k.CAFile.Set):
		only(k.Insecure.At, "insecure", k.trusted().V)
	case k.Insecure.V:
		return providers.TLS{Mode: providers.Insecure}
	case k.Fingerprint.Set && k.CAFile.Set:
		only(k.CAFile.At, "ca_file", "tls_fingerprint")
	case k.Fingerprint.Set:
		return providers.TLS{Mode: providers.Pinned, Fingerprint: k.Fingerprint.V.sum()}
	case k.CAFile.Set:
		t := providers.TLS{CA: b.ordinaryFile(k.CAFile)}
		if _, err := t.Config(); t.CA != nil && err != nil {
			b.fault(k.CAFile.At, "%s: it holds no certificate in PEM", relative(k.CAFile))
		}
		return t
	}
	return providers.TLS{}
}

// leastTTL is the least TTL that the services of a site ask for.
func (b *builder) leastTTL(site string) time.Duration {
	s := b.cfg.siteNamed(site)
	if s == nil {
		return 0
	}
	least := time.Duration(0)
	for _, svc := range b.cfg.servicesOf(site) {
		if ttl := ttlOf(svc, s); least == 0 || ttl < least {
			least = ttl
		}
	}
	if least == 0 {
		return s.TTL
	}
	return least
}

// ttlOf is the TTL of a service at a site in quiet times, and the fixed one that
// is pushed (A9).
func ttlOf(svc *sites.Service, s *sites.Site) time.Duration {
	if svc.TTL > 0 {
		return svc.TTL
	}
	return s.TTL
}
