package routersim

import (
	"bufio"
	"bytes"
	"crypto/md5" //nolint:gosec // that is the old login
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// session is one connection of a client.
type session struct {
	r         *Router
	raw       net.Conn
	conn      net.Conn // the same, or TLS over it
	in        *bufio.Reader
	via       string // "api" or "api-ssl"
	user      string // "" before the login
	early     int    // sentences before it
	challenge []byte
	dead      bool // see HalfOpen; under the router's lock
}

func (r *Router) serve(conn net.Conn, secure bool) {
	s := &session{r: r, raw: conn, conn: conn, via: "api"}
	if secure {
		s.via = "api-ssl"
		s.conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{r.cert}, MinVersion: tls.VersionTLS12})
	}
	if !r.enter(s) {
		_ = conn.Close() // without a word
		return
	}
	defer r.leave(s)
	if secure && r.o.NoCertificate {
		refuseHandshake(conn)
		return
	}
	s.in = bufio.NewReader(s.conn)
	for r.reached() {
		words, err := readSentence(s.in, s.user == "")
		if err != nil || !r.reached() {
			return
		}
		if len(words) > 0 && !s.answer(words) {
			return
		}
	}
}

// reached waits while the line is cut; false once the router is off.
func (r *Router) reached() bool {
	if r.o.Lost == nil {
		return true
	}
	lost := r.o.Lost()
	if lost == nil {
		return true
	}
	select {
	case <-lost:
		return true
	case <-r.stopped:
		return false
	}
}

// refuseHandshake is what a server does that shares no cipher with its client.
func refuseHandshake(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	header := make([]byte, 5)
	if _, err := io.ReadFull(conn, header); err != nil {
		return
	}
	hello := int64(header[3])<<8 | int64(header[4])
	if _, err := io.CopyN(io.Discard, conn, hello); err != nil {
		return
	}
	_, _ = conn.Write([]byte{21, 3, 3, 0, 2, 2, 40}) // the alert handshake_failure; the end follows
}

// enter counts a session, or says that there is no room for it.
func (r *Router) enter(s *session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.stopped:
		return false
	default:
	}
	if r.faults.DenyNext > 0 {
		r.faults.DenyNext--
		return false
	}
	if r.faults.Deny || len(r.sessions) >= r.o.MaxSessions {
		return false
	}
	r.sessions[s] = struct{}{}
	return true
}

func (r *Router) leave(s *session) {
	_ = s.raw.Close() // whatever it says, the session is over
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, s)
	if s.user != "" {
		r.note("user " + s.user + " logged out via " + s.via)
	}
}

// next counts a request and says what becomes of it.
func (s *session) next(words []string) (Faults, Fate) {
	r := s.r
	r.mu.Lock()
	r.calls++
	r.total++
	f := r.faults
	request := Request{N: r.calls, Command: words[0], Args: map[string]string{}, Writes: writes(words[0])}
	r.mu.Unlock()
	if f.Each == nil {
		return f, Answered
	}
	for _, a := range arguments(words[1:]) {
		request.Args[a.key] = a.value
	}
	return f, f.Each(request)
}

// answer carries out one request, or several that wait; false ends the session.
func (s *session) answer(words []string) bool {
	faults, fate := s.next(words)
	switch {
	case faults.Hang || fate == HangNow || s.isDead():
		s.silent()
		return false
	case fate == Cut:
		return false
	}
	replies := [][][]string{s.reply(words, faults, fate)}
	for faults.Interleave && s.in.Buffered() > 0 {
		more, err := readSentence(s.in, s.user == "")
		if err != nil {
			return false
		}
		if len(more) > 0 {
			replies = append(replies, s.reply(more, faults, Answered))
		}
	}
	out := interleave(replies)
	switch {
	case fate == HangAfter || s.isDead():
		s.silent()
		return false
	case fate == LostReply:
		return false
	case fate == HalfReply:
		_, _ = s.conn.Write(out[:(len(out)+1)/2]) // the end follows
		return false
	case faults.Torn:
		return writeTorn(s.conn, out) == nil && !fatal(out)
	}
	_, err := s.conn.Write(out)
	return err == nil && !fatal(out)
}

