package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	bignum "math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
)

// pair writes a certificate for loopback with a serial number, and its key.
func (w *world) pair(serial int64, certificate, key bool) {
	w.t.Helper()
	w.pairUntil(serial, time.Now().Add(90*24*time.Hour), certificate, key)
}

// pairUntil writes one whose certificate ends then.
func (w *world) pairUntil(serial int64, ends time.Time, certificate, key bool) {
	w.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: bignum.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: ends}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		w.t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		w.t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if name == "tls.crt" && !certificate || name == "tls.key" && !key {
			continue
		}
		if err := os.WriteFile(filepath.Join(w.dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// webClient takes any certificate and says which it was shown.
func webClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
	}}
}

// answered is what came back.
type answered struct {
	StatusCode int
	cookies    []*http.Cookie
}

// ask asks by the network and gives the answer, with its body and the serial
// number of the certificate.
func (r *running) ask(method, path, body string, headers ...string) (got *answered, text string, serial int64) {
	r.t.Helper()
	scheme := "http://"
	if r.cfg.Load().HTTP.TLS != nil {
		scheme = "https://"
	}
	req, err := http.NewRequestWithContext(r.t.(*testing.T).Context(), method, scheme+r.web.Addrs()[0].String()+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := webClient().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if res.TLS != nil {
		serial = res.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	return &answered{res.StatusCode, res.Cookies()}, string(data), serial
}

// canary is a secret that must be seen nowhere.
const canary = "dnst_canary-canary-canary-canary"

// logged takes what is logged.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// If this fails, people cannot reach the controller over the network, have to log
// in again after a restart, go on with an old certificate, or lose the listener by
// a bad one. No secret may be seen in an answer, an event, a metric or the log.
func TestWeb(t *testing.T) {
	w := newWorld(t, "berlin")
	log := &logged{}
	w.opt.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.pair(1, true, true)
	hash, err := auth.HashPassword([]byte("canary-password"))
	if err != nil {
		t.Fatal(err)
	}
	config := w.config() + "http:\n  listen: ['127.0.0.1:0']\n  tls: {cert_file: tls.crt, key_file: tls.key}\n" +
		"  users: [{name: alice, role: operator, password_hash: '" + hash.Reveal() + "'}]\n" +
		"  tokens: [{name: deploy, role: admin, hash: '" + auth.HashSecret(canary).Reveal() + "'}]\n" +
		"  metrics: {token: canary-of-the-metrics}\n"
	w.write(strings.Replace(config, "  zones:", "  tsig_keys: [{name: xfr, secret: Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5}]\n  zones:", 1))
	r := w.start()
	r.settled()
	token := "Authorization: Bearer " + canary
	_, text, serial := r.ask("POST", "/api/v1/login", `{"user": "alice", "password": "canary-password"}`)
	if serial != 1 || !strings.Contains(text, "operator") {
		t.Fatal(serial, text)
	}
	res, _, _ := r.ask("POST", "/api/v1/login", `{"user": "alice", "password": "canary-password"}`)
	cookie := "Cookie: __Host-dnsteer=" + res.cookies[0].Value
	if _, text, _ := r.ask("POST", "/api/v1/commands", `{"verb": "pause", "site": "berlin", "reason": "x"}`, cookie, "Idempotency-Key: k"); !strings.Contains(text, "text") {
		t.Error(text)
	}
	if e := r.await("paused berlin"); e.By != "alice" {
		t.Errorf("the command is said to be of %q", e.By)
	}

	w.pair(2, true, false) // its key comes later, or never
	r.await("config_rejected")
	if _, _, serial := r.ask("GET", "/-/healthy", ""); serial != 1 {
		t.Errorf("certificate %d", serial)
	}
	w.pair(3, true, true)
	r.await("config_reloaded")
	r.until("the new certificate is shown", func() bool { _, _, serial := r.ask("GET", "/-/healthy", ""); return serial == 3 })

	seen := ""
	for _, path := range []string{"/api/v1/status", "/api/v1/events?limit=1000", "/metrics", "/api/v1/openapi.json", "/api/v1/session", "/api/v1/explain?what=berlin"} {
		_, text, _ := r.ask("GET", path, "", token)
		seen += text
	}
	_, _, _ = r.ask("GET", "/api/v1/status?token="+canary, "")
	_, _, _ = r.ask("POST", "/api/v1/login", `{"user": "alice", "password": "canary-wrong"}`)
	if !strings.Contains(seen, "dnsteer_build_info") {
		t.Error("there are no metrics")
	}
	if err := r.stopped(); err != nil {
		t.Fatal(err)
	}
	seen += log.String()
	for _, secret := range []string{
		"canary", "Y2FuYXJ5", hash.Reveal(), strings.TrimPrefix(auth.HashSecret(canary).Reveal(), "sha256:"), res.cookies[0].Value,
	} {
		if i := strings.Index(seen, secret); i >= 0 {
			t.Errorf("a secret is seen: %s", seen[max(0, i-100):min(len(seen), i+100)])
		}
	}

	r = w.start()
	if _, text, _ := r.ask("GET", "/api/v1/session", "", cookie); !strings.Contains(text, "alice") {
		t.Errorf("after a restart: %s", text)
	}
	r.settled()
	if _, text, _ := r.ask("POST", "/api/v1/commands", `{"verb": "pause", "site": "berlin", "reason": "x"}`, cookie, "Idempotency-Key: k"); !strings.Contains(text, "text") {
		t.Error(text)
	}
	if n := count(r.seen, "paused"); n > 1 {
		t.Errorf("the command was carried out %d times", n)
	}
	w.write(strings.Replace(config, "alice", "bob", 1))
	r.await("config_reloaded")
	r.until("alice, who has left, is out", func() bool {
		res, _, _ := r.ask("GET", "/api/v1/status", "", cookie)
		return res.StatusCode == http.StatusUnauthorized
	})
}

// If this fails, a web server that took our port keeps names from being answered,
// or nobody learns of it.
func TestWebPortIsTaken(t *testing.T) {
	w := newWorld(t, "berlin")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w.write(w.config() + "http: {listen: '" + taken.Addr().String() + "'}\n")
	r := w.start()
	r.settled()
	if got, want := r.asks(w.sites[0], "app.example.lan"), w.sites[0].all(11, 12); got != want {
		t.Errorf("DNS gives %q, want %q", got, want)
	}
	if missing := r.Missing(t.Context()); !slices.ContainsFunc(missing, func(m string) bool { return strings.Contains(m, "is taken by") }) {
		t.Errorf("missing: %q", missing)
	}
	if st, err := r.Status(t.Context()); err != nil || !slices.ContainsFunc(st.Problems, func(p string) bool { return strings.Contains(p, "is taken by") }) {
		t.Errorf("the status: %q, %v", st.Problems, err)
	}
	// What else is changed is taken; another address that cannot be had is not.
	port := "http: {listen: '" + taken.Addr().String() + "'}\n"
	w.write(w.config("ttl: 10s", "ttl: 11s") + port)
	r.until("a change of the configuration is in place", func() bool { return r.cfg.Load().Sites.Services[0].TTL == 11*time.Second })
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	w.write(w.config("ttl: 10s", "ttl: 12s") + strings.Replace(port, taken.Addr().String(), other.Addr().String(), 1))
	r.await("config_rejected")
	w.write(w.config("ttl: 10s", "ttl: 11s") + port)
	r.await("config_reloaded")
	taken.Close()
	r.until("it is served once the port is free", func() bool { return len(r.Missing(t.Context())) == 0 })
	if res, text, _ := r.ask("GET", "/api/v1/status", ""); res.StatusCode != http.StatusOK {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	if res, _, _ := r.ask("POST", "/api/v1/commands", `{"verb": "pause", "site": "berlin"}`); res.StatusCode != http.StatusForbidden {
		t.Errorf("who has not logged in gives commands: %d", res.StatusCode)
	}
}
