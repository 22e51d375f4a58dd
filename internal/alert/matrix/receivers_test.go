package matrix

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	netmail "net/mail"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// got is a message as a receiver has it. The chat services have no IDs.
type got struct{ id, title, text string }

// shows says whether it is a message as the controller has written it, with the
// time at which it happened.
func (g *got) shows(m *alert.Message) bool {
	return g.title == m.Title() && strings.Contains(g.text, m.When()) && (g.id == "" || g.id == m.ID)
}

// receiver is a server at the other end of pipes: as real as sockets for those
// who talk to it, and in the test's own time.
type receiver struct {
	mu    sync.Mutex
	fault fault
	since time.Time // of the first attempt
	got   []got
}

func (r *receiver) set(f fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = f
}

// now gives the fault that befalls an attempt.
func (r *receiver) now() fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		r.since = time.Now()
	}
	if r.fault == greylisted && time.Since(r.since) > 10*time.Minute {
		return none
	}
	return r.fault
}

func (r *receiver) take(g got) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, g)
}

func (r *receiver) list() []got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]got(nil), r.got...)
}

// dial is the network of a channel that talks to serve.
func (r *receiver) dial(serve func(net.Conn, fault)) alert.Dial {
	return func(context.Context, string, string) (net.Conn, error) {
		f := r.now()
		if f == refused {
			return nil, errors.New("connect: connection refused")
		}
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			if f == hangs {
				_, _ = io.Copy(io.Discard, there) // until the other end gives up
				return
			}
			serve(there, f)
		}()
		return here, nil
	}
}

// smtp is a mail server.
func (r *receiver) smtp(conn net.Conn, f fault) {
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") } // who has gone reads no answer
	say("220 mail.example.com")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case verb == "EHLO":
			say("250-mail.example.com\r\n250 AUTH PLAIN")
		case verb == "AUTH" && f == credentials:
			say("535 5.7.8 " + mailPassword + " is wrong, " + strings.TrimSpace(line))
		case verb == "AUTH":
			say("235 ok")
		case verb == "MAIL" && f == later:
			say("421 4.3.2 too busy")
			return
		case verb == "MAIL" && f == never:
			say("550 5.7.1 not you")
		case verb == "RCPT" && f == greylisted:
			say("451 4.7.1 greylisted")
		case verb == "DATA":
			say("354 go on")
			if f == cut {
				_, _ = in.ReadString('\n')
				return
			}
			if !r.mail(in, f) {
				say("554 5.7.1 spam")
			} else if f == lost {
				return
			} else {
				say("250 taken")
			}
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// mail reads a mail, and takes it; false for one that is refused.
func (r *receiver) mail(in *bufio.Reader, f fault) bool {
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return true
		}
		if line == ".\r\n" {
			break
		}
		text.WriteString(strings.TrimPrefix(line, "."))
	}
	if f == rejected {
		return false
	}
	g, err := readMail(text.String())
	if err != nil {
		g.title = err.Error()
	}
	r.take(g)
	return true
}

func readMail(text string) (g got, err error) {
	m, err := netmail.ReadMessage(strings.NewReader(text))
	if err != nil {
		return g, err
	}
	g.id, _, _ = strings.Cut(strings.TrimPrefix(m.Header.Get("Message-Id"), "<"), ".dnsteer@")
	if g.title, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return g, err
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return g, err
	}
	p, err := multipart.NewReader(m.Body, params["boundary"]).NextRawPart()
	if err != nil {
		return g, err
	}
	body, err := io.ReadAll(quotedprintable.NewReader(p))
	g.text = string(body)
	return g, err
}

// http is the server of a webhook, a chat service and the dead man's switch.
func (r *receiver) http(read func(*http.Request, []byte) got) func(net.Conn, fault) {
	return func(conn net.Conn, f fault) {
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		if f == cut {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		status := map[fault]string{
			credentials: "401 Unauthorized", later: "503 Service Unavailable", never: "403 Forbidden", greylisted: "429 Too Many Requests", rejected: "422 Unprocessable Content",
		}[f]
		if status == "" {
			r.take(read(req, body))
			if f == lost {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"id\": 1}")
			return
		}
		said := fmt.Sprintf(`{"error": "no %s", "errorCode": 1, "errorDescription": "%s"}`, req.URL, req.Header.Get("Authorization"))
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nRetry-After: 60\r\nContent-Length: %d\r\n\r\n%s", status, len(said), said)
	}
}

func readHook(req *http.Request, body []byte) got {
	var m alert.Message
	if err := json.Unmarshal(body, &m); err != nil || req.Header.Get("Idempotency-Key") != m.ID {
		return got{title: fmt.Sprintf("%s: %v", body, err)}
	}
	return got{m.ID, m.Title(), m.When()}
}

func readChat(_ *http.Request, body []byte) got {
	var m struct{ Message string }
	if err := json.Unmarshal(body, &m); err != nil {
		return got{title: err.Error()}
	}
	title, text, _ := strings.Cut(m.Message, "\n")
	return got{"", title, text}
}
