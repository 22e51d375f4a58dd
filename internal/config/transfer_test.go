package config_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, a key that others can read signs transfers, or a right one is
// refused.
func TestSecretFile(t *testing.T) {
	const text = `dns:
  listen: ["127.0.0.1:0"]
  tsig_keys: [{name: xfr, secret_file: xfr.key}]
  zones: [{name: lan, ns: [ns.example.net], hostmaster: a@lan, transfer: {allow: [198.51.100.7], tsig: xfr}}]
`
	const good = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"
	tests := []struct {
		name, content string
		mode          os.FileMode
		want          string // in the fault; "" for none
	}{
		{"right", good, 0o600, ""},
		{"readable by the group", good, 0o640, ""},
		{"readable by all", good, 0o644, "xfr.key: its mode is 0644"},
		{"writable by the group", good, 0o660, "xfr.key: its mode is 0660"},
		{"not base64", "hush hush\n", 0o600, "this is not a secret in base64"},
		{"empty", "", 0o600, "this is not a secret in base64"},
		{"too long", strings.Repeat("A", 5000), 0o600, "larger than 4096"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path, key := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "xfr.key")
			if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.WriteFile(key, []byte(tt.content), 0o600), os.Chmod(key, tt.mode)); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.LoadWith(path, fixed())
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(cfg.DNS.Keys[0].Secret); got != "0123456789abcdef0123456789abcdef" {
				t.Error("another secret than that of the file")
			}
			if !slices.Contains(cfg.DNS.AllowQuery, netip.MustParsePrefix("198.51.100.7/32")) {
				t.Error("the secondary may not ask for the SOA record")
			}
			if !slices.Contains(cfg.Files, key) {
				t.Error("the file is not watched")
			}
			if s := fmt.Sprintf("%+v", cfg.DNS); strings.Contains(s, "0123456789abcdef") {
				t.Error("the secret is printed")
			}
			if err := os.Remove(key); err != nil {
				t.Fatal(err)
			}
			if again, err := config.Restore(cfg.Raw); err != nil || len(again.DNS.Keys[0].Secret) != 32 {
				t.Errorf("the last good configuration cannot be read again: %v", err)
			}
		})
	}
}

// If this fails, a public server floods others unless somebody knew the key.
func TestRateLimit(t *testing.T) {
	tests := []struct {
		name, in string
		want     dnsserver.RateLimit
	}{
		{"left out", "", dnsserver.RateLimit{PerSecond: 50, Slip: 2}},
		{"off", "rate_limit: off, ", dnsserver.RateLimit{}},
		{"rate", "rate_limit: {per_second: 7}, ", dnsserver.RateLimit{PerSecond: 7, Slip: 2}},
		{"no slip", "rate_limit: {slip: 0, dry_run: true}, ", dnsserver.RateLimit{PerSecond: 50, DryRun: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := config.Parse("x.yaml", []byte("dns: {"+tt.in+"listen: ['127.0.0.1:0'], zones: [{name: lan, ns: [ns.example.net], hostmaster: a@lan}]}\n"), fixed())
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.DNS.RateLimit; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// If this fails, a zone that DNS allows is refused for its name, or one that cannot
// be served is taken.
func TestZoneNames(t *testing.T) {
	for name, fault := range map[string]string{
		"example.lan": "", "Example.LAN.": "", "lan": "", "10.in-addr.arpa": "", "64/26.2.0.192.in-addr.arpa": "", "64-26.2.0.192.in-addr.arpa": "",
		"_tcp.example.lan": "", "-x-.example.lan": "", "a.*.example.lan": "", "a*.example.lan": "",
		"*.example.lan":                  "without a wildcard in front",
		"a..example.lan":                 "empty label",
		"a b.example.lan":                "found \"a b.example.lan\", expected a zone's name of",
		"bücher.lan":                     "IDNA",
		strings.Repeat("a", 64) + ".lan": "labels of at most 63",
		strings.Repeat("aaa.", 64):       "1 to 253 characters",
	} {
		text := fmt.Sprintf("dns: {listen: [\"127.0.0.1:0\"], zones: [{name: %q, ns: [ns.example.net], hostmaster: a@example.lan}]}\n", name)
		cfg, err := config.Parse("x.yaml", []byte(text), fixed())
		switch {
		case fault != "":
			if err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("%s: %v, want %s", name, err, fault)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case cfg.DNS.Zones[0].Name != strings.TrimSuffix(strings.ToLower(name), "."):
			t.Errorf("%s is served as %s", name, cfg.DNS.Zones[0].Name)
		default:
			if _, err := dnsserver.New(cfg.DNS, dnsserver.Options{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
