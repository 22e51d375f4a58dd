//go:build unix

package dnsserver

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// run runs a program and gives what it says.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatalf("%v: .ci/packages installs it", err)
	}
	return string(out)
}

// If this fails, what this server signs is a forgery to the validators of BIND or of
// NLnet Labs, with one of the algorithms or while a zone changes from one to the
// other.
func TestValidatorsAgree(t *testing.T) {
	ecdsa, ed := signingKey(t, "example.lan", dns.ECDSAP256SHA256), signingKey(t, "example.lan", dns.ED25519)
	for name, keys := range map[string][]SigningKey{"ECDSA": {ecdsa}, "Ed25519": {ed}, "both": {ecdsa, ed}} {
		t.Run(name, func(t *testing.T) {
			cfg := signedConfig(t)
			cfg.Zones = cfg.Zones[:1]
			cfg.Zones[0].DNSSEC = &Signing{Keys: keys}
			cfg.Listen = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
			cfg.DefaultSite = "berlin"
			s, err := New(cfg, Options{})
			if err != nil {
				t.Fatal(err)
			}
			s.SetAnswer("berlin", "default", answer("10.1.0.11", "10.1.0.12"))
			if err := s.Listen(); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx) }()
			defer func() {
				stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
			}()
			port := fmt.Sprint(s.Addrs()[0].Port())
			dir := t.TempDir()
			k := keys[0].Record()
			anchor := daemontest.File(t, filepath.Join(dir, "anchor"), fmt.Sprintf("trust-anchors { \"example.lan.\" static-key %d %d %d %q; };\n", k.Flags, k.Protocol, k.Algorithm, k.PublicKey))
			key := daemontest.File(t, filepath.Join(dir, "key"), k.String()+"\n")
			for _, q := range []string{
				"example.lan SOA", "example.lan NS", "example.lan DNSKEY", "example.lan CDS", "mail.example.lan A", "mail.example.lan AAAA",
				"alias.example.lan A", "x.y.wild.example.lan A", "x.wild.example.lan TXT", "wild.example.lan A", "q.cwild.example.lan A",
				"b.c.example.lan A", "nothing.example.lan A", "a.nothing.example.lan MX", "sub.example.lan DS", "signed.example.lan DS",
				"odd.example.lan TYPE65280", "app.example.lan A", "app.example.lan AAAA", "x.apps.example.lan A", "x.apps.example.lan MX",
				"x.moved.example.lan A", "svcb.example.lan HTTPS", "toservice.example.lan A", "lost.example.lan A",
			} {
				name, typ, _ := strings.Cut(q, " ")
				out := run(t, "delv", "@127.0.0.1", "-p", port, "-a", anchor, "+root=example.lan", name, typ)
				if !strings.Contains(out, "fully validated") || strings.Contains(out, "unsigned") {
					t.Errorf("delv %s:\n%s", q, out)
				}
			}
			for _, q := range []string{"mail.example.lan A", "x.apps.example.lan A", "app.example.lan A"} {
				name, typ, _ := strings.Cut(q, " ")
				out := run(t, "drill", "-D", "-o", "rd", "-p", port, "-k", key, "@127.0.0.1", name, typ)
				if !strings.Contains(out, "VALIDATED by id") {
					t.Errorf("drill %s:\n%s", q, out)
				}
			}
		})
	}
}
