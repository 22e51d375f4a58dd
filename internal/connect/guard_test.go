package connect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/connect"
)

// If this fails, whoever answers for the name of a target or of a channel has the
// controller send its passwords and messages to itself: no sort of them may be without
// the guard.
func TestNamesLeadToNoListenerOfOurs(t *testing.T) {
	cfg, err := config.Parse("x.yaml", []byte(`
dns:
  listen: ["127.0.0.1:15353", "[::1]:15353"]
  zones: [{name: example.lan, ns: [ns.example.net], hostmaster: a@example.lan}]
http: {listen: ["127.0.0.1:18053", "[::1]:18053"]}
sites:
  - {name: berlin, resolver: 10.1.0.1, targets: [builtin, router, box, zone], nodes: [{name: a, addresses: [10.1.0.11]}]}
services: [{hosts: [app.example.lan]}]
targets:
  - {name: router, type: routeros, address: "localhost:18053", username: u, password: hush}
  - {name: box, type: adguard, servers: ["https://localhost:18053"], username: u, password: hush}
  - {name: zone, type: rfc2136, server: "localhost:15353", zone: example.lan}
alerts:
  smtp: {host: localhost, port: 18053, from: a@example.lan, to: [b@example.lan]}
  webhooks: [{name: hook, url: "https://localhost:18053/hook"}]
  chats: [{name: chat, url: "ntfy://localhost:18053/topic"}]
  dead_man: {url: "https://localhost:18053/alive"}
`), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	held := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "where this controller itself listens") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range cfg.Targets {
		for _, s := range connect.Servers(&cfg.Targets[i]) {
			p, err := s.Connect()
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.List(t.Context(), []string{"app.example.lan"})
			held(cfg.Targets[i].Name, err)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if len(cfg.Targets) != 3 || len(cfg.Alerts.Channels) != 3 {
		t.Fatalf("%d targets, %d channels", len(cfg.Targets), len(cfg.Alerts.Channels))
	}
	m := alert.Samples(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))[0]
	for _, c := range cfg.Alerts.Channels {
		held(c.Name, c.Sender.Send(t.Context(), &m, nil))
	}
	held("dead man", cfg.Alerts.DeadMan.Try(t.Context(), nil))
}
