package providers

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/routersim"
)

// What is shown for pinning would not be what is compared later, or a server
// that has nothing to show would stop the command.
func TestFetchFingerprint(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	got, err := FetchFingerprint(ctx, srv.Listener.Addr().String())
	if err != nil || got != sha256.Sum256(srv.Certificate().Raw) {
		t.Errorf("%x, %v", got, err)
	}
	bare, err := routersim.New(routersim.Options{NoCertificate: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for addr, want := range map[string]string{
		bare.TLSAddr():                 "api-ssl certificate=NAME",
		"router":                       "not HOST:PORT",
		plain.Listener.Addr().String(): "does not look like a TLS handshake",
	} {
		if _, err := FetchFingerprint(ctx, addr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
	}
}
