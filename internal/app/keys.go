package app

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/keyfile"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// keptKeys has the keys that are kept in the state folder, by zone.
type keptKeys map[string]keptKey

// keptKey is the one that signs: its DS record, and whether it was made just now. all are
// the zone's keys, that one first.
type keptKey struct {
	ds   string
	made bool
	all  []dnsserver.SigningKey
	// unkept is one that no file could take yet; nil for none.
	unkept *keyfile.Made
}

// withKeys gives the DNS server's configuration with the keys of signed zones that
// are kept in the state folder. Those that are missing are made, unless the zone is
// signed with one already: another would have validators refuse the zone. Of several the
// one that signed last, known by its DS record, signs on, and all are published: the zone
// is right for a parent that has the record of any of them.
func withKeys(cfg *config.Config, signed keptKeys, known map[string][]byte, starts bool, log *slog.Logger) (*dnsserver.Config, keptKeys, error) {
	c := *cfg.DNS
	c.Zones = slices.Clone(c.Zones)
	kept := keptKeys{}
	folder := keyfile.Look(cfg.KeyFolder())
	for i := range c.Zones {
		z := &c.Zones[i]
		if z.DNSSEC == nil || len(z.DNSSEC.Keys) > 0 {
			continue
		}
		keys, now, err := keysOf(folder, z, signed[z.Name], starts, log)
		if err != nil {
			return nil, nil, fmt.Errorf("sign zone %s: %w", z.Name, err)
		}
		last := cmp.Or(signed[z.Name].ds, strings.TrimPrefix(string(known[z.Name]), lostMark))
		if i := slices.IndexFunc(keys, func(k dnsserver.SigningKey) bool { return keyfile.DSText(k.DS()) == last }); i > 0 {
			keys[0], keys[i] = keys[i], keys[0]
		}
		k := keys[0]
		if len(keys) > 1 {
			log.Warn("a zone has several keys: all are published, and one signs; name them in their order by the zone's dnssec.keys, or remove those that are not wanted", "zone", z.Name, "folder", folder.Path, "signs", keyfile.DSText(k.DS()))
		}
		now.ds, now.all = keyfile.DSText(k.DS()), keys
		kept[z.Name] = now
		if now.made && now.unkept == nil {
			tellMade(log, z.Name, folder.Path, now.ds)
		}
		signing := *z.DNSSEC
		signing.Keys = keys
		z.DNSSEC = &signing
	}
	return &c, kept, nil
}

// keysOf gives the keys of a zone that lie in the state folder, and makes one where there
// is none. A reload is refused where one that may be in use cannot be read or written. A
// start goes on without it: no name at all would be answered for the sake of one zone's
// signatures.
func keysOf(folder *keyfile.Folder, z *dnsserver.Zone, signed keptKey, starts bool, log *slog.Logger) (keys []dnsserver.SigningKey, now keptKey, err error) {
	log = log.With("zone", z.Name, "folder", folder.Path)
	if m := signed.unkept; m != nil && m.Record().Algorithm == z.DNSSEC.Algorithm {
		if _, err := m.Write(folder.Path); err != nil {
			return unkept(m, err, log)
		}
		now.made, folder = true, keyfile.Look(folder.Path) // it is read with those that lie beside it
	}
	if err := stillThere(folder, z, signed.ds); err != nil {
		return nil, now, err
	}
	keys, broken, err := folder.Readable(z.Name, z.DNSSEC.Algorithm)
	switch {
	case err != nil && !starts:
		return nil, now, err
	case err != nil:
		log.Error("the keys of a zone cannot be read", "error", err)
	case len(broken) > 0 && !starts && !slices.ContainsFunc(keys, func(k dnsserver.SigningKey) bool { return keyfile.DSText(k.DS()) == signed.ds }):
		return nil, now, broken[0].Err
	}
	for _, b := range broken {
		log.Error("a zone is signed without one of its keys, which cannot be read", "error", b.Err)
	}
	if len(keys) > 0 {
		return keys, now, nil
	}
	m, err := keyfile.New(z.Name, z.DNSSEC.Algorithm)
	if err != nil {
		return nil, now, err
	}
	switch _, err := m.Write(folder.Path); {
	case err == nil:
		return []dnsserver.SigningKey{m.SigningKey}, keptKey{made: true}, nil
	case !starts:
		return nil, now, err
	default:
		return unkept(&m, err, log)
	}
}

