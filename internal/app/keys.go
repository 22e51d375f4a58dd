package app

import (
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

// keptKey is one: its DS record, and whether it was made just now.
type keptKey struct {
	ds   string
	made bool
}

// withKeys gives the DNS server's configuration with the keys of signed zones that
// are kept in the state folder. Those that are missing are made, unless the zone is
// signed with one already: another would have validators refuse the zone.
func withKeys(cfg *config.Config, signed keptKeys, log *slog.Logger) (*dnsserver.Config, keptKeys, error) {
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
		k, made, err := keyfile.Kept(cfg.KeyFolder(), z.Name, z.DNSSEC.Algorithm)
		if err != nil {
			return nil, nil, fmt.Errorf("sign zone %s: %w", z.Name, err)
		}
		kept[z.Name] = keptKey{keyfile.DSText(k.DS()), made}
		if made {
			log.Warn("a key was made to sign a zone: keep a copy of it, and have the parent zone take its DS record", "zone", z.Name, "folder", cfg.KeyFolder(), "ds", keyfile.DSText(k.DS()))
		}
		signing := *z.DNSSEC
		signing.Keys = []dnsserver.SigningKey{k}
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
