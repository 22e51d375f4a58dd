package app

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/keyfile"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// keptKeys has the keys that are kept in the state folder, by zone.
type keptKeys map[string]keptKey

// keptKey is the one that signs: its DS record, and whether it was made just now.
type keptKey struct {
	ds   string
	made bool
}

// withKeys gives the DNS server's configuration with the keys of signed zones that
// are kept in the state folder. Those that are missing are made, unless the zone is
// signed with one already: another would have validators refuse the zone. Of several the
// one that signed last, known by its DS record, signs on, and all are published: the zone
// is right for a parent that has the record of any of them.
func withKeys(cfg *config.Config, signed keptKeys, known map[string][]byte, log *slog.Logger) (*dnsserver.Config, keptKeys, error) {
	c := *cfg.DNS
	c.Zones = slices.Clone(c.Zones)
	kept := keptKeys{}
	for i := range c.Zones {
		z := &c.Zones[i]
		if z.DNSSEC == nil || len(z.DNSSEC.Keys) > 0 {
			continue
		}
		if err := stillThere(cfg, z, signed[z.Name].ds); err != nil {
			return nil, nil, fmt.Errorf("sign zone %s: %w", z.Name, err)
		}
		keys, made, err := keyfile.Kept(cfg.KeyFolder(), z.Name, z.DNSSEC.Algorithm)
		if err != nil {
			return nil, nil, fmt.Errorf("sign zone %s: %w", z.Name, err)
		}
		last := cmp.Or(signed[z.Name].ds, string(known[z.Name]))
		if i := slices.IndexFunc(keys, func(k dnsserver.SigningKey) bool { return keyfile.DSText(k.DS()) == last }); i > 0 {
			keys[0], keys[i] = keys[i], keys[0]
		}
		k := keys[0]
		if len(keys) > 1 {
			log.Warn("a zone has several keys: all are published, and one signs; name them in their order by the zone's dnssec.keys, or remove those that are not wanted", "zone", z.Name, "folder", cfg.KeyFolder(), "signs", keyfile.DSText(k.DS()))
		}
		kept[z.Name] = keptKey{keyfile.DSText(k.DS()), made}
		if made {
			log.Warn("a key was made to sign a zone: keep a copy of it, and have the parent zone take its DS record", "zone", z.Name, "folder", cfg.KeyFolder(), "ds", keyfile.DSText(k.DS()))
		}
		signing := *z.DNSSEC
		signing.Keys = keys
		z.DNSSEC = &signing
	}
	return &c, kept, nil
}

// stillThere refuses to make a key for a zone that is signed with one whose files
// are gone.
func stillThere(cfg *config.Config, z *dnsserver.Zone, ds string) error {
	if ds == "" {
		return nil
	}
	list, err := keyfile.Find(cfg.KeyFolder(), z.Name, z.DNSSEC.Algorithm)
	if err == nil && len(list) == 0 && strings.Contains(ds, fmt.Sprintf(" %d ", z.DNSSEC.Algorithm)) {
		err = fmt.Errorf("its key is gone from %s, and another would have validators refuse the zone: put the files back from your copy (the key of %s), or roll over to a new key named by dnssec.keys", cfg.KeyFolder(), ds)
	}
	return err
}

// kindKeys is the kind of the store's values about keys: DS records by zone.
const kindKeys store.Kind = "dnssec_keys"

// noteKeys remembers the keys that zones are signed with now, and gives what is
// to be told of those that have taken the place of a lost one.
func noteKeys(kept keptKeys, known *values, folder string) (events []sites.Event) {
	was := known.get(kindKeys)
	change := map[string][]byte{}
	for _, zone := range slices.Sorted(maps.Keys(kept)) {
		ds, before := kept[zone].ds, string(was[zone])
		if ds == before {
			continue
		}
		change[zone] = []byte(ds)
		if before != "" && kept[zone].made {
			events = append(events, sites.Event{Kind: sites.KeyReplaced, Text: fmt.Sprintf(
				"The zone %s is signed with another key than before: the one of \"%s\" is gone from %s, and the one there is that of \"%s\". "+
					"As long as the parent zone has the old DS record, resolvers that validate refuse every answer of the zone: put the old key's files back and start again, or put the new DS record into the parent zone.",
				zone, before, folder, ds)})
		}
	}
	for zone := range was {
		if kept[zone].ds == "" {
			change[zone] = nil
		}
	}
	if len(change) > 0 {
		known.set(kindKeys, change)
	}
	return events
}