// unkept gives a key with which a zone is signed although no file could take it.
func unkept(m *keyfile.Made, cause error, log *slog.Logger) ([]dnsserver.SigningKey, keptKey, error) {
	log.Error("the key that was made to sign a zone cannot be kept: the next start makes another, so no parent may have its DS record; it is tried again until it is kept", "error", cause)
	return []dnsserver.SigningKey{m.SigningKey}, keptKey{made: true, unkept: m}, nil
}

// stillThere refuses to make a key for a zone that is signed with one whose files
// are gone, or that is of another algorithm.
func stillThere(folder *keyfile.Folder, z *dnsserver.Zone, ds string) error {
	if ds == "" {
		return nil
	}
	list, err := folder.Find(z.Name, z.DNSSEC.Algorithm)
	switch {
	case err != nil || len(list) > 0:
		return err
	case algorithmOf(ds) != strconv.Itoa(int(z.DNSSEC.Algorithm)):
		return fmt.Errorf("its key is of another algorithm (that of %s), and one that is made now would have validators refuse the zone: write the former algorithm again, or roll over to a new key named by dnssec.keys; where no parent has the DS record yet, leave dnssec out for one reload", ds)
	default:
		return fmt.Errorf("its key is gone from %s, and another would have validators refuse the zone: put the files back from your copy (the key of %s), or roll over to a new key named by dnssec.keys", folder.Path, ds)
	}
}

// algorithmOf gives the number of the algorithm in the text of a DS record.
func algorithmOf(ds string) string {
	if f := strings.Fields(ds); len(f) > 4 {
		return f[4]
	}
	return ""
}

// kindKeys is the kind of the store's values about keys: DS records by zone.
const kindKeys store.Kind = "dnssec_keys"

// lostMark stands before the DS record of a key that was found to be gone, until it has
// been told of.
const lostMark = "lost "

// markLost stores which zones have lost their key, before another is made: a kill
// before that is told would have nobody hear of it.
func (a *App) markLost(cfg *config.Config, known map[string][]byte, commit func(store.Batch) error) {
	lost := map[string][]byte{}
	if cfg.DNS != nil {
		folder := keyfile.Look(cfg.KeyFolder())
		for i := range cfg.DNS.Zones {
			z := &cfg.DNS.Zones[i]
			ds := string(known[z.Name])
			if z.DNSSEC == nil || len(z.DNSSEC.Keys) > 0 || ds == "" || strings.HasPrefix(ds, lostMark) {
				continue
			}
			if isLost(folder, z, ds) {
				lost[z.Name] = []byte(lostMark + ds)
			}
		}
	}
	if len(lost) == 0 {
		return
	}
	if err := commit(store.Batch{Values: map[store.Kind]map[string][]byte{kindKeys: lost}}); err != nil {
		a.log.Warn("store which zones have lost their key", "error", err)
	}
	maps.Copy(known, lost)
}

// isLost says whether the key of a DS record can be read no more: there is none, or none
// that can be read, or it is one of those.
func isLost(folder *keyfile.Folder, z *dnsserver.Zone, ds string) bool {
	keys, broken, err := folder.Readable(z.Name, z.DNSSEC.Algorithm)
	if err != nil || len(keys) == 0 {
		return true
	}
	var owner, class, kind string
	var tag, algorithm int
	if _, err := fmt.Sscan(ds, &owner, &class, &kind, &tag, &algorithm); err != nil {
		return false
	}
	return slices.ContainsFunc(broken, func(b keyfile.Broken) bool {
		return strings.HasSuffix(b.Base, fmt.Sprintf("+%03d+%05d", algorithm, tag))
	})
}

