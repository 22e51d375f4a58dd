package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/providers/adguard"
	"github.com/dnsteer/dnsteer/providers/outbound"
	"github.com/dnsteer/dnsteer/providers/rfc2136"
	"github.com/dnsteer/dnsteer/providers/routeros"
)

const (
	hush = "hush-hush"
	key  = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
)

// pushed is a configuration with these targets of the site berlin.
func pushed(t *testing.T, names, targets string) *config.Config {
	t.Helper()
	www := "www.example.lan"
	if strings.Contains(targets, "username") {
		www = "www.example.org" // in no zone: a device takes any name
	}
	cfg, err := config.Parse("x.yaml", []byte(`
dns:
  listen: ["127.0.0.1:53"]
  tsig_keys: [{name: shared.example.lan, algorithm: hmac-sha512, secret: "`+key+`"}]
  zones: [{name: example.lan, ns: [ns.example.net], hostmaster: a@example.lan}]
sites: [{name: berlin, ttl: 40s, resolver: 10.1.0.1, targets: [`+names+`], nodes: [{name: a, addresses: [10.1.0.11, "fd00::1"]}, {name: b, addresses: [10.1.0.12]}]}]
services:
  - {hosts: [app.example.lan, `+www+`]}
  - {hosts: [tv.example.lan], ttl: 20s}
targets: [`+targets+`]
http: {listen: ["127.0.0.1:8053"]}
`), fixed())
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// guarded gives the servers of a target a guard.
func guarded(t *config.Target, g outbound.Guard) {
	if t.RouterOS != nil {
		t.RouterOS.Guard = g
	}
	if t.RFC2136 != nil {
		t.RFC2136.Guard = g
	}
	for i := range t.AdGuard {
		t.AdGuard[i].Guard = g
	}
}

// If this fails, a target is spoken to at another address, with another password
// with less care than was written, or where its name leads to a listener of our own.
func TestTargetsAreResolved(t *testing.T) {
	pin := strings.Repeat("ab", 32)
	var sum [32]byte
	for i := range sum {
		sum[i] = 0xab
	}
	r := func(change func(*routeros.Config)) *routeros.Config {
		c := &routeros.Config{Address: "10.1.0.1:8729", Username: "u", Password: hush, Mark: "test-host"}
		change(c)
		return c
	}
	a := adguard.Config{URL: "https://10.2.0.1/dns", Username: "u", Password: hush, TTL: 20 * time.Second}
	http := a
	http.URL, http.TLS.Mode = "http://10.2.0.2:3000", providers.Plain
	pinned := a
	pinned.URL, pinned.TLS, pinned.ManageTTL = "https://10.2.0.1", providers.TLS{Mode: providers.Pinned, Fingerprint: sum}, true
	tests := []struct {
		name, in string
		want     config.Target
	}{
		{"router", `{type: routeros, address: 10.1.0.1, username: u, password: "` + hush + `"}`, config.Target{RouterOS: r(func(*routeros.Config) {})}},
		{"router by name and port", `{type: routeros, address: "Router.lan.:99", username: u, password: "` + hush + `", old_login: true}`, config.Target{RouterOS: r(func(c *routeros.Config) { c.Address, c.OldLogin = "router.lan:99", true })}},
		{"router over IPv6, pinned", `{type: routeros, address: "fd00::1", username: u, password: "` + hush + `", tls_fingerprint: "sha256:` + pin + `"}`, config.Target{RouterOS: r(func(c *routeros.Config) {
			c.Address, c.TLS = "[fd00::1]:8729", providers.TLS{Mode: providers.Pinned, Fingerprint: sum}
		})}},
		{"router, plain", `{type: routeros, address: 10.1.0.1, username: u, password: "` + hush + `", plain: true}`, config.Target{RouterOS: r(func(c *routeros.Config) { c.Address, c.TLS.Mode = "10.1.0.1:8728", providers.Plain })}},
		{"router, insecure", `{type: routeros, address: 10.1.0.1, username: u, password: "` + hush + `", insecure: true}`, config.Target{RouterOS: r(func(c *routeros.Config) { c.TLS.Mode = providers.Insecure })}},
		{"adguard", `{type: adguard, servers: ["https://10.2.0.1/dns/", "http://10.2.0.2:3000"], username: u, password: "` + hush + `"}`, config.Target{AdGuard: []adguard.Config{a, http}}},
		{"adguard, pinned", `{type: adguard, servers: {url: "https://10.2.0.1", tls_fingerprint: "` + pin + `"}, manage_ttl: true, username: u, password: "` + hush + `"}`, config.Target{AdGuard: []adguard.Config{pinned}}},
		{"zone", `{type: rfc2136, server: 10.3.0.1, zone: Example.LAN.}`, config.Target{RFC2136: &rfc2136.Config{Server: "10.3.0.1:53", Zone: "example.lan"}}},
		{"zone, signed and marked", `{type: rfc2136, server: "[fd00::3]:5353", zone: example.lan, ownership: txt, tsig: {name: K.example.lan, algorithm: hmac-sha384, secret: "` + key + `"}}`, config.Target{RFC2136: &rfc2136.Config{
			Server: "[fd00::3]:5353", Zone: "example.lan", Mark: "test-host", KeyName: "k.example.lan", Algorithm: "hmac-sha384", Secret: key,
		}}},
		{"zone, signed with a key of the server", `{type: rfc2136, server: 10.3.0.1, zone: example.lan, tsig: shared.example.lan}`, config.Target{RFC2136: &rfc2136.Config{
			Server: "10.3.0.1:53", Zone: "example.lan", KeyName: "shared.example.lan", Algorithm: "hmac-sha512", Secret: key,
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := pushed(t, "builtin, x", strings.Replace(tt.in, "{", "{name: x, ", 1)).Targets
			if len(got) != 1 {
				t.Fatalf("%d targets", len(got))
			}
			if next := got[0].Reconcile.Next(time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)); next.Minute() != 5 {
				t.Errorf("compared at %s", next)
			}
			got[0].Reconcile = nil
			tt.want.Name, tt.want.Site, tt.want.DeleteGuard = "x", "berlin", 50
			guarded(&tt.want, outbound.Guard{Own: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53"), netip.MustParseAddrPort("127.0.0.1:8053")}})
			if d := cmp.Diff(tt.want, got[0], cmp.Comparer(func(a, b providers.Secret) bool { return a == b }), cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" {
				t.Errorf("target (-want +got):\n%s", d)
			}
			if kind := got[0].Kind(); !strings.Contains(tt.in, "type: "+kind) {
				t.Errorf("kind %s", kind)
			}
		})
	}
}

// If this fails, a policy that somebody wrote to protect a router's records is
// not kept.
func TestTargetPolicies(t *testing.T) {
	got := pushed(t, "x", `{name: x, type: rfc2136, server: 10.3.0.1, zone: example.lan, reconcile: "7 * * * *", dry_run: true, create_only: true, delete_guard: 100%, drift: adopt}`+
		`, {name: unused, type: rfc2136, server: 10.3.0.2, zone: lan}`).Targets
	if len(got) != 1 || !got[0].DryRun || !got[0].CreateOnly || got[0].DeleteGuard != 100 || got[0].Drift != config.DriftAdopt {
		t.Errorf("targets %+v", got)
	}
}

// If this fails, the built-in server answers for a site that does not publish
// there, or refuses to run because of a host that only a router has.
func TestBuiltinAnswersForItsOwn(t *testing.T) {
	const router = `{name: x, type: routeros, address: 10.1.0.1, username: u, password: p}`
	tests := []struct {
		name, targets string
		want          [][]string
	}{
		{"both", "builtin, x", [][]string{{"app.example.lan"}, {"tv.example.lan"}}},
		{"the router alone", "x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got [][]string
			for _, s := range pushed(t, tt.targets, router).DNS.Services {
				got = append(got, s.Hosts)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("hosts (-want +got):\n%s", d)
			}
			if _, err := dnsserver.New(pushed(t, tt.targets, router).DNS, dnsserver.Options{}); err != nil {
				t.Errorf("the server is not made: %v", err)
			}
		})
	}
}

// If this fails, check promises a failover over a target that is quicker than
// the real one: its TTL, and the time that its records take.
func TestWorstCaseOfTargets(t *testing.T) {
	const base = 38 * time.Second
	tests := []struct {
		name, names, target, by string
		publish, ttl            time.Duration
	}{
		{"builtin", "builtin", "", "", 5 * time.Millisecond, 13995 * time.Millisecond},
		{"router", "x", `{name: x, type: routeros, address: 10.1.0.1, username: u, password: p}`, "x", 185 * time.Millisecond, 40 * time.Second},
		{"router beside the built-in", "builtin, x", `{name: x, type: routeros, address: 10.1.0.1, username: u, password: p}`, "x", 185 * time.Millisecond, 40 * time.Second},
		{"adguard", "x", `{name: x, type: adguard, servers: "https://10.1.0.1", username: u, password: p}`, "x", 32 * time.Millisecond, 10 * time.Second},
		{"adguard with its TTL set", "x", `{name: x, type: adguard, servers: "https://10.1.0.1", username: u, password: p, manage_ttl: true}`, "x", 32 * time.Millisecond, 20 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := pushed(t, tt.names, tt.target)
			sum, ok := cfg.WorstCase("berlin")
			if !ok || sum.Target != tt.by || sum.Publish != tt.publish || sum.TTL != tt.ttl || sum.Moved() != base+tt.publish {
				t.Errorf("%v, %q: publish %s, TTL %s, moved %s", ok, sum.Target, sum.Publish, sum.TTL, sum.Moved())
			}
			text := cfg.WorstCases()
			if says := strings.Contains(text, "until x has all of it (9 records at most, 20ms each)"); says != strings.Contains(tt.target, "routeros") {
				t.Errorf("what the router takes:\n%s", text)
			}
		})
	}
}

// If this fails, check promises a failover over a target that is quicker than the one
// in which the emergency site of the emergency site steps in, which has more nodes.
func TestWorstCaseFollowsTheChain(t *testing.T) {
	const text = `sites:
  - {name: berlin, resolver: 10.1.0.1, emergency_site: hamburg, targets: x, nodes: [{name: a, addresses: [10.1.0.11]}]}
  - {name: hamburg, resolver: 10.2.0.1, emergency_site: munich, targets: y, nodes: [{name: a, addresses: [10.2.0.11]}]}
  - {name: munich, resolver: 10.3.0.1, emergency_site: berlin, targets: z, nodes: [{name: a, addresses: [10.3.0.11, 10.3.0.12, 10.3.0.13]}]}
services: [{hosts: [app.example.lan], sites: [berlin]}]
targets:
  - {name: x, type: routeros, address: 10.1.0.1, username: u, password: p}
  - {name: y, type: routeros, address: 10.2.0.1, username: u, password: p}
  - {name: z, type: routeros, address: 10.3.0.1, username: u, password: p}
`
	cfg, err := config.Parse("dnsteer.yaml", []byte(text), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if sum, ok := cfg.WorstCase("berlin"); !ok || sum.Publish != 65*time.Millisecond { // three records
		t.Errorf("%v, publish %s", ok, sum.Publish)
	}
}

// If this fails, a password is read in a log, in a fault or by other users, or
// is lost with the file that it stood in.
func TestPasswordFile(t *testing.T) {
	const text = `sites: [{name: berlin, resolver: 10.1.0.1, targets: x, nodes: [{name: a, addresses: [10.1.0.11]}]}]
services: [{hosts: [app.example.lan]}]
targets: [{name: x, type: routeros, address: 10.1.0.1, username: u, password_file: router}]
`
	tests := []struct {
		name, content string
		mode          os.FileMode
		want          string // in the fault; "" for none
	}{
		{"right", hush + "\n", 0o600, ""},
		{"from Windows", hush + "\r\n", 0o640, ""},
		{"without a line's end", hush, 0o600, ""},
		{"readable by all", hush + "\n", 0o644, "router: its mode is 0644"},
		{"two lines", hush + "\nmore\n", 0o600, "this is no password"},
		{"empty", "\n", 0o600, "this is no password"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path, file := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "router")
			if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.WriteFile(file, []byte(tt.content), 0o600), os.Chmod(file, tt.mode)); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.LoadWith(path, fixed())
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), hush) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.Targets[0].RouterOS.Password.Reveal(); got != hush {
				t.Error("another password than that of the file")
			}
			if !slices.Contains(cfg.Files, file) {
				t.Error("the file is not watched")
			}
			shown, err := json.Marshal(cfg.Targets[0].RouterOS)
			if s := fmt.Sprintf("%+v %#v %s", cfg.Targets[0].RouterOS, cfg.Targets[0].RouterOS.Password, shown); err != nil || strings.Contains(s, hush) {
				t.Error("the password is printed")
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if again, err := config.Restore(cfg.Raw); err != nil || again.Targets[0].RouterOS.Password.Reveal() != hush {
				t.Errorf("the last good configuration cannot be read again: %v", err)
			}
		})
	}
}
