package api_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
)

// Somebody would not see from the error that it is the URL's scheme, or the token,
// that is wrong.
func TestHintsOfTheClient(t *testing.T) {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		api.Fail(w, http.StatusUnauthorized, "a login is needed")
	})
	plain, secure := httptest.NewServer(refuse), httptest.NewUnstartedServer(refuse)
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	for _, tt := range []struct{ name, url, token, want string }{
		{"http to https", strings.Replace(secure.URL, "https:", "http:", 1), "", "the URL must begin with https://"},
		{"https to http", strings.Replace(plain.URL, "http:", "https:", 1), "", "the URL must begin with http://"},
		{"no token", plain.URL, "", "give one with --token-file or $DNSTEER_TOKEN"},
		{"a wrong token", plain.URL, "wrong", "it came from --token-file or $DNSTEER_TOKEN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := api.NewRemoteClient(api.Remote{URL: tt.url, Token: tt.token, TLS: &tls.Config{MinVersion: tls.VersionTLS12}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
