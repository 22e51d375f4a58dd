package adguardsim

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The lock-out as it is set up by default.
const (
	attempts = 5
	blocked  = 15 * time.Minute
)

// session is the name of the cookie.
const session = "agh_session"

// failures are the wrong tries of one address.
type failures struct {
	count int
	until time.Time // blocked until then, or forgotten then
}

func client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// left is how long an address is blocked still.
func (s *Server) left(ip string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fails[ip]
	wait := f.until.Sub(s.opt.Now())
	if wait <= 0 {
		delete(s.fails, ip)
		return 0
	}
	if f.count < attempts {
		return 0
	}
	return wait
}

func (s *Server) failed(ip string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails[ip] = failures{s.fails[ip].count + 1, s.opt.Now().Add(blocked)}
}

func (s *Server) forgive(ip string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fails, ip)
}

func (s *Server) right(name, password string) bool {
	s.opt.Hash()
	return s.opt.Username != "" && name == s.opt.Username && password == s.opt.Password
}

// may says whether a request may pass, by its cookie or by Basic.
func (s *Server) may(r *http.Request) bool {
	if s.opt.Username == "" {
		return true
	}
	if c, err := r.Cookie(session); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Contains(s.kept.Sessions, c.Value) // Basic does not help then
	}
	name, password, ok := r.BasicAuth()
	if !ok {
		return false
	}
	if !s.opt.Profile.newAuth {
		return s.right(name, password)
	}
	ip := client(r)
	if s.left(ip) > 0 {
		return false
	}
	if s.opt.Profile.countsFirst {
		s.failed(ip)
	}
	if s.right(name, password) {
		s.forgive(ip)
		return true
	}
	if !s.opt.Profile.countsFirst {
		s.failed(ip)
	}
	return false
}

// turnAway answers who may not pass.
func (s *Server) turnAway(w http.ResponseWriter) {
	if s.opt.Profile.newAuth {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", plain)
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte("Forbidden")) // whoever has gone needs no answer
}

// redirect sends requests elsewhere, as before the first set-up and where HTTPS
// is forced, and says whether it did.
func (s *Server) redirect(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case s.opt.FirstRun:
		http.Redirect(w, r, path.Join(path.Dir(r.URL.Path), "install.html"), http.StatusFound)
	case s.opt.ForceHTTPS != "":
		http.Redirect(w, r, s.opt.ForceHTTPS+r.URL.Path, http.StatusTemporaryRedirect)
	default:
		return false
	}
	return true
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.logins++
	s.mu.Unlock()
	var in struct{ Name, Password string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "json decode: %s", err)
		return
	}
	ip := client(r)
	if wait := s.left(ip); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
		refuse(w, http.StatusTooManyRequests, "auth: blocked for %s", wait)
		return
	}
	if !s.right(in.Name, in.Password) {
		s.failed(ip)
		refuse(w, http.StatusForbidden, "invalid username or password")
		return
	}
	s.forgive(ip)
	id := strings.ToLower(rand.Text())
	s.mu.Lock()
	s.kept.Sessions = append(s.kept.Sessions, id)
	err := s.save()
	s.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "%s", err)
		return
	}
	w.Header().Set("Set-Cookie", fmt.Sprintf("%s=%s; Path=/; Expires=%s; HttpOnly; SameSite=Lax", session, id, s.opt.Now().UTC().AddDate(1, 0, 0).Format(http.TimeFormat)))
	h := w.Header()
	h.Set("Cache-Control", "no-store, no-cache, must-revalidate, proxy-revalidate")
	h.Set("Expires", "0")
	h.Set("Pragma", "no-cache")
	h.Set("Content-Type", plain)
	_, _ = w.Write([]byte("OK\n")) // whoever has gone needs no answer
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(session); err == nil {
		s.mu.Lock()
		s.kept.Sessions = slices.DeleteFunc(s.kept.Sessions, func(id string) bool { return id == c.Value })
		s.mu.Unlock()
	}
	w.Header().Set("Set-Cookie", session+"=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax")
	w.Header().Set("Location", "/login.html")
	w.WriteHeader(http.StatusFound)
}
