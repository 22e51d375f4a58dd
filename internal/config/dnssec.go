package config

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/keyfile"
)

// dnssecKeys says how a zone is signed.
type dnssecKeys struct {
	At        Pos
	Word      Value[string]        `yaml:"-" short:"yes" doc:"on or off" enum:"on|off"`
	Algorithm Value[string]        `yaml:"algorithm" doc:"Of the key that is made at the first start, into the folder keys of state.path. Of no use beside keys." enum:"ecdsap256sha256|ed25519" default:"ecdsap256sha256"`
	Keys      List[Value[string]]  `yaml:"keys" doc:"Keys in the files of BIND's form, each named without its end, .key and .private. All are in the zone's DNSKEY set; the first of each algorithm signs the zone. Relative to this file." nonempty:"yes" otherwise:"one that is made and kept in the state folder" example:"[keys/Kexample.lan.+013+04711]"`
	Validity  Value[time.Duration] `yaml:"validity" doc:"How long signatures are valid. They are made anew when a third of it is left." default:"14d" whole:"1s" min:"3d" max:"90d"`
	CDS       Value[string]        `yaml:"cds" doc:"What a parent zone that looks for it is asked for by CDS and CDNSKEY records: DS records of the keys, to delete them all before signing ends, or none for nothing." enum:"keys|delete|none" default:"keys"`
}

// KeyFolder is where the keys lie that were made for zones.
func (c *Config) KeyFolder() string { return filepath.Join(c.StatePath, "keys") }

// dnssec resolves how a zone is signed; nil for not at all.
func (b *builder) dnssec(z *zoneKeys, t *zoneTable) *dnsserver.Signing {
	k := z.DNSSEC
	if k == nil || k.Word.V == "off" {
		return nil
	}
	b.known.fill(k, true)
	at := k.Word.At.or(k.At)
	if z.Transfer != nil {
		b.fault(z.Transfer.At, "the zone %s is signed when it is asked (dnssec at %s), which secondaries cannot do: expected one of the two", z.Name.V, at)
	} else if len(z.Notify) > 0 {
		b.fault(z.Notify[0].V.Address.At, "the zone %s is signed (dnssec at %s) and cannot be taken, expected no secondary that is told of it", z.Name.V, at)
	}
	s := &dnsserver.Signing{
		Algorithm: dns.StringToAlgorithm[strings.ToUpper(k.Algorithm.V)],
		Validity:  k.Validity.V,
		CDS:       map[string]dnsserver.CDS{"keys": dnsserver.CDSKeys, "delete": dnsserver.CDSDelete, "none": dnsserver.CDSNone}[k.CDS.V],
	}
	b.ownProof(t, s.CDS)
	if len(k.Keys) > 0 && k.Algorithm.At.File != "" {
		b.fault(k.Algorithm.At, "found algorithm beside keys, which have their own, expected one or the other")
	}
	seen := newNames(b.report, "key")
	for _, v := range k.Keys {
		path := keyfile.Base(relative(v))
		seen.add(Value[string]{V: path, At: v.At})
		if key, ok := b.signingKey(v, path, t.name); ok {
			s.Keys = append(s.Keys, key)
		}
	}
	return s
}

// signingKey reads a key's files. What they hold is quoted nowhere.
func (b *builder) signingKey(v Value[string], base, zone string) (k dnsserver.SigningKey, ok bool) {
	private, err := b.privateFile(base + keyfile.Private)
	if err != nil {
		b.fault(v.At, "the key file %s: %s", base+keyfile.Private, plain(err))
		return k, false
	}
	public, err := b.disk.read("", base+keyfile.Public, maxSecretFile)
	if err != nil {
		b.fault(v.At, "the key file %s: %s", base+keyfile.Public, plain(err))
		return k, false
	}
	b.bundle.Files[base+keyfile.Public] = public
	if k, err = keyfile.Parse(public, private); err != nil {
		b.fault(v.At, "the key %s: %s", base, err)
		return k, false
	}
	if owner := trimDot(k.Record().Hdr.Name); owner != zone {
		b.fault(v.At, "the key %s is that of the zone %s, expected one of %s", base, owner, zone)
		return k, false
	}
	return k, true
}

// ownProof refuses records that the server makes by itself where it signs.
func (b *builder) ownProof(t *zoneTable, cds dnsserver.CDS) {
	made := []uint16{dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeDNSKEY}
	if cds != dnsserver.CDSNone {
		made = append(made, dns.TypeCDS, dns.TypeCDNSKEY)
	}
	for name, list := range t.byName {
		for _, r := range list {
			if typ := r.rr.Header().Rrtype; slices.Contains(made, typ) {
				b.fault(r.at, "the zone is signed by this server, which makes the %s records by itself: remove that of %q", dns.TypeToString[typ], name)
			}
		}
	}
}

// doubtSigning warns of zones that validators would refuse: of those that were signed
// elsewhere, whose signatures no answer bears, and of those inside others of this server
// where the DS records above are not those of their keys.
func (b *builder) doubtSigning() {
	if b.cfg.DNS == nil {
		return
	}
	zones := b.cfg.DNS.Zones
	for i := range zones {
		signed := func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeRRSIG }
		if zones[i].DNSSEC == nil && slices.ContainsFunc(zones[i].Records, signed) {
			b.warn(b.file.DNS.Zones[i].At, "the zone %s was signed elsewhere (it has RRSIG records), and answers bear only what this server signs: validators that know its keys refuse all of it; leave RRSIG, NSEC and DNSKEY records out and write \"dnssec: {keys: …}\"", zones[i].Name)
		}
		for _, rr := range zones[i].Records {
			ds, ok := rr.(*dns.DS)
			if !ok {
				continue
			}
			name := trimDot(ds.Hdr.Name)
			at := slices.IndexFunc(zones, func(z dnsserver.Zone) bool { return z.Name == name })
			if at < 0 || at == i {
				continue
			}
			inner := zones[at].DNSSEC
			switch {
			case inner == nil:
				b.warn(b.file.DNS.Zones[i].At, "the zone %s says by a DS record that %s is signed, which it is not: validators refuse all of it", zones[i].Name, name)
			case len(inner.Keys) > 0 && !slices.ContainsFunc(inner.Keys, func(k dnsserver.SigningKey) bool { return k.Tag() == ds.KeyTag }):
				b.warn(b.file.DNS.Zones[i].At, "the zone %s has a DS record of the key %d of %s, which has no such key: \"dnsteer dnssec ds %s\" prints what belongs there", zones[i].Name, ds.KeyTag, name, name)
			}
		}
	}
}
