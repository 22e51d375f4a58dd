package providers

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A password would be sent to whoever stands between the controller and a
// target, or a target with the right certificate would be refused.
func TestTLSModes(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	raw := srv.Certificate().Raw
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	for _, tc := range []struct {
		name string
		tls  TLS
		want string // a part of the error, "" for none
	}{
		{"verified by the system", TLS{}, "unknown authority"},
		{"verified by a file", TLS{CA: ca}, ""},
		{"the name is another", TLS{CA: ca, ServerName: "router.lan"}, "router.lan"},
		{"pinned", TLS{Mode: Pinned, Fingerprint: sha256.Sum256(raw)}, ""},
		{"pinned to another", TLS{Mode: Pinned}, "pinned is sha256:0000"},
		{"insecure", TLS{Mode: Insecure}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := tc.tls.Config()
			if err != nil {
				t.Fatal(err)
			}
			if c.ServerName == "" {
				c.ServerName = "127.0.0.1"
			}
			conn, err := tls.Dial("tcp", srv.Listener.Addr().String(), c)
			if err == nil {
				_ = conn.Close()
			}
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := (TLS{CA: []byte("x")}).Config(); err == nil {
		t.Error("a CA file without a certificate is taken")
	}
	if c, err := (TLS{Mode: Plain}).Config(); c != nil || err != nil {
		t.Error("plain is not plain")
	}
}

// A password would be read in a log.
func TestSecretIsNotPrinted(t *testing.T) {
	s := Secret("geheim")
	text, err := s.MarshalText()
	if err != nil || s.String() != hidden || string(text) != hidden || s.Reveal() != "geheim" {
		t.Error("the secret shows, or is lost")
	}
}
