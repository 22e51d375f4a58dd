package web

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

// none is a controller to which nothing has happened that is asked for, and whose names
// have no address.
type none struct{ *fake }

func (none) Events(context.Context, api.EventQuery) ([]sites.Event, error) { return nil, nil }

func (none) Explain(context.Context, string) (api.Explanation, error) {
	return api.Explanation{Answers: []api.ServiceAnswerView{{Site: "berlin", TTL: 5, Serves: "empty"}}}, nil
}

// If this fails, a filter that nothing fits says that nothing has ever happened, and that
// a client gets no address is a hole in a sentence.
func TestWhatIsEmptyIsSaid(t *testing.T) {
	f := hostile(1)
	f.status.Services = []api.ServiceView{{Hosts: []string{"app.example.lan"}, Pool: sites.DefaultPool, Sites: []api.ServiceAnswerView{{Site: "berlin", Serves: "empty"}}}}
	h := pagesOf(t, f)
	h.Reader = none{f}
	for _, tt := range []struct{ path, want, not string }{
		{"/events", "Nothing has happened yet.", "No event fits."},
		{"/events?kind=site_down", "No event fits.", "Nothing has happened"},
		{"/events?site=berlin&node=a", "No event fits.", "Nothing has happened"},
		{"/events?before=7", "No event fits.", "Nothing has happened"},
		{"/services?client=berlin&name=app.example.lan", `gets <span class="mono">no address</span>`, `<span class="mono"></span>`},
		{"/services", `data-label="Answer">no address</td>`, `data-label="Answer"></td>`},
	} {
		text := ask(h, auth.Viewer, http.MethodGet, tt.path, "").Body.String()
		if !strings.Contains(text, tt.want) || strings.Contains(text, tt.not) {
			t.Errorf("%s lacks %q, or has %q:\n%s", tt.path, tt.want, tt.not, text[strings.Index(text, "<main"):])
		}
	}
	if w := ask(h, auth.Viewer, http.MethodGet, "/events?before=7x", ""); w.Code != http.StatusNotFound {
		t.Errorf("before no number: %d", w.Code)
	}
}
