package app

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, nobody hears that the state folder was removed until a restart
// has forgotten everything, and no command reaches the controller any more.
func TestStateFolderIsRemoved(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	state, berlin := filepath.Join(w.dir, "state"), w.sites[0]
	if list := r.Missing(t.Context()); len(list) > 0 {
		t.Fatalf("missing at first: %q", list)
	}
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	r.lookAtState() // as every ten seconds: nothing happens that would be stored
	if e := r.await("store_failed"); e.Severity != sites.Critical || !strings.Contains(e.Text, "the state folder is gone") {
		t.Errorf("%+v", e)
	}
	if list := r.Missing(t.Context()); len(list) != 1 || !strings.Contains(list[0], "the store: ") {
		t.Errorf("missing: %q", list)
	}
	if err := r.Healthy(t.Context()); err != nil {
		t.Errorf("what goes on is not healthy: %v", err)
	}
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(11, 12); got != want {
		t.Errorf("DNS without the folder: %q, want %q", got, want)
	}
	if _, err := r.Command(t.Context(), sites.Command{Verb: sites.Maintenance, Site: "berlin", Node: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	r.lookAtState()
	if err := r.keeper.writer.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.await("store_recovered")
	client := api.NewClient(filepath.Join(state, api.SocketName))
	defer client.Close()
	if _, err := client.Status(t.Context()); err != nil {
		t.Errorf("a command after all: %v", err)
	}
	if _, err := w.try(); err == nil {
		t.Error("a second controller starts in the same folder")
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	if st, err := r.Status(t.Context()); err != nil || st.Sites[0].Nodes[0].Word != sites.WordMaintenance {
		t.Errorf("what was known is forgotten: %v %v", st.Sites[0].Nodes[0].Word, err)
	}
}

// If this fails, nobody hears that everybody on the machine may put another socket, another
// store or other keys into the state folder.
func TestStateFolderThatAllMayChange(t *testing.T) {
	w := newWorld(t, "berlin")
	state := filepath.Join(w.dir, "state")
	if err := errors.Join(os.Mkdir(state, 0o700), os.Chmod(state, 0o777)); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	w.opt.Log = slog.New(slog.NewTextHandler(&log, nil))
	if err := w.start().stopped(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "run chmod 700 on it") {
		t.Errorf("the log says:\n%s", log.String())
	}
}

// If this fails, whoever makes a state folder again that was removed, as the alert says, has
// lost the keys that zones are signed with all the same, and hears of it at the next start,
// when they are known to nobody any more.
func TestStateFolderIsRemovedWithItsKeys(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on"))
	r := w.start()
	r.settled()
	state := filepath.Join(w.dir, "state")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(state, name))
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	keys, err := filepath.Glob(filepath.Join(state, "keys", "K*"))
	if err != nil || len(keys) != 2 {
		t.Fatalf("keys %q, %v", keys, err)
	}
	files := []string{secretName, "keys/" + filepath.Base(keys[0]), "keys/" + filepath.Base(keys[1])}
	before := make([]string, len(files))
	for i, name := range files {
		before[i] = read(name)
	}
	if err := errors.Join(os.RemoveAll(state), os.Mkdir(state, 0o700)); err != nil {
		t.Fatal(err)
	}
	r.until("all is there again", func() bool {
		r.lookAtState() // as every ten seconds
		return read(secretName) == before[0]
	})
	for i, name := range files {
		if got := read(name); got != before[i] {
			t.Errorf("%s: %q", name, got)
		}
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	r.settled()
	if n := count(r.seen, sites.KeyReplaced); n != 0 {
		t.Errorf("a key was replaced %d times", n)
	}
}

// If this fails, a zone is signed with a key that its parent does not know, and
// validators refuse all of it, without a word to anybody.
func TestKeyThatIsLost(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on"))
	r := w.start()
	r.settled()
	ds := r.names.kept["example.lan"].ds
	keys, away := filepath.Join(w.dir, "state", "keys"), filepath.Join(w.dir, "keys")
	if err := os.Rename(keys, away); err != nil {
		t.Fatal(err)
	}
	w.write(w.config("hostmaster: admin@example.lan", "hostmaster: admin@example.lan, dnssec: on", "ttl: 10s", "ttl: 11s"))
	if _, err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "put the files back") {
		t.Errorf("the reload: %v", err)
	}
	if got, want := r.proved(w.sites[0], "app.example.lan", ds), w.sites[0].all(11, 12); got != want {
		t.Errorf("what goes on gives %q, want %q", got, want)
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	e := r.await("key_replaced")
	if other := r.names.kept["example.lan"].ds; other == ds || e.Severity != sites.Critical || !strings.Contains(e.Text, ds) || !strings.Contains(e.Text, other) {
		t.Errorf("from %s to %s: %+v", ds, other, e)
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(keys); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, keys); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	r.settled()
	if got, want := r.proved(w.sites[0], "app.example.lan", ds), w.sites[0].all(11, 12); got != want {
		t.Errorf("with the old key back: %q, want %q", got, want)
	}
	if n := count(r.seen, sites.KeyReplaced); n != 0 {
		t.Errorf("that the old key is back is told as a loss %d times", n)
	}
}

// If this fails, a disk that hangs while the commands' socket is made, or taken away, has a
// stop hang with it, and the last state is not stored before the service manager kills.
func TestStopWhileTheSocketHangs(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	r.control.mu.Lock() // as who waits for the disk
	defer r.control.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- r.stopped() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience / 8):
		t.Error("the stop hangs")
	}
}
