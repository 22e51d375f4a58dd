package api

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/dnsteer/dnsteer/internal/support"
)

// If this fails, a browser shows the bundle as text, or names it for its route.
func TestSupportBundle(t *testing.T) {
	h := (&fake{}).handler()
	w := httptest.NewRecorder()
	h.Socket().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/support", http.NoBody))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != support.Media || len(w.Body.Bytes()) == 0 {
		t.Errorf("%d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	if name := w.Header().Get("Content-Disposition"); !regexp.MustCompile(`^attachment; filename="dnsteer-support-\d{8}T\d{6}Z\.tar\.gz"$`).MatchString(name) {
		t.Errorf("it is named by %q", name)
	}
}
