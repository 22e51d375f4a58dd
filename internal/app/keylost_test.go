package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/keyfile"
	"github.com/dnsteer/dnsteer/internal/store"
	"github.com/dnsteer/dnsteer/sites"
)

// A kill soon after a start that has made another key for a zone would have nobody hear
// of it: the next start finds a key and takes it for the one there was.
func TestAKilledStartHasTheLossOfAKeyToldByTheNext(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on"))
	if err := w.start().stopped(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "state", "keys")); err != nil {
		t.Fatal(err)
	}
	// It is killed before its first events are stored: nothing of them lasts.
	var dead atomic.Bool
	killed := errors.New("killed")
	w.opt.disk = func(b store.Batch, commit func(store.Batch) error) error {
		if dead.Load() || len(b.Events) > 0 {
			dead.Store(true)
			return killed
		}
		return commit(b)
	}
	if err := w.start().stopped(); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	// And in the next one, what is remembered and what is told last together.
	apart := false
	w.opt.disk = func(b store.Batch, commit func(store.Batch) error) error {
		told := slices.ContainsFunc(b.Events, func(e sites.Event) bool { return e.Kind == sites.KeyReplaced })
		if b.Values[kindKeys] != nil && !told {
			apart = true
		}
		return commit(b)
	}
	r := w.start()
	r.await("key_replaced")
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	if apart {
		t.Error("a kill between two commits has nobody hear of it")
	}
	r = w.start()
	r.settled()
	if list, err := r.Events(t.Context(), api.EventQuery{Kinds: []sites.Kind{sites.KeyReplaced}}); err != nil || len(list) != 1 {
		t.Errorf("after another start %v, %v", list, err)
	}
}

// If this fails, one key file that was damaged, or belongs to another user, keeps the whole
// controller from starting: no site has a failover for the sake of one zone's signatures.
func TestStartWithAKeyThatCannotBeRead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(dir string) error // of the key in the folder
		other  bool                   // there is a second key, made later
		lost   bool
	}{
		{name: "half a file", lost: true, damage: func(dir string) error {
			return spoil(dir, keyfile.Private)
		}},
		{name: "no public half that can be read", lost: true, damage: func(dir string) error {
			return spoil(dir, keyfile.Public)
		}},
		{name: "beside another key", lost: true, other: true, damage: func(dir string) error {
			return spoil(dir, keyfile.Private)
		}},
		{name: "another key", damage: func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "Kexample.lan.+013+00000"+keyfile.Public), []byte("no key"), 0o600)
		}},
		{name: "no folder at all", lost: true, damage: func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "berlin")
			text := w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on")
			w.write(text)
			r := w.start()
			r.settled()
			ds := r.names.kept["example.lan"].ds
			if err := r.stopped(); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(w.dir, "state", "keys")
			if err := tt.damage(dir); err != nil {
				t.Fatal(err)
			}
			if tt.other {
				other, err := keyfile.New("example.lan", dns.ECDSAP256SHA256)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := other.Write(dir); err != nil {
					t.Fatal(err)
				}
			}
			r = w.start()
			r.settled()
			now := r.names.kept["example.lan"].ds
			if got, want := r.proved(w.sites[0], "app.example.lan", now), w.sites[0].all(11, 12); got != want {
				t.Errorf("answered %q, want %q", got, want)
			}
			if (now != ds) != tt.lost {
				t.Errorf("signed with %s, before with %s", now, ds)
			}
			if tt.lost {
				r.await("key_replaced")
			} else if n := count(r.seen, sites.KeyReplaced); n != 0 {
				t.Errorf("a loss was told %d times", n)
			}
		})
	}
}

