package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
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
