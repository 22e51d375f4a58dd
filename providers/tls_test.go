package providers

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A password would be sent to whoever stands between the controller and a
// target, or a target with the right certificate would be refused.
func TestTLSModes(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	raw := srv.Certificate().Raw
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	after := srv.Certificate().NotAfter.Add(time.Hour)
	for _, tc := range []struct {
		name string
		tls  TLS
		want string // a part of the error, "" for none
		late bool   // the certificate has ended
	}{
		{"verified by the system", TLS{}, "unknown authority", false},
		{"verified by a file", TLS{CA: ca}, "", false},
		{"it has ended", TLS{CA: ca}, "expired", true},
		{"the name is another", TLS{CA: ca, ServerName: "router.lan"}, "router.lan", false},
		{"pinned", TLS{Mode: Pinned, Fingerprint: sha256.Sum256(raw)}, "", false},
		{"pinned, and it has ended", TLS{Mode: Pinned, Fingerprint: sha256.Sum256(raw)}, "", true},
		{"pinned to another", TLS{Mode: Pinned, Fingerprint: [32]byte{1}}, fmt.Sprintf("the certificate has the fingerprint sha256:%x, pinned is sha256:01%062x:", sha256.Sum256(raw), 0), false},
		{"insecure", TLS{Mode: Insecure}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := tc.tls.Config()
			if err != nil {
				t.Fatal(err)
			}
			if c.ServerName == "" {
				c.ServerName = "127.0.0.1"
			}
			if tc.late {
				c.Time = func() time.Time { return after }
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
