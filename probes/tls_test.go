package probes

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// A node with a bad certificate would count as good, a good one as bad, or
// nobody would know of an expiry before the clients do.
func TestTLS(t *testing.T) {
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
		"silent":  strconv.Itoa(listen(t, func(net.Conn) {})),
		"closes":  strconv.Itoa(listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)); _ = c.Close() })),
		"closed":  strconv.Itoa(dnsServer(t, nil, nil)),
	}
	const host = "app.example.lan"
	tests := []struct {
		name, server string
		probe        TLS
		want         want
		text         string
		expires      bool
	}{
		{"by name", "good", TLS{Host: host, Roots: roots}, want{sites.Up, ""}, "TLS handshake done", true},
		{"another name", "good", TLS{Host: "www.example.lan", Roots: roots}, want{sites.Down, CauseTLSName}, "the certificate is not for www.example.lan", true},
		{"by address, verified", "good", TLS{Roots: roots, Verify: VerifyName}, want{sites.Down, CauseTLSName}, "the certificate is not for 127.0.0.1", true},
		{"by address", "foreign", TLS{}, want{sites.Up, ""}, "TLS handshake done", true},
		{"unknown authority", "foreign", TLS{Host: host, Roots: roots}, want{sites.Down, CauseTLSUntrusted}, "the certificate is from an unknown authority", true},
		{"not verified", "foreign", TLS{Host: host, Verify: VerifyOff}, want{sites.Up, ""}, "TLS handshake done", true},
		{"fingerprint", "good", TLS{Verify: VerifyFingerprint, Fingerprint: "SHA256:" + strings.ToUpper(pin)}, want{sites.Up, ""}, "TLS handshake done", true},
		{"another fingerprint", "foreign", TLS{Verify: VerifyFingerprint, Fingerprint: pin}, want{sites.Down, CauseTLSFingerprint}, "the certificate is not the pinned one", true},
		{"expired", "expired", TLS{Host: host, Roots: roots}, want{sites.Down, CauseTLSExpired}, "the certificate expired 3 days ago", true},
		{"expired, not verified", "expired", TLS{}, want{sites.Up, ""}, "TLS handshake done; the certificate expired 3 days ago", true},
		{"expired, not verified, time asked for", "expired", TLS{ExpiresWithin: day}, want{sites.Down, CauseTLSExpiring}, "the certificate expired 3 days ago", true},
		{"not yet valid", "early", TLS{Host: host, Roots: roots}, want{sites.Down, CauseTLSNotYet}, "the certificate is valid only from ", true},
		{"expires soon", "near", TLS{Host: host, Roots: roots}, want{sites.Up, ""}, "TLS handshake done; the certificate expires in 5 days", true},
		{"too soon", "near", TLS{Host: host, Roots: roots, ExpiresWithin: 6 * day}, want{sites.Down, CauseTLSExpiring}, "the certificate expires in 5 days, less than the 6 days that are asked for", true},
		{"soon enough", "near", TLS{Host: host, Roots: roots, ExpiresWithin: 5 * day}, want{sites.Up, ""}, "TLS handshake done; ", true},
		{"wants a certificate of ours", "client", TLS{}, want{sites.Down, CauseTLS}, "the TLS handshake failed: ", true},
		{"no TLS", "plain", TLS{}, want{sites.Down, CauseTLS}, "no TLS is spoken on this port", false},
		{"silent", "silent", TLS{}, want{sites.Down, CauseTimeout}, "no answer within ", false},
		{"closes", "closes", TLS{}, want{sites.Down, CauseEOF}, "the connection was closed without an answer", false},
		{"closed", "closed", TLS{}, want{sites.Down, CauseRefused}, "connection refused", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			port, err := strconv.Atoi(ports[tt.server])
			if err != nil {
				t.Fatal(err)
			}
			tt.probe.Port = port
			timeout := soon
			if tt.want.Cause == CauseTimeout {
				timeout = never
			}
			c := ask(t, tt.probe, "127.0.0.1", timeout)
			if verdict(c) != tt.want || !strings.HasPrefix(c.Text, tt.text) {
				t.Errorf("got %+v (%s), want %+v (%s)", verdict(c), c.Text, tt.want, tt.text)
			}
			if c.Expires.IsZero() == tt.expires {
				t.Errorf("the certificate's end is %v", c.Expires)
			}
		})
	}
}
