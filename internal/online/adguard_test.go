package online_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/online"
)

// adguardWith starts an AdGuard Home that has rewrites, by their names.
func adguardWith(t *testing.T, rewrites map[string]string) *adguardsim.Server {
	t.Helper()
	s, err := adguardsim.Start(adguardsim.Options{Username: "dnsteer", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	err = s.Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
		for name, answer := range rewrites {
			list = append(list, adguardsim.Rewrite{Domain: name, Answer: answer, Enabled: true})
		}
		return list
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Rewrites that are nobody's would be changed by a look, or names that have no
// failover at an AdGuard Home would look well.
func TestAdGuard(t *testing.T) {
	s := adguardWith(t, map[string]string{"app.example.lan": "127.0.0.1", "tv.example.lan": "10.9.9.9", "nas.example.lan": "10.9.9.8"})
	before := fmt.Sprint(s.Rewrites())
	cfg, err := config.Parse("x.yaml", fmt.Appendf(nil, `
sites: [{name: hamburg, witnesses: none, targets: guard, nodes: [{name: a, addresses: [127.0.0.1]}]}]
services: [{hosts: [app.example.lan, tv.example.lan], ttl: 5s}]
targets: [{name: guard, type: adguard, servers: %q, username: dnsteer, password: secret, manage_ttl: true}]
`, s.URL()), config.Options{Instance: "hq"})
	if err != nil {
		t.Fatal(err)
	}
	list := online.All(t.Context(), cfg, slog.New(slog.DiscardHandler))
	for text, grade := range map[string]online.Grade{
		"AdGuard Home v":                           online.OK,
		"its records live 10s in caches":           online.Note,
		"app.example.lan A 127.0.0.1 stands there": online.Note,
		"tv.example.lan A has no failover there":   online.Failed,
	} {
		if f := find(list, "guard (", text); f == nil || f.Grade != grade {
			t.Errorf("nothing %s that says %q in\n%+v", grade, text, list)
		}
	}
	if after := fmt.Sprint(s.Rewrites()); after != before || s.Writes() > 0 || strings.Contains(fmt.Sprint(list), "nas.example.lan") {
		t.Errorf("the server was changed, or a rewrite told of that is nobody's business:\n%s\n%s", before, after)
	}
}

// While the emergency site of an emergency site stands in, its record would be called
// somebody else's, and the target one that does not work.
func TestEmergencySitesStandInForEachOther(t *testing.T) {
	s := adguardWith(t, map[string]string{"app.example.lan": "127.0.0.3"})
	cfg, err := config.Parse("x.yaml", fmt.Appendf(nil, `
sites:
  - {name: hamburg, witnesses: none, targets: guard, emergency_site: munich, nodes: [{name: a, addresses: [127.0.0.1]}]}
  - {name: munich, witnesses: none, emergency_site: leipzig, nodes: [{name: a, addresses: [127.0.0.2]}]}
  - {name: leipzig, witnesses: none, emergency_site: hamburg, nodes: [{name: a, addresses: [127.0.0.3]}]}
services: [{hosts: [app.example.lan], sites: [hamburg]}]
targets:
  - {name: guard, type: adguard, servers: %q, username: dnsteer, password: secret}
`, s.URL()), config.Options{Instance: "hq"})
	if err != nil {
		t.Fatal(err)
	}
	list := online.All(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if f := find(list, "guard (", "app.example.lan A 127.0.0.3 stands there"); f == nil || f.Grade != online.Note {
		t.Errorf("%+v in\n%+v", f, list)
	}
}

// A look at a configuration with a wrong password would have the server lock out
// everybody at this address.
func TestAdGuardThatRefusesTheLogin(t *testing.T) {
	s := adguardWith(t, nil)
	cfg, err := config.Parse("x.yaml", fmt.Appendf(nil, `
sites: [{name: hamburg, witnesses: none, targets: guard, nodes: [{name: a, addresses: [127.0.0.1]}]}]
services: [{hosts: [app.example.lan]}]
targets: [{name: guard, type: adguard, servers: %q, username: dnsteer, password: wrong, manage_ttl: true}]
`, s.URL()), config.Options{Instance: "hq"})
	if err != nil {
		t.Fatal(err)
	}
	list := online.All(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if f := find(list, "guard (", "mend them before the next"); f == nil || f.Grade != online.Failed {
		t.Errorf("it is not said to refuse us: %+v", list)
	}
	tried := 0
	for _, r := range s.Requests() {
		if strings.Contains(r, "/login") {
			tried++
		}
	}
	if tried != 1 {
		t.Errorf("%d log-ins: %q", tried, s.Requests())
	}
}