// If this fails, a disk that takes no key keeps the controller from starting, or the key
// that it signs with is lost though the disk has been mended.
func TestStartWithAKeyThatCannotBeKept(t *testing.T) {
	w := newWorld(t, "berlin")
	w.opt.watchEvery = 0
	text := w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on")
	w.write(text)
	dir := filepath.Join(w.dir, "state", "keys")
	if err := errors.Join(os.Mkdir(filepath.Dir(dir), 0o700), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r := w.start()
	r.settled()
	ds := r.names.kept["example.lan"].ds
	for _, ttl := range []string{"ttl: 11s", "ttl: 12s"} {
		w.write(strings.Replace(text, "ttl: 10s", ttl, 1))
		if _, err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := r.proved(w.sites[0], "app.example.lan", ds), w.sites[0].all(11, 12); got != want {
			t.Errorf("answered %q, want %q", got, want)
		}
		if err := os.Remove(dir); err != nil && ttl == "ttl: 11s" { // the disk is mended
			t.Fatal(err)
		}
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	r.settled()
	if now := r.names.kept["example.lan"].ds; now != ds || count(r.seen, sites.KeyReplaced) != 0 {
		t.Errorf("signed with %s, and before with %s", now, ds)
	}
}

// If this fails, whoever has mended the disk that took no key, as the log asks, has it lost
// with the next start all the same, unless the configuration has changed too.
func TestAKeyIsKeptOnceTheDiskIsMended(t *testing.T) {
	w := newWorld(t, "berlin")
	w.opt.watchEvery = 0
	w.write(w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on"))
	dir := filepath.Join(w.dir, "state", "keys")
	if err := errors.Join(os.Mkdir(filepath.Dir(dir), 0o700), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r := w.start()
	r.settled()
	ds := r.names.keys()["example.lan"].ds
	r.lookAtState() // as every ten seconds
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	r.lookAtState()
	if k := r.names.keys()["example.lan"]; k.unkept != nil || k.ds != ds {
		t.Errorf("kept as %+v", k)
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	r.settled()
	if now := r.names.keys()["example.lan"].ds; now != ds || count(r.seen, sites.KeyReplaced) != 0 {
		t.Errorf("signed with %s, and before with %s", now, ds)
	}
}

// If this fails, a start during which the folder of keys was away leaves a zone a forgery to
// all who validate, although the folder is back and the configuration was read again.
func TestAKeyThatComesBackIsPublishedAgain(t *testing.T) {
	w := newWorld(t, "berlin")
	w.opt.watchEvery = 0
	text := w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on")
	w.write(text)
	r := w.start()
	old := r.names.kept["example.lan"].ds
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.dir, "state", "keys")
	if err := errors.Join(os.Rename(dir, dir+".away"), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	// The next start would make another: whoever is told gives no parent its record.
	if e := r.await("key_replaced"); strings.Contains(e.Text, "or put the new DS record") || !strings.Contains(e.Text, "cannot be kept") {
		t.Errorf("told: %s", e.Text)
	}
	made := r.names.kept["example.lan"].ds
	if err := errors.Join(os.Remove(dir), os.Rename(dir+".away", dir)); err != nil {
		t.Fatal(err)
	}
	// One that is refused has kept the key all the same.
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w.write(text + "http: {listen: ['" + taken.Addr().String() + "']}\n")
	if _, err := r.Reload(t.Context()); err == nil {
		t.Fatal("an address that is taken was taken")
	}
	w.write(strings.Replace(text, "ttl: 10s", "ttl: 11s", 1))
	if _, err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := r.names.kept["example.lan"]
	if now.ds != made || now.unkept != nil {
		t.Errorf("signed with %s, before with %s; not kept: %v", now.ds, made, now.unkept)
	}
	if !slices.ContainsFunc(now.all, func(k dnsserver.SigningKey) bool { return keyfile.DSText(k.DS()) == old }) {
		t.Errorf("the key of %s is not published: %v", old, now.all)
	}
}

// spoil cuts the one key's file with an end short.
func spoil(dir, end string) error {
	list, err := filepath.Glob(filepath.Join(dir, "*"+end))
	if err != nil || len(list) != 1 {
		return fmt.Errorf("%v: %w", list, err)
	}
	return os.Truncate(list[0], 20)
}

// If this fails, one word in the configuration makes a signed zone a forgery to everybody
// who validates, and whoever reads why is sent to look for files that are where they were.
func TestAnotherAlgorithmIsNoLostKey(t *testing.T) {
	w := newWorld(t, "berlin")
	w.opt.watchEvery = 0
	first, other := w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on"),
		w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: {algorithm: ed25519}")
	w.write(first)
	r := w.start()
	ds := r.names.kept["example.lan"].ds
	w.write(other)
	if _, err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "write the former algorithm again") {
		t.Errorf("the reload: %v", err)
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start() // which serves the zone rather than not
	if e := r.await("key_replaced"); strings.Contains(e.Text, "gone") || !strings.Contains(e.Text, "write the former algorithm again") {
		t.Errorf("%+v", e)
	}
	w.write(first)
	if _, err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.names.kept["example.lan"].ds; got != ds {
		t.Errorf("the former algorithm has the key %s, want %s", got, ds)
	}
	if n := count(r.seen, sites.KeyReplaced); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// If this fails, a start and a reload with thousands of signed zones look through the files
// of all of them for each, and a reload takes longer than it may.
func TestKeysAreLookedForOnce(t *testing.T) {
	cost := func(n int) float64 {
		cfg := &config.Config{StatePath: t.TempDir(), DNS: &dnsserver.Config{}}
		for i := range n {
			cfg.DNS.Zones = append(cfg.DNS.Zones, dnsserver.Zone{Name: fmt.Sprintf("z%d.lan", i), DNSSEC: &dnsserver.Signing{Algorithm: dns.ED25519}})
		}
		_, kept, err := withKeys(cfg, nil, nil, true, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() {
			if _, _, err := withKeys(cfg, kept, nil, false, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := cost(10), cost(100); many > 15*few {
		t.Errorf("%v allocations with 10 signed zones, %v with 100", few, many)
	}
}
