package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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
