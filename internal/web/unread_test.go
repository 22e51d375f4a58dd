package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

// forgetful is a controller whose disk gives no events any more.
type forgetful struct {
	*fake
	why error
}

func (f forgetful) Events(context.Context, api.EventQuery) ([]sites.Event, error) { return nil, f.why }

// If this fails, a disk that fails takes the states of sites and nodes from who looks,
// which no disk is needed for, and with them what to do about it.
func TestStatesAreShownWithoutTheirPast(t *testing.T) {
	f := hostile(1)
	h := pagesOf(t, f)
	h.Reader = forgetful{f, errors.New("the disk is gone")}
	for _, path := range []string{"/", "/sites/berlin", "/sites/berlin/a"} {
		w := ask(h, auth.Viewer, http.MethodGet, path, "")
		if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, `id="node-berlin-a"`) || !strings.Contains(body, "cannot be read now") || strings.Contains(body, "othing has happened") {
			t.Errorf("%s: %d %s", path, w.Code, body[strings.Index(body, "<main"):])
		}
	}
	if w := ask(h, auth.Viewer, http.MethodGet, "/events", ""); w.Code != http.StatusInternalServerError {
		t.Errorf("the page of events alone: %d", w.Code)
	}
	h.Reader = forgetful{f, context.Canceled}
	if w := ask(h, auth.Viewer, http.MethodGet, "/", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("given up: %d", w.Code)
	}
}