// noteKeys gives what is to be remembered of the keys that zones are signed with now,
// nil for nothing, and what is to be told of those that have taken the place of a lost
// one.
func noteKeys(kept keptKeys, was map[string][]byte, folder string) (change map[string][]byte, events []sites.Event) {
	set := func(zone string, ds []byte) {
		if change == nil {
			change = map[string][]byte{}
		}
		change[zone] = ds
	}
	for _, zone := range slices.Sorted(maps.Keys(kept)) {
		ds := kept[zone].ds
		before, lost := strings.CutPrefix(string(was[zone]), lostMark)
		if ds != before || lost {
			set(zone, []byte(ds))
		}
		if ds != before && before != "" && (lost || kept[zone].made) {
			events = append(events, sites.Event{Kind: sites.KeyReplaced, Text: replacedText(zone, before, kept[zone], folder)})
		}
	}
	for zone := range was {
		if kept[zone].ds == "" {
			set(zone, nil)
		}
	}
	return change, events
}

// replacedText says why another key signs a zone, and what to do.
func replacedText(zone, before string, now keptKey, folder string) string {
	why := fmt.Sprintf("the one of %q is gone from %s, or cannot be read there, and the one that signs now is that of %q", before, folder, now.ds)
	back := "put the old key's files back and start again"
	if algorithmOf(before) != algorithmOf(now.ds) {
		why = fmt.Sprintf("the configuration names another algorithm (dnssec.algorithm); the one before was that of %q, and the one in its place is that of %q", before, now.ds)
		back = "write the former algorithm again"
	}
	on := ", or put the new DS record into the parent zone."
	if now.unkept != nil {
		on = ". The new key cannot be kept as yet, and the next start makes another: no parent may have its DS record before the log says that it was made."
	}
	return fmt.Sprintf("The zone %s is signed with another key than before: %s. "+
		"As long as the parent zone has the old DS record, resolvers that validate refuse every answer of the zone: %s%s", zone, why, back, on)
}

// noteKeys has it remembered with the next turn's events, and gives those.
func (a *App) noteKeys(cfg *config.Config) []sites.Event {
	change, events := noteKeys(a.names.keys(), a.keeper.values.get(kindKeys), cfg.KeyFolder())
	a.keeper.keys = change
	return events
}

func tellMade(log *slog.Logger, zone, folder, ds string) {
	log.Warn("a key was made to sign a zone: keep a copy of it, and have the parent zone take its DS record", "zone", zone, "folder", folder, "ds", ds)
}

// keepMade writes the keys that no file could take when they were made.
func (n *names) keepMade(folder string) {
	for zone, k := range n.keys() {
		if k.unkept == nil {
			continue
		}
		if _, err := k.unkept.Write(folder); err != nil {
			continue // which was told when it was made
		}
		n.mu.Lock()
		if n.kept[zone].unkept == k.unkept {
			k.unkept = nil
			n.kept = maps.Clone(n.kept) // others read it
			n.kept[zone] = k
			tellMade(n.log, zone, folder, k.ds)
		}
		n.mu.Unlock()
	}
}

// putBack writes the kept keys anew, which are nowhere else, where the state folder was
// lost with them and with the secret of DNS cookies. Whoever removes one of the two may
// mean it.
func (n *names) putBack(state, folder string) error {
	if n.secret == nil || !gone(filepath.Join(state, secretName)) {
		return nil
	}
	var missing []dnsserver.SigningKey
	for _, k := range n.keys() {
		if k.unkept != nil {
			continue // see keepMade
		}
		for _, key := range k.all {
			if gone(filepath.Join(folder, keyfile.Name(key)) + keyfile.Public) {
				missing = append(missing, key)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	for _, k := range missing {
		if _, err := keyfile.Of(k).Write(folder); err != nil {
			return err
		}
		n.log.Warn("the files of a zone's key were gone and are written anew", "folder", folder, "ds", keyfile.DSText(k.DS()))
	}
	return keepSecret(state, n.secret)
}
