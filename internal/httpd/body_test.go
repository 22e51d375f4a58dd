package httpd

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
)

// Whoever reaches the login could have it keep ten megabytes for each of many
// connections, on a machine that answers DNS.
func TestPagesTakeNoLargeBodies(t *testing.T) {
	g := &guard{gate: auth.NewGate(auth.Options{Now: time.Now}), log: slog.New(slog.DiscardHandler)}
	g.state.Store(newState(&config.HTTP{}))
	page := g.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	for size, want := range map[int]int{1 << 10: http.StatusOK, 2 << 20: http.StatusBadRequest} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/login", strings.NewReader("user="+strings.Repeat("a", size)))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%d bytes: %d, want %d", size, w.Code, want)
		}
	}
}
