package acceptance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// mirror is a server that refuses whatever it is asked, and says in its answer all
// that it was sent, as a page for faults may: over HTTP, or as a mail server.
func mirror(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	if serve == nil {
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // as much as comes
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, "no: %s %s %v %s", r.Method, r.RequestURI, r.Header, body)
		})}
		go func() { _ = srv.Serve(ln) }()
		t.Cleanup(func() { _ = srv.Close() })
		return ln.Addr().String()
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return ln.Addr().String()
}

// mirrorMail refuses a login with what it was sent.
func mirrorMail(c net.Conn) {
	_, _ = fmt.Fprint(c, "220 mirror\r\n")
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		switch line := strings.TrimSpace(string(buf[:n])); {
		case strings.HasPrefix(line, "EHLO"):
			_, _ = fmt.Fprint(c, "250-mirror\r\n250 AUTH PLAIN LOGIN\r\n")
		default:
			_, _ = fmt.Fprintf(c, "535 5.7.8 no: %s\r\n", line)
		}
	}
}

// mirrorRouter refuses a login with the words that it was sent.
func mirrorRouter(c net.Conn) {
	word := func(s string) []byte { return append([]byte{byte(len(s))}, s...) }
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		said := strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, string(buf[:n]))
		var out []byte
		for _, w := range []string{"!trap", "=message=no: " + said[:min(len(said), 100)], "", "!done", ""} {
			out = append(out, word(w)...)
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// witness answers as a resolver does.
func witness(t *testing.T) string {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: pc, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetReply(q)) // who has gone asks no more
	})}
	begun := make(chan struct{})
	s.NotifyStartedFunc = func() { close(begun) }
	go func() { _ = s.ActivateAndServe() }()
	<-begun
	t.Cleanup(func() { _ = s.Shutdown() })
	return pc.LocalAddr().String()
}

// received is what came to a receiver of alerts, without what is meant to be there.
type received struct {
	mu    sync.Mutex
	calls []string // each with its headers and its body
	mails []string // what follows DATA
}

// add keeps one of a list.
func (r *received) add(list *[]string, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, text)
}

// all gives the calls and the mails until now.
func (r *received) all() (calls, mails []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(calls, r.calls...), append(mails, r.mails...)
}

// receiver takes webhooks. Where it is called and the header Authorization are the
// configuration's, and are secrets of their own; all else is what dnsteer says.
func receiver(t *testing.T, r *received) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Errorf("read a webhook: %v", err)
		}
		req.Header.Del("Authorization")
		r.add(&r.calls, fmt.Sprintf("%s %v\n%s", req.Method, req.Header, body))
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	return ln.Addr().String()
}

// mailbox takes mails as a server does that wants a login, of which nothing is kept.
func (r *received) mailbox(c net.Conn) {
	say := func(line string) { _, _ = fmt.Fprint(c, line+"\r\n") }
	say("220 mailbox")
	var mail strings.Builder
	inMail := false
	for in := bufio.NewScanner(c); in.Scan(); {
		line := in.Text()
		switch {
		case inMail && line == ".":
			inMail = false
			r.add(&r.mails, mail.String()+"\nand without its soft line breaks:\n"+strings.ReplaceAll(mail.String(), "=\n", ""))
			mail.Reset()
			say("250 taken")
		case inMail:
			mail.WriteString(line + "\n")
		case strings.HasPrefix(line, "EHLO"):
			say("250-mailbox\r\n250 AUTH PLAIN")
		case strings.HasPrefix(line, "AUTH"):
			say("235 welcome")
		case line == "DATA":
			inMail = true
			say("354 go on")
		case line == "QUIT":
			say("221 bye")
			return
		default:
			say("250 well")
		}
	}
}
