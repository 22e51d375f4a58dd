package config

import (
	"net/netip"
	"slices"

	"github.com/dnsteer/dnsteer/dnsserver"
)

// Sizes of secrets in bytes: of one that is worth a warning, and of a file.
const (
	fewSecretBytes = 16
	maxSecretFile  = 4096
)

// tsigKeys reads the keys that messages are signed with.
func (b *builder) tsigKeys(k *dnsKeys) []dnsserver.Key {
	var list []dnsserver.Key
	seen := newNames(b.report, "TSIG key")
	for i := range k.TSIGKeys {
		t := &k.TSIGKeys[i]
		b.known.fill(t, true)
		seen.add(text(t.Name))
		key := dnsserver.Key{Name: string(t.Name.V), Algorithm: dnsserver.Algorithm(t.Algorithm.V), Secret: b.tsigSecret(t)}
		list = append(list, key)
	}
	return list
}

// tsigSecret gives the secret of a key, from where it stands.
func (b *builder) tsigSecret(t *tsigKeys) dnsserver.Secret {
	secret, at := dnsserver.Secret(t.Secret.V), t.Secret.At
	switch {
	case t.Secret.Set && t.SecretFile.Set:
		b.fault(t.SecretFile.At, "found secret_file beside secret, expected one or the other")
	case t.SecretFile.Set:
		at = t.SecretFile.At
		secret = b.secretFile(t.SecretFile)
	case !t.Secret.Set:
		b.fault(t.At, "the key %q has no secret, expected secret_file or secret", t.Name.V)
	}
	if n := len(secret); n > 0 && n < fewSecretBytes {
		b.warn(at, "the secret of the key %q has %d bytes and can be guessed: make one of 32, such as by \"openssl rand -base64 32\"", t.Name.V, n)
	}
	return secret
}

// secretFile reads a secret in base64 from a file of its own.
func (b *builder) secretFile(v Value[string]) dnsserver.Secret {
	data, ok := b.secretData(v)
	if !ok {
		return nil
	}
	var s secretText
	if err := s.UnmarshalText(data); err != nil {
		b.fault(v.At, "the secret file %s: %s", relative(v), err)
	}
	return dnsserver.Secret(s)
}

// secretData reads a file that holds a secret. What it holds is quoted nowhere.
func (b *builder) secretData(v Value[string]) ([]byte, bool) {
	path := relative(v)
	data, err := b.privateFile(path)
	if err != nil {
		b.fault(v.At, "the secret file %s: %s", path, plain(err))
		return nil, false
	}
	return data, true
}

// ordinaryFile reads a file that holds no secret; nil where it cannot.
func (b *builder) ordinaryFile(v Value[string]) []byte {
	path := relative(v)
	data, err := b.disk.read("", path, maxFileSize)
	if err != nil {
		b.fault(v.At, "the file %s: %s", path, plain(err))
		return nil
	}
	b.bundle.Files[path] = data
	return data
}

// privateFile reads a file that others may not read.
func (b *builder) privateFile(path string) ([]byte, error) {
	if err := b.disk.private(path); err != nil {
		return nil, err
	}
	data, err := b.disk.read("", path, maxSecretFile)
	if err == nil {
		b.bundle.Files[path] = data
	}
	return data, err
}

// keyName checks that a key is there, and gives its name as the server knows it.
func (b *builder) keyName(k *dnsKeys, v Value[string]) string {
	var known []string
	for i := range k.TSIGKeys {
		known = append(known, string(k.TSIGKeys[i].Name.V))
	}
	var name host
	if err := name.UnmarshalText([]byte(v.V)); err != nil || !slices.Contains(known, string(name)) {
		b.unknownName(v, "there is no TSIG key", known)
	}
	return string(name)
}

// transfer resolves who may take a zone, and who is told of its changes.
func (b *builder) transfer(k *dnsKeys, z *zoneKeys, defaultSite string) (t *dnsserver.Transfer, notify []dnsserver.Secondary) {
	signs := ""
	if x := z.Transfer; x != nil {
		t = &dnsserver.Transfer{Allow: unwrap(x.Allow), Site: defaultSite}
		for _, v := range x.TSIG {
			t.Keys = append(t.Keys, b.keyName(k, v))
		}
		if x.Site.Set {
			t.Site = x.Site.V
			if _, ok := b.siteAt[t.Site]; !ok {
				b.unknownName(x.Site, "there is no site", b.siteNames())
			}
		}
		if len(t.Keys) > 0 {
			signs = t.Keys[0]
		}
	}
	seen := newNames(b.report, "secondary")
	for _, v := range z.Notify {
		n := &v.V
		s := dnsserver.Secondary{Addr: netip.AddrPort(n.Address.V), Key: signs}
		seen.add(Value[string]{V: s.Addr.String(), At: n.Address.At})
		if n.TSIG.Set {
			s.Key = b.keyName(k, n.TSIG)
		}
		notify = append(notify, s)
	}
	return t, notify
}

// rateLimit resolves how many answers clients get that are not private.
func (b *builder) rateLimit(k *rateLimitKeys) dnsserver.RateLimit {
	if k.Word.Set {
		return dnsserver.RateLimit{}
	}
	b.known.fill(k, true)
	return dnsserver.RateLimit{PerSecond: k.PerSecond.V, Slip: k.Slip.V, DryRun: k.DryRun.V}
}

// secondaries lists the addresses that zones are given to, which may ask for
// names too: they look at the SOA record first.
func secondaries(k *dnsKeys) []Value[netip.Prefix] {
	var list []Value[netip.Prefix]
	for i := range k.Zones {
		if t := k.Zones[i].Transfer; t != nil {
			list = append(list, t.Allow...)
		}
	}
	return list
}

// handed says whether secondaries get a site's answers.
func (b *builder) handed(site string) bool {
	return handed(b.cfg.DNS.Zones, site)
}

// handed says whether secondaries get the answers of a site.
func handed(zones []dnsserver.Zone, site string) bool {
	return slices.ContainsFunc(zones, func(z dnsserver.Zone) bool { return z.Transfer != nil && z.Transfer.Site == site })
}

// doubtTransfers warns of zones that are given away too easily, or in vain.
func (b *builder) doubtTransfers() {
	if b.file.DNS == nil {
		return
	}
	for i := range b.file.DNS.Zones {
		z := &b.file.DNS.Zones[i]
		var allow []Value[netip.Prefix]
		if t := z.Transfer; t != nil {
			allow = t.Allow
			for _, p := range allow {
				if len(t.TSIG) == 0 && !slices.ContainsFunc(private(), func(q netip.Prefix) bool { return covers(q, p.V) }) {
					b.warn(p.At, "whoever has an address in %s reads the whole zone %s: give transfer.tsig a key that only the secondary has", p.V, z.Name.V)
				}
			}
		}
		for _, n := range z.Notify {
			addr := netip.AddrPort(n.V.Address.V).Addr()
			if !slices.ContainsFunc(allow, func(p Value[netip.Prefix]) bool { return p.V.Contains(addr) }) {
				b.warn(n.V.Address.At, "the secondary %s is told of changes, and transfer.allow does not let it take the zone %s", addr, z.Name.V)
			}
		}
	}
}

// covers says whether all of a prefix lies in another.
func covers(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Overlaps(inner)
}
