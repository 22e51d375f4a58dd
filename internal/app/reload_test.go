package app

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, a change of the configuration is not taken in, however it is
// asked for.
func TestReloadIsAskedFor(t *testing.T) {
	tests := []struct {
		name string
		ask  func(*running, chan os.Signal)
	}{
		{"by a change of the file", func(*running, chan os.Signal) {}},
		{"by a signal", func(_ *running, hangup chan os.Signal) { hangup <- syscall.SIGHUP }},
		{"by the API", func(r *running, _ chan os.Signal) {
			if report, err := r.Reload(t.Context()); err != nil || !report.Changed {
				t.Error(report, err)
			}
		}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "berlin")
			hangup := make(chan os.Signal, 1)
			w.opt.Hangup = hangup
			if i > 0 {
				w.opt.watchEvery = 0 // by no other way in the time of this test
			}
			r := w.start()
			r.settled()
			r.t = t
			w.write(w.config("app.example.lan", "other.example.lan"))
			tt.ask(r, hangup)
			r.await("config_reloaded")
			if got, want := r.asks(w.sites[0], "other.example.lan"), w.sites[0].all(11, 12); got != want {
				t.Errorf("the new name: %q, want %q", got, want)
			}
			if got := r.asks(w.sites[0], "app.example.lan"); got != "NXDOMAIN" {
				t.Errorf("the old name: %q", got)
			}
		})
	}
}

// If this fails, a configuration that cannot be used is used in part, or nobody
// is told.
func TestReloadIsRefused(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tests := []struct {
		name   string
		change []string
		want   string
	}{
		{"not YAML", []string{"services:", "services: ]"}, "dnsteer.yaml:"},
		{"an unknown key", []string{"instance:", "instanze:"}, "instanze"},
		{"a port that is taken", []string{"127.0.0.1:0", taken.LocalAddr().String()}, "the port is taken by"},
		{"another state folder", []string{"path: state", "path: elsewhere"}, "cannot change without a restart"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "berlin")
			r := w.start()
			r.settled()
			berlin := w.sites[0]
			berlin.nodes["a"].off()
			r.await("failover_outage berlin/a")
			// Everything else of it would be fine, and must not be taken either.
			w.write(w.config(append(tt.change, "app.example.lan", "other.example.lan", "mode: ", "mode: ")...))
			rejected := r.await("config_rejected")
			if !strings.Contains(rejected.Text, tt.want) {
				t.Errorf("the event says %q, want %q in it", rejected.Text, tt.want)
			}
			if got, want := r.asks(berlin, "app.example.lan"), berlin.all(12); got != want {
				t.Errorf("the old name: %q, want %q", got, want)
			}
			st, err := r.Status(t.Context())
			if err != nil || !strings.Contains(st.Config.Error, tt.want) {
				t.Errorf("the status says %q, %v", st.Config.Error, err)
			}
			if _, err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("a reload that is asked for: %v", err)
			}
			w.write(w.config())
			if e := r.await("config_reloaded"); e.Resolves != rejected.ID {
				t.Errorf("the good one resolves event %d, want %d", e.Resolves, rejected.ID)
			}
			if n := count(r.seen, sites.ConfigRejected); n != 1 {
				t.Errorf("the same fault was told %d times", n)
			}
			if st, err := r.Status(t.Context()); err != nil || st.Config.Error != "" {
				t.Errorf("the status says %q, %v", st.Config.Error, err)
			}
		})
	}
}

func count(events []sites.Event, kind sites.Kind) (n int) {
	for i := range events {
		if events[i].Kind == kind {
			n++
		}
	}
	return n
}

// If this fails, a reload forgets that a node is out, or takes it out anew.
func TestReloadKeepsStates(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	berlin := w.sites[0]
	berlin.nodes["a"].off()
	r.await("failover_outage berlin/a")
	w.write(w.config("grace: 500ms", "grace: 400ms"))
	r.await("config_reloaded")
	if got, want := r.asks(berlin, "app.example.lan"), berlin.all(12); got != want {
		t.Errorf("after the reload: %q, want %q", got, want)
	}
	berlin.nodes["a"].on(t)
	r.await("failover_failback berlin/a")
	if n := count(r.seen, sites.FailoverOutage); n != 1 {
		t.Errorf("the outage was told %d times", n)
	}
}

// If this fails, clients get SERVFAIL or nothing while a service moves to a pool
// that was not answered before, or get addresses of neither.
func TestReloadLeavesNoGap(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	berlin := w.sites[0]
	var stop atomic.Bool
	var asked atomic.Int64
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for !stop.Load() {
				got := r.asks(berlin, "app.example.lan")
				if got != berlin.all(11, 12) && got != berlin.all(12) {
					t.Errorf("a client got %q", got)
					return
				}
				asked.Add(1)
			}
		})
	}
	turned := w.config("hosts: [app.example.lan]", "hosts: [app.example.lan], pool: turned")
	for i := range 30 {
		text, want := turned, berlin.all(12)
		if i%2 == 1 {
			text, want = w.config(), berlin.all(11, 12)
		}
		w.write(text)
		if _, err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.asks(berlin, "app.example.lan"); got != want {
			t.Errorf("after reload %d: %q, want %q", i, got, want)
		}
	}
	stop.Store(true)
	clients.Wait()
	t.Logf("%d queries during 30 reloads", asked.Load())
}

