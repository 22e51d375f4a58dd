package metrics

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// many is a controller with 1,000 nodes at 125 sites.
type many struct{ world }

func (many) Status(context.Context) (api.Status, error) {
	st := api.Status{}
	for i := range 125 {
		s := sites.SiteView{Name: fmt.Sprintf("site%d", i), Pools: []sites.PoolView{{Name: "default", Serves: "own"}}, Witnesses: []sites.WitnessView{{Name: "resolver", Outcome: "up"}}}
		for j := range 8 {
			check := sites.Checked{Probe: "http", Steer: true, Outcome: "up"}
			s.Nodes = append(s.Nodes, sites.NodeView{Name: fmt.Sprintf("node%d", j), Word: sites.WordUp, Answers: true, Lines: []sites.LineView{{Family: "ipv4", Checks: []sites.Checked{check}}}})
		}
		st.Sites = append(st.Sites, s)
	}
	return st, nil
}

// What one scrape of 1,000 nodes costs, without the making of the status.
func BenchmarkScrape(b *testing.B) {
	s, err := New(many{}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	h := s.Handler()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if n, _ := io.Copy(io.Discard, w.Body); n < 100_000 {
			b.Fatalf("%d bytes", n)
		}
	}
}
