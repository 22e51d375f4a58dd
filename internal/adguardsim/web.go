package adguardsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	plain     = "text/plain; charset=utf-8"
	jsonType  = "application/json"
	bodyLimit = 64 << 10
)

func refuse(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", plain)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, format+"\n", args...) // whoever has gone needs no answer
}

// route is what answers a path.
type route struct {
	method string
	do     func(s *Server, w http.ResponseWriter, r *http.Request)
	since  func(Profile) bool // nil: always
	writes bool               // it changes rewrites
}

func switches(p Profile) bool { return p.switches }

var routes = map[string]route{
	"/control/status":                  {method: "GET", do: (*Server).status},
	"/control/logout":                  {method: "GET", do: (*Server).logout},
	"/control/dns_info":                {method: "GET", do: (*Server).dnsInfo},
	"/control/dns_config":              {method: "POST", do: (*Server).dnsConfig},
	"/control/protection":              {method: "POST", do: (*Server).protect},
	"/control/filtering/status":        {method: "GET", do: (*Server).filterStatus},
	"/control/filtering/config":        {method: "POST", do: (*Server).filterConfig},
	"/control/rewrite/list":            {method: "GET", do: (*Server).list},
	"/control/rewrite/add":             {method: "POST", do: (*Server).add, writes: true},
	"/control/rewrite/delete":          {method: "POST", do: (*Server).remove, writes: true},
	"/control/rewrite/update":          {method: "PUT", do: (*Server).update, writes: true},
	"/control/rewrite/settings":        {method: "GET", do: (*Server).settings, since: switches},
	"/control/rewrite/settings/update": {method: "PUT", do: (*Server).settingsUpdate, since: switches},
}

// serve answers one request: redirects come before the credentials, these
// before what is wrong with the request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, path string) {
	if s.redirect(w, r) {
		return
	}
	if path == "/control/login" {
		s.serveLogin(w, r)
		return
	}
	if !s.may(r) {
		s.turnAway(w)
		return
	}
	w.Header().Set("Vary", "Accept-Encoding")
	to, known := routes[path]
	if !known || to.since != nil && !to.since(s.opt.Profile) {
		refuse(w, http.StatusNotFound, "404 page not found")
		return
	}
	if r.Method != to.method {
		refuse(w, http.StatusMethodNotAllowed, "only method %s is allowed", to.method)
		return
	}
	if to.method != http.MethodGet && !typed(w, r) {
		return
	}
	s.trapped(w, r, path, to)
}

func (s *Server) serveLogin(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && (s.opt.Profile.newAuth || typed(w, r)):
		s.login(w, r)
	case r.Method == http.MethodPost:
	case s.opt.Profile.newAuth:
		refuse(w, http.StatusNotFound, "404 page not found")
	default:
		refuse(w, http.StatusMethodNotAllowed, "only method POST is allowed")
	}
}

// typed refuses a body of another type, and a type without a body.
func typed(w http.ResponseWriter, r *http.Request) bool {
	of := r.Header.Get("Content-Type")
	switch {
	case r.ContentLength == 0 && of == "":
	case r.ContentLength == 0:
		refuse(w, http.StatusUnsupportedMediaType, "empty body with content-type %q not allowed", of)
		return false
	case of != jsonType:
		refuse(w, http.StatusUnsupportedMediaType, "only content-type %s is allowed", jsonType)
		return false
	}
	return true
}

// read decodes a request's body, or answers what is wrong with it.
func read(w http.ResponseWriter, r *http.Request, what string, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, bodyLimit)).Decode(into)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		err = fmt.Errorf("cannot read more than %d bytes", bodyLimit)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, what+": %s", err)
	}
	return err == nil
}

// write answers with JSON.
func write(w http.ResponseWriter, value any) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(value); err != nil {
		refuse(w, http.StatusInternalServerError, "%s", err)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	_, _ = w.Write(b.Bytes()) // whoever has gone needs no answer
}

// change changes what is kept, and answers with an empty 200 once that is saved.
func (s *Server) change(w http.ResponseWriter, do func(*kept) error) {
	s.mu.Lock()
	err := do(&s.kept)
	if err == nil {
		err = s.save()
	}
	s.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusBadRequest, "%s", err)
	}
}

func (s *Server) look() kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	k := s.look()
	write(w, map[string]any{
		"version": s.opt.Profile.Version, "language": "", "dns_addresses": []string{s.at.Addr().String()}, "dns_port": s.at.Port(),
		"http_port": s.httpPort(), "protection_disabled_duration": 0, "protection_enabled": k.Protection, "dhcp_available": true, "running": true,
	})
}

func (s *Server) httpPort() string {
	return s.http.Addr().String()[strings.LastIndexByte(s.http.Addr().String(), ':')+1:]
}

func (s *Server) dnsInfo(w http.ResponseWriter, _ *http.Request) {
	k := s.look()
	write(w, map[string]any{"blocked_response_ttl": k.TTL, "protection_enabled": k.Protection, "upstream_dns": []string{}})
}

func (s *Server) dnsConfig(w http.ResponseWriter, r *http.Request) {
	var in struct {
		TTL *uint32 `json:"blocked_response_ttl"`
	}
	if !read(w, r, "decoding request", &in) {
		return
	}
	s.change(w, func(k *kept) error {
		if in.TTL != nil {
			k.TTL = *in.TTL
		}
		return nil
	})
}

// enabled is the body of a switch; what it leaves out is off.
type enabled struct {
	Enabled bool `json:"enabled"`
}

func (s *Server) protect(w http.ResponseWriter, r *http.Request) {
	var in enabled
	if !read(w, r, "json decode", &in) {
		return
	}
	s.change(w, func(k *kept) error { k.Protection = in.Enabled; return nil })
	w.Header().Set("Content-Type", plain)
	_, _ = io.WriteString(w, "OK\n") // whoever has gone needs no answer
}

func (s *Server) filterStatus(w http.ResponseWriter, _ *http.Request) {
	write(w, map[string]any{"filters": nil, "whitelist_filters": nil, "user_rules": nil, "interval": 24, "enabled": s.look().Filtering})
}

func (s *Server) filterConfig(w http.ResponseWriter, r *http.Request) {
	var in enabled
	if read(w, r, "Failed to parse request body json", &in) {
		s.change(w, func(k *kept) error { k.Filtering = in.Enabled; return nil })
	}
}

func (s *Server) settings(w http.ResponseWriter, _ *http.Request) {
	write(w, enabled{s.look().Rewriting})
}

func (s *Server) settingsUpdate(w http.ResponseWriter, r *http.Request) {
	var in enabled
	if read(w, r, "json.Decode", &in) {
		s.change(w, func(k *kept) error { k.Rewriting = in.Enabled; return nil })
	}
}
