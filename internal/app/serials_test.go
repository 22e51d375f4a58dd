package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dnsteer/dnsteer/internal/store"
)

// zones is a configuration of nothing but zones, each with so many records.
func zones(count map[string]int) string {
	var b strings.Builder
	b.WriteString("instance: test\nstate: {path: state}\n")
	if len(count) > 0 {
		b.WriteString("dns:\n  listen: [\"127.0.0.1:0\"]\n  zones:\n")
	}
	for _, name := range []string{"one.lan", "two.lan"} {
		n, ok := count[name]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "    - name: %s\n      ns: [ns1.%s]\n      hostmaster: admin@%s\n      records:\n      - ns1 300 IN A 127.0.0.1\n", name, name, name)
		for i := range n {
			fmt.Fprintf(&b, "      - h%d 300 IN A 127.0.0.2\n", i)
		}
	}
	return b.String()
}

// If this fails, a zone's serial falls, and its secondaries serve what it was before for
// as long as it takes to count up again.
func TestSerialsNeverFall(t *testing.T) {
	w := newWorld(t, "berlin")
	w.opt.watchEvery = 0
	w.write(zones(map[string]int{"one.lan": 0, "two.lan": 0}))
	r := w.start()
	last := map[string]uint32{}
	steps := []struct {
		name    string
		count   map[string]int
		restart bool
	}{
		{"a record more", map[string]int{"one.lan": 1, "two.lan": 1}, false},
		{"and one", map[string]int{"one.lan": 2, "two.lan": 2}, false},
		{"a restart", map[string]int{"one.lan": 3, "two.lan": 3}, true},
		{"another one", map[string]int{"one.lan": 4, "two.lan": 4}, false},
		{"a zone leaves", map[string]int{"two.lan": 5}, false},
		{"the server leaves", nil, false},
		{"both are back", map[string]int{"one.lan": 5, "two.lan": 6}, false},
		{"a zone leaves again", map[string]int{"one.lan": 6}, false},
		{"it is back at a start", map[string]int{"one.lan": 7, "two.lan": 7}, true},
	}
	for _, tt := range steps {
		w.write(zones(tt.count))
		if tt.restart {
			if err := r.stopped(); err != nil {
				t.Fatal(err)
			}
			r = w.start()
		} else if _, err := r.Reload(t.Context()); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		for zone, serial := range r.names.serials() {
			if serial <= last[zone] {
				t.Errorf("%s: %s has the serial %d after %d", tt.name, zone, serial, last[zone])
			}
			last[zone] = serial
		}
	}
}

// If this fails, a run that was killed while its disk took nothing has given serials to
// secondaries that the next one gives again, for other records: they stay with what they
// have, or put the changes of the one on top of the zone of the other.
func TestSerialsNeverFallAfterAHungDisk(t *testing.T) {
	w := newWorld(t, "berlin")
	zone := "$TTL 300\n@ SOA ns1 admin 2026010100 3600 600 86400 60\n@ NS ns1\nns1 A 127.0.0.1\n" // a date, which no clock reaches
	if err := os.WriteFile(filepath.Join(w.dir, "zone"), []byte(zone), 0o600); err != nil {
		t.Fatal(err)
	}
	text := w.config("ns: [ns1.example.lan], hostmaster: admin@example.lan, records: [\"ns1 300 IN A 127.0.0.1\"]", "file: zone")
	w.write(text)
	var dead atomic.Bool
	killed := errors.New("killed")
	w.opt.disk = func(b store.Batch, commit func(store.Batch) error) error {
		if dead.Load() {
			return killed
		}
		return commit(b)
	}
	r := w.start()
	r.settled()
	r.until("the state is stored", func() bool {
		st, err := r.store.Load()
		return err == nil && st.Serials["example.lan"] >= r.names.serials()["example.lan"]
	})
	dead.Store(true)
	first := r.names.serials()["example.lan"]
	w.sites[0].nodes["a"].off()
	r.until("the names move", func() bool { return r.asks(w.sites[0], "app.example.lan") == w.sites[0].all(12) })
	w.sites[0].nodes["a"].on(t)
	r.until("and return", func() bool { return r.asks(w.sites[0], "app.example.lan") == w.sites[0].all(11, 12) })
	last := r.names.serials()["example.lan"]
	if err := r.stopped(); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	dead.Store(false)
	r = w.start()
	if now := r.names.serials()["example.lan"]; now <= last {
		t.Errorf("the serial was %d, then %d, and after a kill %d", first, last, now)
	}
	stopped := r.names.serials()["example.lan"]
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	r = w.start()
	if now := r.names.serials()["example.lan"]; now <= stopped || now > stopped+10 {
		t.Errorf("the serial was %d, and is %d after a stop in which all was stored", stopped, now)
	}
}

// If this fails, a stop that leaves the loop behind has given up the serials that are stored
// ahead while the loop may still move answers.
func TestSerialsStayAheadWhereTheLoopIsLeftBehind(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	r.until("the state is stored", func() bool {
		st, err := r.store.Load()
		return err == nil && st.Serials["example.lan"] > r.names.serials()["example.lan"]
	})
	held, hangs := make(chan struct{}), make(chan struct{})
	defer close(held)
	go func() { _ = r.loop.do(context.Background(), func() { close(hangs); <-held }) }()
	<-hangs
	last := r.names.serials()["example.lan"]
	if err := r.stopped(); err == nil || !strings.Contains(err.Error(), "does not end") {
		t.Fatal(err)
	}
	r = w.start()
	if now := r.names.serials()["example.lan"]; now < last+1000 {
		t.Errorf("the serial was %d, and is %d", last, now)
	}
}
