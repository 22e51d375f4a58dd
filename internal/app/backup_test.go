package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// copyFiles copies the files of a folder into another in the place of what is there.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if !f.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, f.Name()), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// If this fails, a state from an old backup takes a name away, changes the records of
// others, keeps a dead node in the answers for longer than its threshold, or gives
// secondaries a serial that is smaller than theirs.
func TestOldBackup(t *testing.T) {
	w := newWorld(t, "berlin")
	router := newRouter(t)
	// One of others under our name, which they have switched off.
	if _, err := router.Do("/ip/dns/static/add", "name=app.example.lan", "address=198.51.100.9", "disabled=yes"); err != nil {
		t.Fatal(err)
	}
	foreign := seedRows(t, router)
	w.write(w.routed(router))
	state, backup := filepath.Join(w.dir, "state"), filepath.Join(w.dir, "backup")
	const app = "app.example.lan"
	p := w.sites[0]
	r := w.start()
	r.until("the router has the answer", func() bool { return resolves(router, app) == p.all(11, 12) })
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, state, backup)
	r = w.start()
	r.settled()
	p.nodes["a"].off()
	r.await("failover_outage berlin/a")
	r.until("the router follows", func() bool { return resolves(router, app) == p.all(12) })
	serials := r.names.serials()
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}

	copyFiles(t, backup, state)
	// Serials go with the time: that of the last change has passed.
	r.until("the second of the last change is over", func() bool { return time.Now().Unix() > int64(serials["example.lan"]) })
	p.cut.Store(true) // so that none is judged yet
	r = w.start()
	if got := r.asks(p, app); got != p.all(11, 12) {
		t.Errorf("with a state from before: %q, want what was answered then, until the nodes are judged", got)
	}
	p.cut.Store(false)
	for zone, now := range r.names.serials() {
		if before := serials[zone]; int32(now-before) < 0 {
			t.Errorf("the serial of %s was %d and is %d", zone, before, now)
		}
	}
	r.await("failover_outage berlin/a")
	r.until("the answer is what the nodes are", func() bool { return r.asks(p, app) == p.all(12) })
	r.until("the router has it", func() bool { return resolves(router, app) == p.all(12) })
	if d := cmp.Diff(foreign, foreignRows(router)); d != "" {
		t.Errorf("the rows of others have changed:\n%s", d)
	}
}