// interleave writes a sentence of each reply in turn.
func interleave(replies [][][]string) (out []byte) {
	for i := 0; len(replies) > 0; i++ {
		at := i % len(replies)
		out = appendSentence(out, replies[at][0]...)
		if replies[at] = replies[at][1:]; len(replies[at]) == 0 {
			replies = slices.Delete(replies, at, at+1)
		}
	}
	return out
}

func fatal(out []byte) bool { return bytes.Contains(out, []byte("\x06!fatal")) }

func (s *session) isDead() bool {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	return s.dead
}

// silent waits, deaf, until the connection ends.
func (s *session) silent() { _, _ = io.Copy(io.Discard, s.raw) }

// reply gives the sentences that answer a request, with its tag.
func (s *session) reply(words []string, faults Faults, fate Fate) [][]string {
	tag := ""
	words = slices.DeleteFunc(words, func(w string) bool {
		if strings.HasPrefix(w, ".tag=") {
			tag = w
			return true
		}
		return false
	})
	var out [][]string
	switch {
	case len(words) == 0:
		out = trap("no such command", "0")
	case words[0] == "/login":
		out = s.login(words[1:])
	case s.user == "":
		out = [][]string{{"!fatal", "not logged in"}}
	case words[0] == "/quit":
		out = [][]string{{"!fatal", "session terminated on request"}}
	case fate == Refused:
		out = trap("action failed (6)", "4")
	default:
		s.r.wait(words[0], faults.SlowWrites)
		out = s.r.run(words, caller{s.user, s.via, faults.ReadOnly || fate == Forbidden})
		if fate == RefusedButDone {
			out = trap("action failed (6)", "4")
		}
	}
	if faults.Unknown {
		out = append([][]string{{"!news", "=of=a later version", "bare"}}, out...)
	}
	if s.user == "" {
		s.early++
	}
	if s.user == "" && s.early > maxEarlyNumber {
		out = [][]string{{"!fatal", "too many commands before login"}}
	}
	if tag != "" {
		for i := range out {
			out[i] = append(out[i], tag)
		}
	}
	return out
}

// wait takes the time that a request takes.
func (r *Router) wait(command string, slow time.Duration) {
	pace := r.o.Pace
	if pace == (Pace{}) && (slow == 0 || !writes(command)) {
		return
	}
	r.mu.Lock()
	now := time.Now()
	if now.Sub(r.lastRequest) > time.Second {
		r.burst = 0
	}
	r.lastRequest = now
	d := pace.Fast
	if r.burst++; r.burst > pace.Burst {
		d = pace.Slow
	}
	r.mu.Unlock()
	if writes(command) {
		d += slow
	}
	select {
	case <-time.After(d):
	case <-r.stopped:
	}
}

// login takes a name and a password, or gives a challenge and takes the answer.
func (s *session) login(words []string) [][]string {
	args := arguments(words)
	name, password, response := get(args, "name"), get(args, "password"), get(args, "response")
	o, p := s.r.o, s.r.p
	var right bool
	switch {
	case response != "" && s.challenge != nil:
		h := md5.New()
		h.Write(append(append([]byte{0}, o.Password...), s.challenge...))
		right = p.challenge && name == o.Username && response == "00"+hex.EncodeToString(h.Sum(nil))
		s.challenge = nil
	case name == "" || !p.plainLogin:
		s.challenge = make([]byte, 16)
		_, _ = rand.Read(s.challenge) // it never fails
		return [][]string{{"!done", "=ret=" + hex.EncodeToString(s.challenge)}}
	default:
		right = name == o.Username && password == o.Password
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if !right {
		s.r.note("login failure for user " + name + " via " + s.via)
		if p.oldMessages {
			return trap("cannot log in", "")
		}
		return trap("invalid user name or password (6)", "")
	}
	s.user = name
	s.r.logins++
	s.r.note("user " + name + " logged in via " + s.via)
	return [][]string{{"!done"}}
}
