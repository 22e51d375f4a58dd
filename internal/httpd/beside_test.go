package httpd

import (
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, of two controllers that a proxy serves below one name only one can be
// used at a time: the login at one ends that at the other, and tells it the session.
func TestControllersBesideEachOther(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	north := open(t, func(c *config.HTTP) { c.BasePath = "/dnsteer/north" })
	south := open(t, func(c *config.HTTP) { c.BasePath = "/dnsteer/south" })
	ask := func(s *site, method, path, body string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addr()+s.cfg.BasePath+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		client := s.client()
		client.Jar = jar // cookies know no ports: the two are one host to it
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, s := range []*site{north, south} {
		if status := ask(s, http.MethodPost, "/api/v1/login", `{"user": "alice", "password": "`+password+`"}`); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	for _, s := range []*site{north, south} {
		if status := ask(s, http.MethodGet, "/api/v1/status", ""); status != http.StatusOK {
			t.Errorf("%s after both logins: %d", s.cfg.BasePath, status)
		}
	}
	if status := ask(south, http.MethodPost, "/api/v1/logout", ""); status != http.StatusOK {
		t.Fatal(status)
	}
	if status := ask(north, http.MethodGet, "/api/v1/status", ""); status != http.StatusOK {
		t.Errorf("one is logged out with the other: %d", status)
	}
}
