package httpd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/bcrypt"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/history"
	"github.com/dnsteer/dnsteer/sites"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// controller answers as one that is well.
type controller struct {
	mu       sync.Mutex
	commands []sites.Command
	follow   chan sites.Event
	reload   func() // what a reload does; nil for nothing
}

func (*controller) Status(context.Context) (api.Status, error) { return api.Status{Version: "1"}, nil }

func (*controller) Explain(context.Context, string) (api.Explanation, error) {
	return api.Explanation{}, &api.NotFoundError{Text: "there is none"}
}

func (*controller) Events(context.Context, api.EventQuery) ([]sites.Event, error) { return nil, nil }

func (c *controller) Follow(context.Context, uint64) (<-chan sites.Event, error) {
	return c.follow, nil
}

func (c *controller) Command(_ context.Context, cmd sites.Command) (sites.Reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commands = append(c.commands, cmd)
	return sites.Reply{Text: "Done."}, nil
}

func (*controller) Probe(context.Context, string, string) (api.ProbeReport, error) {
	return api.ProbeReport{}, nil
}

func (c *controller) Reload(context.Context) (api.ReloadReport, error) {
	if c.reload != nil {
		c.reload()
	}
	return api.ReloadReport{}, nil
}
func (*controller) Healthy(context.Context) error    { return nil }
func (*controller) Missing(context.Context) []string { return nil }

func (*controller) History(context.Context, string, string, time.Time, time.Time) ([]history.Line, error) {
	return nil, nil
}

// Secrets that must be seen nowhere.
const (
	password    = "canary-password"
	tokenSecret = "dnst_canary-token-canary-token"
	metricsWord = "canary-metrics-canary"
)

// site is a server under test with its controller.
type site struct {
	*Server
	t    testing.TB
	ctl  *controller
	gate *auth.Gate
	log  *strings.Builder
	cfg  *config.HTTP
	pool *x509.CertPool
}

// directory knows alice, who is an admin, and the tokens of each role.
func directory(t testing.TB) auth.Directory {
	t.Helper()
	b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	h, err := auth.ParsePasswordHash(string(b))
	if err != nil {
		t.Fatal(err)
	}
	d := auth.Directory{Users: []auth.User{{Name: "alice", Role: auth.Admin, Password: h}}}
	for i, word := range auth.Roles() {
		d.Tokens = append(d.Tokens, auth.Token{Name: word, Role: auth.Role(i + 1), Hash: auth.HashSecret(tokenSecret + word)})
	}
	return d
}

// writer is for a log that several goroutines write.
type writer struct {
	mu sync.Mutex
	b  *strings.Builder
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// open serves a configuration on a free port of loopback until the test ends.
func open(t testing.TB, change func(*config.HTTP)) *site {
	t.Helper()
	s := &site{t: t, ctl: &controller{follow: make(chan sites.Event)}, log: &strings.Builder{}}
	log := slog.New(slog.NewTextHandler(&writer{b: s.log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.gate = auth.NewGate(auth.Options{Now: time.Now})
	handler := api.NewHandler(api.Deps{Reader: s.ctl, Operator: s.ctl, Historian: s.ctl, Health: s.ctl, Log: log, Gate: s.gate})
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") })
	s.Server = New(Options{API: handler, Gate: s.gate, Metrics: metrics, Log: log})
	s.cfg = &config.HTTP{Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, Directory: directory(t)}
	if change != nil {
		change(s.cfg)
	}
	s.use(s.cfg)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// use puts a configuration in place.
func (s *site) use(cfg *config.HTTP) {
	s.t.Helper()
	c, err := s.Prepare(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	c.Commit()
}

func (s *site) addr() string { return s.Addrs()[0].String() }

// client asks without keeping connections.
func (s *site) client() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: s.pool, MinVersion: tls.VersionTLS12}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is what came back.
type answer struct {
	StatusCode  int
	Header      http.Header
	TLS         *tls.ConnectionState
	Proto       string
	ProtoMajor  int
	CookiesSent []*http.Cookie
}

// Cookies gives those that it sets.
func (a *answer) Cookies() []*http.Cookie { return a.CookiesSent }

// ask sends a request with headers "Name: value"; a header Host is that.
func (s *site) ask(method, path, body string, headers ...string) (*answer, string) {
	s.t.Helper()
	scheme := "http://"
	if s.pool != nil {
		scheme = "https://"
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, scheme+s.addr()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	res, err := s.client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return &answer{res.StatusCode, res.Header, res.TLS, res.Proto, res.ProtoMajor, res.Cookies()}, string(text)
}

func bearing(role string) string { return "Authorization: Bearer " + tokenSecret + role }

// certificate makes one for loopback with a serial number.
func certificate(t testing.TB, serial int64) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"dnsteer.example.lan"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func encrypted(c tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}
