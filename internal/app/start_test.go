package app

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, a typing error and a restart together leave the names without
// answers (reliability: the last good one).
func TestStartWithABadConfiguration(t *testing.T) {
	for _, tt := range []struct{ name, from, to string }{
		{"a fault", "instance:", "instanze:"},
		{"no YAML any more", "services:", "services: ]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "berlin")
			r := w.start()
			r.settled()
			r.until("the configuration is kept", func() bool { _, ok, err := r.store.Config(); return ok && err == nil })
			if err := r.stopped(); err != nil {
				t.Fatal(err)
			}
			w.write(w.config(tt.from, tt.to))
			w.opt.Strict = true
			if r, err := w.try(); err == nil {
				t.Errorf("--strict started with it: %v", r.stopped())
			}
			w.opt.Strict = false
			r = w.start()
			rejected := r.await("config_rejected")
			if !strings.Contains(rejected.Text, "last good one") || !strings.Contains(rejected.Text, "dnsteer.yaml:") {
				t.Errorf("the event says %q", rejected.Text)
			}
			if got, want := r.asks(w.sites[0], "app.example.lan"), w.sites[0].all(11, 12); got != want {
				t.Errorf("with the last good one: %q, want %q", got, want)
			}
			if st, err := r.Status(t.Context()); err != nil || st.Config.Error == "" {
				t.Errorf("the status does not say so: %q, %v", st.Config.Error, err)
			}
			// A second start with the same fault says nothing new.
			if err := r.stopped(); err != nil {
				t.Fatal(err)
			}
			r = w.start()
			w.write(w.config())
			if e := r.await("config_reloaded"); e.Resolves != rejected.ID {
				t.Errorf("the good one resolves %d, want %d", e.Resolves, rejected.ID)
			}
			if n := count(r.seen, sites.ConfigRejected); n != 1 {
				t.Errorf("the fault was told %d times", n)
			}
		})
	}
}

// If this fails, a configuration that is mended right after the start with the last good
// one is told to be refused after it was told to be in place, and stays so for ever.
func TestAFaultIsMendedRightAfterTheStart(t *testing.T) {
	for _, tt := range []struct{ name, from, to string }{
		{"to another one", "grace: 500ms", "grace: 600ms"},
		{"to the one before", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "berlin")
			r := w.start()
			r.until("the configuration is kept", func() bool { _, ok, err := r.store.Config(); return ok && err == nil })
			if err := r.stopped(); err != nil {
				t.Fatal(err)
			}
			w.write(w.config("instance:", "instanze:"))
			w.opt.watchEvery = time.Hour
			r = w.start()
			rejected := r.await("config_rejected")
			w.write(w.config(tt.from, tt.to))
			if _, err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			if e := r.await("config_reloaded"); e.Resolves != rejected.ID {
				t.Errorf("%+v", e)
			}
			_, loadErr := config.Parse("x.yaml", nil, config.Options{})
			r.settle(start{loadErr: loadErr}) // it has taken so long to read the store
			if err := r.loop.do(t.Context(), func() {}); err != nil {
				t.Fatal(err)
			}
			if list, err := r.Events(t.Context(), api.EventQuery{Kinds: []sites.Kind{sites.ConfigRejected}}); err != nil || len(list) != 1 {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

// If this fails, a fault that was mended while the controller was off stays an
// open alert for ever.
func TestStartEndsWhatWasOpen(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	w.write(w.config("instance:", "instanze:"))
	rejected := r.await("config_rejected")
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	w.write(w.config())
	r = w.start()
	if e := r.await("config_reloaded"); e.Resolves != rejected.ID {
		t.Errorf("the start resolves %d, want %d", e.Resolves, rejected.ID)
	}
}

// If this fails, the first start with a faulty configuration says something
// else than what is wrong with it, or leaves folders behind.
func TestFirstStartWithABadConfiguration(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.config("instance:", "instanze:", "grace: 500ms", "grace: soon"))
	_, err := w.try()
	if err == nil {
		t.Fatal("it started")
	}
	for _, want := range []string{"instanze", "grace", "no configuration of an earlier run"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error: %v", want, err)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, "state")); err == nil {
		t.Error("a state folder was made")
	}
}

// If this fails, two controllers write to one state folder.
func TestSecondProcess(t *testing.T) {
	w := newWorld(t, "berlin")
	w.start()
	_, err := w.try()
	if err == nil || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("a second one on the same folder: %v", err)
	}
}

// If this fails, a damaged store keeps the names from being answered, or nobody
// is told of it, or for ever.
func TestDamagedStore(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "state", "dnsteer.db"), []byte("not a store"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	if got, want := r.asks(w.sites[0], "app.example.lan"), w.sites[0].all(11, 12); got != want {
		t.Errorf("answered %q, want %q", got, want)
	}
	failed := r.await("store_failed")
	if !strings.Contains(failed.Text, "damaged") {
		t.Errorf("the event says %q", failed.Text)
	}
	if e := r.await("store_recovered"); e.Resolves != failed.ID {
		t.Errorf("its end resolves %d, want %d", e.Resolves, failed.ID)
	}
}

// If this fails, a service with a second folder of its own has no last good configuration:
// the service manager names both, in one variable.
func TestStateOfTheServiceManager(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "dnsteer.yaml")
	if err := os.WriteFile(broken, []byte("sites: ]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STATE_DIRECTORY", dir)
	if got := stateOf(broken); got != dir {
		t.Errorf("one: %q", got)
	}
	t.Setenv("STATE_DIRECTORY", dir+":/nowhere")
	if got := stateOf(broken); got != dir {
		t.Errorf("two: %q", got)
	}
}

// If this fails, a controller that finds its state folder still in use, or its store
// unreadable for a moment, while its configuration has a fault, is not started again: for
// the service manager it has ended as one that has nothing to run with.
func TestAFaultOfTheStoreIsNotTheConfigurations(t *testing.T) {
	w := newWorld(t, "berlin")
	w.opt.watchEvery = time.Hour
	r := w.start()
	r.until("the configuration is kept", func() bool { _, ok, err := r.store.Config(); return ok && err == nil })
	w.write(w.config("instance:", "instanze:"))
	_, err := w.try()
	if _, faulty := errors.AsType[*config.FaultsError](err); err == nil || faulty {
		t.Errorf("it ends as one with a faulty configuration: %v", err)
	}
	for _, want := range []string{"in use by process", "instanze"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error: %v", want, err)
		}
	}
}
