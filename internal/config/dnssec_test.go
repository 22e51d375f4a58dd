package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/keyfile"
)

// If this fails, a zone is signed by a key that others can read or that is not its
// own, or a right one is refused, or lost when the files are gone.
func TestSigningKeys(t *testing.T) {
	const text = `dns:
  listen: ["127.0.0.1:0"]
  zones: [{name: lan, ns: [ns.example.net], hostmaster: a@lan, dnssec: {keys: KEY, validity: 7d}}]
`
	tests := []struct {
		name, zone, end string
		edit            func(base string) error
		want            string // in the fault; "" for none
	}{
		{"right", "lan", "", nil, ""},
		{"named by its public file", "lan", ".key", nil, ""},
		{"readable by all", "lan", "", func(base string) error { return os.Chmod(base+".private", 0o644) }, ".private: its mode is 0644"},
		{"another zone's", "example.lan", "", nil, "is that of the zone example.lan, expected one of lan"},
		{"no public half", "lan", "", func(base string) error { return os.Remove(base + ".key") }, ".key: cannot be read: no such file"},
		{"no private half", "lan", "", func(base string) error { return os.Remove(base + ".private") }, "no such file"},
		{"damaged", "lan", "", func(base string) error { return os.WriteFile(base+".private", []byte("hush"), 0o600) }, "the private file cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			m, err := keyfile.New(tt.zone, dns.ED25519)
			if err != nil {
				t.Fatal(err)
			}
			base, err := m.Write(dir)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "c.yaml")
			if err := os.WriteFile(path, []byte(strings.Replace(text, "KEY", filepath.Base(base)+tt.end, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.edit != nil {
				if err := tt.edit(base); err != nil {
					t.Fatal(err)
				}
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
			if err := errors.Join(os.Remove(base+".key"), os.Remove(base+".private")); err != nil {
				t.Fatal(err)
			}
			again, err := config.Restore(cfg.Raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []*config.Config{cfg, again} {
				s := c.DNS.Zones[0].DNSSEC
				if len(s.Keys) != 1 || s.Keys[0].Tag() != m.Tag() || s.Validity != 7*24*time.Hour || s.CDS != dnsserver.CDSKeys {
					t.Errorf("signing %+v", s)
				}
				if !slices.Contains(c.Files, base+".private") {
					t.Error("the key is not watched")
				}
			}
		})
	}
}
