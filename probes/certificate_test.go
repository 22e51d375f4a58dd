package probes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// authority signs certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-1000 * time.Hour), NotAfter: time.Now().Add(10000 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key}
}

// sign makes a certificate for a name that is valid between two times from now.
func (a authority) sign(t *testing.T, name string, from, to time.Duration) tls.Certificate {
	t.Helper()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}
}

// serveTLS serves "ok" with a certificate and gives the port.
func serveTLS(t *testing.T, cert tls.Certificate, change func(*tls.Config)) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "for ", r.TLS.ServerName)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	if change != nil {
		change(s.TLS)
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// A node with a bad certificate would count as good where it was to be
// verified, or a good one as bad; or nobody would hear of an expiry before the
// browsers do.
func TestHTTPCertificates(t *testing.T) {
	const day = 24 * time.Hour
	ca := newAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	good := ca.sign(t, "app.example.lan", -day, 100*day)
	sum := sha256.Sum256(good.Certificate[0])
	pin := hex.EncodeToString(sum[:])
	ports := map[string]string{
		"good":    serveTLS(t, good, nil),
		"near":    serveTLS(t, ca.sign(t, "app.example.lan", -day, 5*day+time.Hour), nil),
		"expired": serveTLS(t, ca.sign(t, "app.example.lan", -9*day, -3*day-time.Hour), nil),
		"early":   serveTLS(t, ca.sign(t, "app.example.lan", day, 9*day), nil),
		"foreign": serveTLS(t, newAuthority(t).sign(t, "app.example.lan", -day, 100*day), nil),
		"client":  serveTLS(t, good, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert; c.MaxVersion = tls.VersionTLS12 }),
		"plain":   serveHTTP(t, http.NotFoundHandler()),
		"silent":  fmt.Sprint(listen(t, func(net.Conn) {})),
		"closes":  fmt.Sprint(listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)); _ = c.Close() })),
	}
	named, byAddress := "https://app.example.lan:", "https://{address}:"
	tests := []struct {
		name, base, server string
		probe              HTTP
		want               want
		text               string
	}{
		{"by name", named, "good", HTTP{Roots: roots, Body: "for app.example.lan"}, want{sites.Up, ""}, "status 200"},
		{"by the name of the host", byAddress, "good", HTTP{Roots: roots, Host: "app.example.lan", Body: "for app.example.lan"}, want{sites.Up, ""}, "status 200"},
		{"unknown authority", named, "good", HTTP{}, want{sites.Down, CauseTLSUntrusted}, "the certificate is from an unknown authority"},
		{"another authority", named, "foreign", HTTP{Roots: roots}, want{sites.Down, CauseTLSUntrusted}, "the certificate is from an unknown authority"},
		{"another name", "https://www.example.lan:", "good", HTTP{Roots: roots}, want{sites.Down, CauseTLSName}, "the certificate is not for www.example.lan"},
		{"by address, verified", byAddress, "good", HTTP{Roots: roots, Verify: VerifyName}, want{sites.Down, CauseTLSName}, "the certificate is not for 127.0.0.1"},
		{"expired", named, "expired", HTTP{Roots: roots}, want{sites.Down, CauseTLSExpired}, "the certificate expired 3 days ago"},
		{"not yet valid", named, "early", HTTP{Roots: roots}, want{sites.Down, CauseTLSNotYet}, "the certificate is valid only from "},
		{"expires soon", named, "near", HTTP{Roots: roots}, want{sites.Up, ""}, "status 200; the certificate expires in 5 days"},
		{"by address", byAddress, "foreign", HTTP{}, want{sites.Up, ""}, "status 200"},
		{"by address, expired", byAddress, "expired", HTTP{}, want{sites.Up, ""}, "status 200; the certificate expired 3 days ago"},
		{"not verified", named, "foreign", HTTP{Verify: VerifyOff}, want{sites.Up, ""}, "status 200"},
		{"fingerprint", named, "good", HTTP{Verify: VerifyFingerprint, Fingerprint: "sha256:" + pin}, want{sites.Up, ""}, "status 200"},
		{"fingerprint as others write it", byAddress, "good", HTTP{Verify: VerifyFingerprint, Fingerprint: strings.ToUpper(pin[:2] + ":" + pin[2:])}, want{sites.Up, ""}, "status 200"},
		{"another fingerprint", named, "foreign", HTTP{Verify: VerifyFingerprint, Fingerprint: pin}, want{sites.Down, CauseTLSFingerprint}, "the certificate is not the pinned one (it has sha256:"},
		{"wants a certificate of ours", byAddress, "client", HTTP{}, want{sites.Down, CauseTLS}, "the TLS handshake failed: "},
		{"no TLS", byAddress, "plain", HTTP{}, want{sites.Down, CauseTLS}, "no TLS is spoken on this port"},
		{"silent", byAddress, "silent", HTTP{}, want{sites.Down, CauseTimeout}, "no answer within "},
		{"closes", byAddress, "closes", HTTP{}, want{sites.Down, CauseEOF}, "the connection was closed without an answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.probe.URL = tt.base + ports[tt.server] + "/"
			timeout := soon
			if tt.want.Cause == CauseTimeout {
				timeout = never
			}
			c := ask(t, tt.probe, "127.0.0.1", timeout)
			if verdict(c) != tt.want || !strings.HasPrefix(c.Text, tt.text) {
				t.Errorf("got %+v (%s), want %+v (%s)", verdict(c), c.Text, tt.want, tt.text)
			}
			if tt.text == "status 200" && c.Text != tt.text {
				t.Errorf("a note on a good certificate: %s", c.Text)
			}
		})
	}
}
