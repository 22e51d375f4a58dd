package httpd

import (
	"net/http"
	"strings"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
)

// routes gives each request to the part that answers it.
func (s *Server) routes() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/metrics" && s.opt.Metrics != nil:
			s.metrics(w, r)
		case s.opt.Pages == nil, strings.HasPrefix(path, "/api/"), strings.HasPrefix(path, "/-/"):
			s.opt.API.ServeHTTP(w, r)
		default:
			s.opt.Pages.ServeHTTP(w, r)
		}
	})
}

// metrics lets in who may read them: viewers, as whom without_login may take what asks
// from this machine itself, and who has their token.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	cfg := s.guard.state.Load().cfg
	secret, _ := bearerOf(r.Header.Get("Authorization"))
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		api.Fail(w, http.StatusMethodNotAllowed, "/metrics takes GET, not %s", r.Method)
	case api.CallerOf(r.Context()).Role >= auth.Viewer,
		cfg.Metrics != nil && secret != "" && cfg.Metrics.Is(secret):
		s.opt.Metrics.ServeHTTP(w, r)
	default:
		api.Fail(w, http.StatusUnauthorized, "the metrics take the token of http.metrics, or one of a viewer: Authorization: Bearer TOKEN")
	}
}
