package adguardsim

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

// Fault is a way to fail.
type Fault uint8

// The faults.
const (
	LostReply Fault = iota + 1 // the write is done and kept, its answer cut
	Cut                        // nothing is done, the connection cut; of a listing half arrives
	Hang                       // nothing is done and nothing answered
	Error                      // nothing is done: 500
	HTML                       // nothing is done: 200 with a page of something in between
	Busy                       // nothing is done: 503 with Retry-After
	Duplicate                  // another hand adds, just before, what is to be written
	Gone                       // another hand deletes, just before, what is to be written to
	Huge                       // a listing that has no end
)

// trap waits for a request.
type trap struct {
	fault Fault
	reads bool
	left  int
	hit   chan struct{}
}

// Break has the n-th request for a change of rewrites from now (0 is the next),
// or with reads the n-th listing, meet a fault, once. The channel is closed when
// it does.
func (s *Server) Break(f Fault, n int, reads bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trap = &trap{fault: f, reads: reads, left: n, hit: make(chan struct{})}
	return s.trap.hit
}

// Shun has each change of a rewrite of a domain meet the fault Error, until Mend.
func (s *Server) Shun(domain string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shunned = domain
}

// Mend takes back a fault that has not struck, and what is shunned.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trap, s.shunned = nil, ""
}

// shuns says whether a request is for a change of a domain that is shunned.
func (s *Server) shuns(r *http.Request, to route) bool {
	s.mu.Lock()
	domain := s.shunned
	s.mu.Unlock()
	if domain == "" || !to.writes {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	var in struct {
		entry
		Target entry
	}
	return err == nil && json.Unmarshal(body, &in) == nil && (in.Domain == domain || in.Target.Domain == domain)
}

// sprung gives the fault that this request meets; 0 for none.
func (s *Server) sprung(path string, to route) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if to.writes {
		s.writes++
	}
	t := s.trap
	if t == nil || t.reads != (path == "/control/rewrite/list") || !t.reads && !to.writes {
		return 0
	}
	if t.left > 0 {
		t.left--
		return 0
	}
	s.trap = nil
	close(t.hit)
	return t.fault
}

// trapped answers a request, or fails to.
func (s *Server) trapped(w http.ResponseWriter, r *http.Request, path string, to route) {
	fault := s.sprung(path, to)
	if fault == 0 && s.shuns(r, to) {
		fault = Error
	}
	switch fault {
	case LostReply:
		to.do(s, httptest.NewRecorder(), r)
		cut(w)
	case Cut:
		if !to.writes {
			w.Header().Set("Content-Type", jsonType)
			w.Header().Set("Content-Length", "100000")
			_, _ = io.WriteString(w, `[{"domain":"app.lan","answer":"192.0.2.1"},`) // it is to fail
		}
		cut(w)
	case Hang:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	case Error:
		refuse(w, http.StatusInternalServerError, "writing the configuration: no space left on device")
	case HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Log in</title>") // whoever has gone needs no answer
	case Busy:
		w.Header().Set("Retry-After", "7")
		refuse(w, http.StatusServiceUnavailable, "busy")
	case Huge:
		w.Header().Set("Content-Type", jsonType)
		_, err := io.WriteString(w, "[")
		for err == nil {
			_, err = io.WriteString(w, strings.Repeat(`{"domain":"a.lan","answer":"192.0.2.1"},`, 1000))
		}
	case Duplicate:
		s.meddle(r, true)
		to.do(s, w, r)
	case Gone:
		s.meddle(r, false)
		to.do(s, w, r)
	default:
		to.do(s, w, r)
	}
}

// cut ends the connection with nothing said.
func cut(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// meddle does to what a request is about what another hand could.
func (s *Server) meddle(r *http.Request, double bool) {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	var in struct {
		entry
		Target, Update *entry
	}
	if err != nil || json.Unmarshal(body, &in) != nil {
		return
	}
	from, to := in.entry, in.entry
	if in.Target != nil && in.Update != nil {
		from, to = *in.Target, *in.Update
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !double:
		s.kept.remove(from.Domain, from.Answer)
	case !strings.HasSuffix(r.URL.Path, "/delete") && !slices.Contains(s.kept.Rewrites, Rewrite{to.Domain, to.Answer, true}):
		s.kept.add(Rewrite{to.Domain, to.Answer, true})
	}
}