// If this fails, DNS cannot be switched on or off without a restart, or begins
// without answers.
func TestReloadOfTheServerItself(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	berlin := w.sites[0]
	serial := r.names.serials()["example.lan"]
	without := w.config()
	from, to := strings.Index(without, "dns:\n"), strings.Index(without, "defaults:\n")
	without = without[:from] + without[to:]
	without = without[:strings.Index(without, "services:")]
	for range 3 {
		w.write(without)
		if _, err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r.names.addresses() != nil {
			t.Fatal("names are served that the configuration does not have")
		}
		w.write(w.config("127.0.0.1:0", r.at.String()))
		if _, err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := r.asks(berlin, "app.example.lan"), berlin.all(11, 12); got != want {
			t.Errorf("switched on: %q, want %q", got, want)
		}
		next := r.names.serials()["example.lan"]
		if next <= serial {
			t.Errorf("the serial went from %d to %d", serial, next)
		}
		serial = next
	}
}

// If this fails, reloads that are asked for at once mix, or one of them hangs.
func TestReloadsAtOnce(t *testing.T) {
	w := newWorld(t, "berlin")
	hangup := make(chan os.Signal, 1)
	w.opt.Hangup = hangup
	r := w.start()
	r.settled()
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			for range 5 {
				ctx, cancel := context.WithCancel(t.Context())
				if i == 0 {
					cancel() // one whose caller has gone is carried out all the same
				}
				if _, err := r.Reload(ctx); err != nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	for i := range 20 {
		w.write(w.config("grace: 500ms", "grace: "+[]string{"600ms", "700ms"}[i%2]))
		select {
		case hangup <- syscall.SIGHUP:
		default:
		}
	}
	callers.Wait()
	if _, err := r.Reload(t.Context()); err != nil {
		t.Error(err)
	}
	if got := r.cfg.Load().Sites.Sites[0].Nodes[0].Grace.String(); got != "700ms" {
		t.Errorf("the last configuration has a grace of 700ms, the one in place %s", got)
	}
	if n := count(r.seen, sites.ConfigRejected); n != 0 {
		t.Errorf("%d good configurations were rejected", n)
	}
}

// If this fails, a folder that is being written is taken in half, or what comes
// into it is not seen.
func TestReloadOfAFolder(t *testing.T) {
	w := newWorld(t, "berlin", "hamburg")
	folder := filepath.Join(w.dir, "conf.d")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	whole := w.config("path: state", "path: ../state")
	cut := strings.Index(whole, "services:")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("10.yaml", whole[:cut])
	put("20.yaml", whole[cut:])
	w.opt.ConfigPath = folder
	r := w.start()
	r.settled()
	put("30.yaml", "services:\n  - {hosts: [more.example.lan]}\n")
	r.await("config_reloaded")
	if got, want := r.asks(w.sites[0], "more.example.lan"), w.sites[0].all(11, 12); got != want {
		t.Errorf("a name of a file that came: %q, want %q", got, want)
	}
	// One file is removed before the next stands: the pieces are no configuration.
	if err := os.Remove(filepath.Join(folder, "10.yaml")); err != nil {
		t.Fatal(err)
	}
	rejected := r.await("config_rejected")
	if got, want := r.asks(w.sites[0], "more.example.lan"), w.sites[0].all(11, 12); got != want {
		t.Errorf("while a file is missing: %q, want %q", got, want)
	}
	put("10.yaml", whole[:cut])
	if e := r.await("config_reloaded"); e.Resolves != rejected.ID {
		t.Errorf("the whole folder resolves %d, want %d", e.Resolves, rejected.ID)
	}
}

// If this fails, a fault in a file that the configuration in place does not name
// has to be mended twice: nobody looks at the file again.
func TestReloadLooksAtFilesOfARejectedOne(t *testing.T) {
	w := newWorld(t, "berlin")
	r := w.start()
	r.settled()
	w.write(w.config("ns: [ns1.example.lan], hostmaster: admin@example.lan,", "ns: [ns1.example.lan], hostmaster: admin@example.lan, file: more.zone,"))
	r.await("config_rejected")
	if err := os.WriteFile(filepath.Join(w.dir, "more.zone"), []byte("mail 300 IN A 10.9.9.9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.await("config_reloaded")
	if got := r.asks(w.sites[0], "mail.example.lan"); got != "10.9.9.9" {
		t.Errorf("a record of the file: %q", got)
	}
	if !slices.Contains(r.cfg.Load().Files, filepath.Join(w.dir, "more.zone")) {
		t.Error("the file is not watched")
	}
}
