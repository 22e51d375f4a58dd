package online_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/online"
	"github.com/dnsteer/dnsteer/internal/routersim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a site on loopback: one node that answers, one that does not, a
// resolver and a router with records of somebody else.
type world struct {
	router   *routersim.Router
	nodePort string
	resolver string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	r, err := routersim.New(routersim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(web.Close)
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return &world{router: r, nodePort: port, resolver: r.DNSAddr().String()}
}

// config describes the world; more goes into the target.
func (w *world) config(t *testing.T, more string) *config.Config {
	t.Helper()
	pin := w.router.Fingerprint()
	cfg, err := config.Parse("x.yaml", []byte(fmt.Sprintf(`
instance: hq
sites:
  - name: berlin
    resolver: %q
    targets: router
    probe_timeout: 10s
    nodes:
      - {name: a, addresses: [127.0.0.1], probes: [{type: http, url: "http://{address}:%s/"}, {type: tcp, label: gone, port: 1, steer: false}]}
      - {name: b, addresses: [127.0.0.2], probes: [{type: tcp, port: 1}]}
services: [{hosts: [app.example.lan, tv.example.lan]}]
targets:
  - {name: router, type: routeros, address: %q, username: dnsteer, tls_fingerprint: "sha256:%s", %s}
`, w.resolver, w.nodePort, w.router.TLSAddr(), hex.EncodeToString(pin[:]), more)), config.Options{Instance: "hq"})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// find gives the finding about something that says something.
func find(list []online.Finding, about, text string) *online.Finding {
	for i := range list {
		if strings.HasPrefix(list[i].About, about) && strings.Contains(list[i].Text, text) {
			return &list[i]
		}
	}
	return nil
}

// Somebody would go live with a node, a resolver or a router that does not work,
// and with names that have no failover; or would have a router changed by a look
// at it.
func TestAll(t *testing.T) {
	w := newWorld(t)
	for _, row := range [][]string{
		{"name=app.example.lan", "address=127.0.0.1"},
		{"name=tv.example.lan", "address=10.9.9.9"},
		{"name=nas.example.lan", "address=10.9.9.8"},
	} {
		if _, err := w.router.Do("/ip/dns/static/add", row...); err != nil {
			t.Fatal(err)
		}
	}
	before := fmt.Sprint(w.router.Records())
	extra := func(_ context.Context, cfg *config.Config) []online.Finding {
		return []online.Finding{{About: "mail of " + cfg.Instance, Grade: online.OK, Text: "fine"}}
	}
	list := online.All(t.Context(), w.config(t, "password: secret"), slog.New(slog.DiscardHandler), extra)
	for _, tt := range []struct {
		about, text string
		grade       online.Grade
	}{
		{"berlin resolver 127.0.0.1", "answers in", online.OK},
		{"berlin/a 127.0.0.1", "http: answers in", online.Warning},
		{"berlin/a 127.0.0.1", "gone: ", online.Warning},
		{"berlin/b 127.0.0.2", "tcp: ", online.Failed},
		{"router (", "RouterOS 7.24.4", online.OK},
		{"router (", "app.example.lan A 127.0.0.1 stands there and is not dnsteer's", online.Failed},
		{"router (", "tv.example.lan A has no failover there: 10.9.9.9 stands there", online.Failed},
		{"mail of hq", "fine", online.OK},
	} {
		if f := find(list, tt.about, tt.text); f == nil || f.Grade != tt.grade {
			t.Errorf("%s: nothing %s that says %q in\n%+v", tt.about, tt.grade, tt.text, list)
		}
	}
	if find(list, "", "nas.example.lan") != nil {
		t.Error("a record is told of that is nobody's business")
	}
	if after := fmt.Sprint(w.router.Records()); after != before {
		t.Errorf("the router was changed:\n%s\n%s", before, after)
	}
}

// A wrong password, or a router that is another one, would look well, and the
// password would be read in what is printed.
func TestTargetThatDoesNotWork(t *testing.T) {
	w := newWorld(t)
	list := online.All(t.Context(), w.config(t, "password: hush-hush"), slog.New(slog.DiscardHandler))
	if f := find(list, "router (", ""); f == nil || f.Grade != online.Failed || find(list, "router (", "can be reached") != nil {
		t.Errorf("a wrong password: %+v", list)
	}
	cfg := w.config(t, "password: hush-hush")
	cfg.Targets[0].RouterOS.TLS.Fingerprint[0]++
	pinned := online.All(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if f := find(pinned, "router (", "pinned is"); f == nil || f.Grade != online.Failed {
		t.Errorf("another certificate: %+v", pinned)
	}
	if s := fmt.Sprint(list, pinned); strings.Contains(s, "hush-hush") {
		t.Error("the password is printed")
	}
}

// A resolver that is silent would be found out at the first outage, when no node
// is taken out.
func TestSilentResolver(t *testing.T) {
	w := newWorld(t)
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &dns.Server{PacketConn: pc, Handler: dns.HandlerFunc(func(dns.ResponseWriter, *dns.Msg) {})}
	begun := make(chan struct{})
	srv.NotifyStartedFunc = func() { close(begun) }
	go func() { _ = srv.ActivateAndServe() }()
	<-begun
	defer func() {
		if err := srv.Shutdown(); err != nil {
			t.Error(err)
		}
	}()
	w.resolver = pc.LocalAddr().String()
	cfg := w.config(t, "password: secret")
	cfg.Sites.Sites[0].Timeout = 50_000_000
	list := online.All(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if f := find(list, "berlin resolver", "no node of this site is taken out"); f == nil || f.Grade != online.Failed {
		t.Errorf("a silent resolver: %+v", list)
	}
}

// A node that reports by itself would be said not to work, for a look takes no
// reports; and one that does not work otherwise would pass because it reports.
func TestHeartbeat(t *testing.T) {
	w := newWorld(t)
	cfg, err := config.Parse("x.yaml", []byte(fmt.Sprintf(`
http: {listen: "127.0.0.1:0"}
sites:
  - name: berlin
    resolver: %q
    nodes:
      - {name: a, addresses: [127.0.0.1], probes: [{type: heartbeat, stale_after: 1m, token: abcdefghijklmnopqrstuvwxyz0123456789}]}
      - {name: b, addresses: [127.0.0.2], probes: [{type: tcp, port: 1}, {type: heartbeat, stale_after: 1m, token: 9876543210abcdefghijklmnopqrstuvwxyz}]}
`, w.resolver)), config.Options{Instance: "hq"})
	if err != nil {
		t.Fatal(err)
	}
	list := online.All(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if f := find(list, "berlin/a", "cannot be tried from here"); f == nil || f.Grade != online.Note {
		t.Errorf("a node that reports: %+v", list)
	}
	if f := find(list, "berlin/b", "cannot be tried from here"); f == nil || f.Grade != online.Failed {
		t.Errorf("a node that reports and does not answer: %+v", list)
	}
}
