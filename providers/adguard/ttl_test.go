package adguard

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
	"github.com/dnsteer/dnsteer/providers"
)

// A server that will not have its TTL set, or does not say it, would leave clients at a
// node that is gone.
func TestTTLThatCannotBeSet(t *testing.T) {
	for _, path := range []string{"/control/dns_info", "/control/dns_config"} {
		s := start(t, adguardsim.Options{})
		to, err := url.Parse(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		proxy := httputil.NewSingleHostReverseProxy(to)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				http.Error(w, "no", http.StatusBadRequest)
				return
			}
			proxy.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		p := dial(t, Config{URL: front.URL, TTL: 5 * time.Second, ManageTTL: true})
		if err := p.Apply(t.Context(), providers.Change{Key: one.Key(), Add: []providers.Record{one}}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if d := cmp.Diff([]adguardsim.Rewrite{on("app.lan", "192.0.2.10")}, s.Rewrites()); d != "" {
			t.Errorf("%s: rewrites (-want +got):\n%s", path, d)
		}
		if err := p.Settle(t.Context()); class(err) != "permanent 0s" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A server that does not answer for its TTL just now (a proxy before it does not know the
// path, its board is busy) would leave clients at a node that is gone.
func TestTTLThatIsNotAnsweredFor(t *testing.T) {
	for _, path := range []string{"/control/dns_info", "/control/dns_config"} {
		for _, cut := range []bool{false, true} {
			s := start(t, adguardsim.Options{})
			to, err := url.Parse(s.URL())
			if err != nil {
				t.Fatal(err)
			}
			proxy := httputil.NewSingleHostReverseProxy(to)
			var asked atomic.Int64
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != path {
					proxy.ServeHTTP(w, r)
					return
				}
				asked.Add(1)
				if cut {
					panic(http.ErrAbortHandler)
				}
				http.Error(w, "busy", http.StatusServiceUnavailable)
			}))
			t.Cleanup(front.Close)
			p := dial(t, Config{URL: front.URL, TTL: 5 * time.Second, ManageTTL: true})
			for _, r := range []providers.Record{one, {Name: "www.lan", Addr: one.Addr}} {
				if err := p.Apply(t.Context(), providers.Change{Key: r.Key(), Add: []providers.Record{r}}); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			before := asked.Load()
			if err := p.Settle(t.Context()); err == nil || class(err) != "transient 0s" {
				t.Errorf("%s: %v", path, err)
			}
			if before != 1 || asked.Load() == before { // what is read is asked for again on another connection
				t.Errorf("%s: asked %d times before two changes, and %d times to settle", path, before, asked.Load()-before)
			}
		}
	}
}
