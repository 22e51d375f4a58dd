package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
)

// day is when the certificates of these tests are looked at.
var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// pair writes a certificate that ends after a time, and its key.
func pair(t *testing.T, dir, name string, left time.Duration) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"Cert.example.lan"},
		NotBefore: day.Add(-time.Hour), NotAfter: day.Add(left),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, name+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
	put(t, filepath.Join(dir, name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600)
}

func put(t *testing.T, path string, data []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const (
	okUser  = "users: [{name: alice, role: admin, password_hash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$bm8gcGFzc3dvcmQgaGFzIHRoaXMgaGFzaCwgYmVsaWV2ZQ'}]"
	okToken = "tokens: [{name: deploy, role: operator, hash: 'sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'}]"
	okTLS   = "tls: {cert_file: a.crt, key_file: a.key}"
)

// The controller would be open to others without a login or in the clear, or a
// right configuration would be refused. A secret would stand in a fault.
func TestHTTP(t *testing.T) {
	dir := t.TempDir()
	pair(t, dir, "a", 60*24*time.Hour)
	pair(t, dir, "b", time.Hour)
	put(t, filepath.Join(dir, "open.key"), nil, 0o644)
	put(t, filepath.Join(dir, "hush"), []byte("hush hush\n"), 0o600)
	put(t, filepath.Join(dir, "token"), []byte("canary-of-the-metrics\n"), 0o600)
	chain := slices.Concat(get(t, filepath.Join(dir, "a.crt")), get(t, filepath.Join(dir, "b.crt")))
	put(t, filepath.Join(dir, "chain.crt"), append([]byte("subject=a\n"), chain...), 0o644)
	put(t, filepath.Join(dir, "half.crt"), chain[:len(chain)-30], 0o644)
	tests := []struct {
		name, in string
		want     string // in the fault or, behind "warning: ", in a warning; "" for none
	}{
		{"nothing said", "", ""},
		{"loopback", "listen: ['127.0.0.1:8053', '[::1]:8053']", ""},
		{"others, nothing", "listen: 0.0.0.0:8053", "http.listen: others than this machine can reach 0.0.0.0:8053: expected http.tls with a certificate and http.users or http.tokens"},
		{"others, no TLS", "listen: 10.0.0.1:8053, " + okUser, "expected http.tls with a certificate, or an address on loopback"},
		{"others, no login", "listen: 10.0.0.1:8053, " + okTLS, "expected http.users or http.tokens"},
		{"others, all", "listen: 10.0.0.1:8053, " + okTLS + ", " + okUser, ""},
		{"others, a token", "listen: 10.0.0.1:8053, " + okTLS + ", " + okToken, ""},
		{"others, without a login", "listen: 10.0.0.1:8053, without_login: viewer, " + okTLS + ", " + okUser, "expected without_login: none"},
		{"one of two", "listen: ['127.0.0.1:1', '192.0.2.1:1']", "http.listen[1]: others than this machine"},
		{"twice", "listen: ['127.0.0.1:1', '127.0.0.1:1']", "stands twice"},
		{"operators without a login", "without_login: operator", "warning: everything on this machine"},
		{"another key", "tls: {cert_file: a.crt, key_file: b.key}", "the certificate a.crt does not go with the key b.key"},
		{"no certificate", "tls: {cert_file: hush, key_file: a.key}", "does not go with the key"},
		{"a chain", "tls: {cert_file: chain.crt, key_file: a.key}", ""},
		{"half a chain", "tls: {cert_file: half.crt, key_file: a.key}", "the certificate half.crt is cut off"},
		{"gone", "tls: {cert_file: gone.crt, key_file: a.key}", "the certificate gone.crt: cannot be read"},
		{"a key for all", "tls: {cert_file: a.crt, key_file: open.key}", "the key open.key: its mode is 0644"},
		{"ends soon", "tls: {cert_file: b.crt, key_file: b.key}", "warning: the certificate ends at 2026-03-01T13:00:00Z"},
		{"a password in place of its hash", "users: [{name: alice, role: admin, password_hash: hush}]", "this is no hash of a password"},
		{"a file with a password", "users: [{name: alice, role: admin, password_hash_file: hush}]", "this is no hash of a password"},
		{"no password", "users: [{name: alice, role: admin}]", `the user "alice" has no password`},
		{"both", "users: [{name: alice, role: admin, password_hash_file: hush, password_hash: '$2a$04$c3H7mQm0Yw1zN0c6m5rZ4uYf0sQ1m5p1e0b8eS9y8q4rY1cJ0k1bK'}]", "expected one or the other"},
		{"an expensive hash", "users: [{name: alice, role: admin, password_hash: '$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$bm8gcGFzc3dvcmQgaGFzIHRoaXMgaGFzaCwgYmVsaWV2ZQ'}]", "the hash costs 9999999 KiB"},
		{"no such role", "users: [{name: alice, role: root}]", `found "root", expected viewer, operator or admin`},
		{"a token in place of its hash", "tokens: [{name: x, role: viewer, hash: dnst_hush}]", "this is no hash of a token"},
		{"a name twice", okUser + ", tokens: [{name: alice, role: viewer, hash: 'sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'}]", `the user or token "alice" stands twice`},
		{"a token that has ended", "tokens: [{name: x, role: viewer, hash: 'sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b', expires: 2020-01-01T00:00:00Z}]", `warning: the token "x" has ended`},
		{"a short secret", "metrics: {token: hush}", "this is no secret for a header"},
		{"a secret in a file", "metrics: {token_file: token}", ""},
		{"a base path with dots", "base_path: /a/../b", "expected a path without .."},
		{"no base path", "base_path: a", "expected a path such as /dnsteer"},
	}
	t.Chdir(dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := fixed()
			opts.Now = func() time.Time { return day }
			cfg, err := config.Parse("c.yaml", []byte("http: {"+tt.in+"}\n"), opts)
			text := fmt.Sprint(err)
			if want, warned := strings.CutPrefix(tt.want, "warning: "); warned {
				if err != nil {
					t.Fatal(err)
				}
				text, tt.want = fmt.Sprint(cfg.Warnings), want
			} else if (err == nil) != (tt.want == "") {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			if !strings.Contains(text, tt.want) {
				t.Errorf("%s, want %q", text, tt.want)
			}
			if strings.Contains(text, "hush hush") || strings.Contains(text, "dnst_hush") || strings.Contains(text, `"hush"`) {
				t.Errorf("a secret is quoted: %s", text)
			}
		})
	}
}

// What is resolved would be another listener than the one that was meant, and the
// last good configuration none at all once the files have gone.
func TestHTTPResolved(t *testing.T) {
	dir := t.TempDir()
	pair(t, dir, "a", 60*24*time.Hour)
	put(t, filepath.Join(dir, "token"), []byte("canary-of-the-metrics\n"), 0o600)
	path := filepath.Join(dir, "c.yaml")
	put(t, path, []byte("http: {base_path: /x/, hosts: [Dns.example.lan, '*.w.lan'], metrics: {token_file: token}, "+okTLS+", "+okUser+", "+okToken+"}\n"), 0o600)
	cfg, err := config.LoadWith(path, fixed())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.crt", "a.key", "token"} {
		if !slices.Contains(cfg.Files, filepath.Join(dir, name)) {
			t.Errorf("%s is not watched", name)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	again, err := config.Restore(cfg.Raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*config.HTTP{cfg.HTTP, again.HTTP} {
		if d := cmp.Diff([]string{"cert.example.lan", "dns.example.lan", "*.w.lan"}, h.Hosts); d != "" {
			t.Errorf("hosts (-want +got):\n%s", d)
		}
		if h.BasePath != "/x" || h.WithoutLogin != auth.Nobody || h.TLS == nil || fmt.Sprint(h.Listen) != "[127.0.0.1:8053]" || !h.Metrics.Is("canary-of-the-metrics") ||
			len(h.Directory.Users) != 1 || len(h.Directory.Tokens) != 1 || h.Directory.Tokens[0].Role != auth.Operator {
			t.Errorf("%+v", h)
		}
	}
	plain, err := config.Parse("c.yaml", []byte("http: {}\n"), fixed())
	if err != nil || plain.HTTP.WithoutLogin != auth.Viewer || plain.HTTP.TLS != nil {
		t.Errorf("nothing said: %+v, %v", plain.HTTP, err)
	}
}

// A listener would show a certificate of which half was written, or the new one with
// the old key: at every moment of a renewal it is the whole old pair, or the whole new
// one, or neither is taken.
func TestEveryMomentOfARenewal(t *testing.T) {
	dir := t.TempDir()
	pair(t, dir, "a", 60*24*time.Hour)
	pair(t, dir, "b", 60*24*time.Hour)
	pair(t, dir, "c", 60*24*time.Hour)
	intermediate := get(t, filepath.Join(dir, "c.crt"))
	of := func(name string) ([]byte, []byte) {
		return append(get(t, filepath.Join(dir, name+".crt")), intermediate...), get(t, filepath.Join(dir, name+".key"))
	}
	oldCert, oldKey := of("a")
	newCert, newKey := of("b")
	t.Chdir(dir)
	look := func(cert, key []byte) (links int) {
		put(t, "now.crt", cert, 0o644)
		put(t, "now.key", key, 0o600)
		opts := fixed()
		opts.Now = func() time.Time { return day }
		cfg, err := config.Parse("c.yaml", []byte("http: {tls: {cert_file: now.crt, key_file: now.key}}\n"), opts)
		if err != nil {
			return 0
		}
		return len(cfg.HTTP.TLS.Certificates[0].Certificate)
	}
	if look(oldCert, oldKey) != 2 || look(newCert, newKey) != 2 {
		t.Fatal("a whole pair is not taken")
	}
	if look(newCert, oldKey) != 0 || look(oldCert, newKey) != 0 {
		t.Error("a pair that does not match is taken")
	}
	// What is written over grows from nothing. Where one certificate ends and the next
	// has not begun, it looks like a chain of one.
	leaf := len(newCert) - len(intermediate)
	for n := 0; n < len(newCert)-1; n += 3 { // the last is the end of the line
		whole := n >= leaf-1 && n < leaf+len("-----BEGIN")
		if got := look(newCert[:n], newKey); got != 0 && !whole {
			t.Fatalf("%d of %d octets of the certificate are taken, with %d links", n, len(newCert), got)
		}
	}
	for n := 0; n < len(newKey)-1; n += 3 {
		if look(newCert, newKey[:n]) != 0 {
			t.Fatalf("%d of %d octets of the key are taken", n, len(newKey))
		}
	}
}
