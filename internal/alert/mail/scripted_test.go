package mail

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// Goroutines that a server can make outlive an attempt would pile up.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// scripted is a server that answers each command as the test says: "" hangs,
// "cut" resets the connection.
func scripted(t *testing.T, answers map[string]string) Options {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(conn, answers)
		}
	}()
	addr := ln.Addr().(*net.TCPAddr)
	return Options{Host: "127.0.0.1", Port: addr.Port, Encryption: None, From: netmail.Address{Address: "dnsteer@example.com"}, To: []netmail.Address{{Address: "ops@example.com"}}}
}

func serve(conn net.Conn, answers map[string]string) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	say := func(step, usual string) bool {
		text, special := answers[step]
		switch {
		case !special:
			text = usual
		case text == "":
			for in.Scan() {
			}
			return false
		case text == "cut":
			return false
		}
		_, err := fmt.Fprintf(conn, "%s\r\n", text)
		return err == nil
	}
	if !say("greeting", "220 mail.example.com") {
		return
	}
	for in.Scan() {
		step, _, _ := strings.Cut(strings.ToUpper(in.Text()), " ")
		usual := "250 ok"
		switch {
		case step == "DATA":
			usual = "354 go on"
		case strings.HasPrefix(in.Text(), "RCPT TO:<nobody"):
			step = "NOBODY"
		}
		if !say(step, usual) {
			return
		}
		if step == "DATA" && answers["DATA"] == "" {
			for in.Scan() && in.Text() != "." {
			}
			if !say(".", "250 taken") {
				return
			}
		}
	}
}

// A server that refuses, delays or hangs at any step would hold an attempt for
// ever, lose the message, or drop one that a second attempt gets through.
func TestServersThatFail(t *testing.T) {
	tests := []struct {
		name, step, answer string
		want               string // part of the error
		message            bool
	}{
		{"hangs before its greeting", "greeting", "", "does not answer in time", false},
		{"hangs at EHLO", "EHLO", "", "does not answer in time", false},
		{"hangs at MAIL", "MAIL", "", "does not answer in time", false},
		{"hangs at RCPT", "RCPT", "", "does not answer in time", false},
		{"hangs at DATA", "DATA", "", "does not answer in time", false},
		{"hangs after the message", ".", "", "does not answer in time", false},
		{"is too busy", "greeting", "421 come back later", "421", false},
		{"greylists", "RCPT", "451 4.7.1 greylisted", "greylisted", false},
		{"refuses the sender", "MAIL", "550 5.7.1 not you", "not you", false},
		{"refuses the receiver", "RCPT", "550 5.1.1 nobody here", "nobody here", false},
		{"refuses the message", ".", "554 5.7.1 spam", "spam", true},
		{"cuts the line after the message", ".", "cut", "EOF", false},
		{"cuts the line at MAIL", "MAIL", "cut", "EOF", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New(scripted(t, map[string]string{tt.step: tt.answer}))
			wait := time.Minute
			if tt.answer == "" {
				wait = 200 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			m := alert.Sample(alert.Firing, noon)
			err := s.Send(ctx, &m, nil)
			var r *alert.RefusedError
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &r) != tt.message {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// One address that is wrong would keep the mail from all the others.
func TestOneReceiverIsRefused(t *testing.T) {
	opt := scripted(t, map[string]string{"NOBODY": "550 5.1.1 nobody here"})
	opt.To = append(opt.To, netmail.Address{Address: "nobody@example.com"})
	m := alert.Sample(alert.Firing, noon)
	err := New(opt).Send(t.Context(), &m, nil)
	var p *alert.Partial
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "nobody@example.com") {
		t.Errorf("error: %v", err)
	}
}

// A mail whose parts go astray, or that opens a thread of its own each time, is
// one that people overlook.
func TestCompose(t *testing.T) {
	s := New(Options{From: netmail.Address{Name: "dnsteer", Address: "dnsteer@example.com"}, To: []netmail.Address{{Address: "ops@example.com"}}})
	m := alert.Sample(alert.Resolved, noon)
	m.ID, m.Thread = "57-x-2", "57-x-1"
	m.Subject = "a name\r\nBcc: everyone@example.com"
	m.What = []string{"<script>alert(1)</script>"}
	text, err := s.Compose(&m, noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	got, err := netmail.ReadMessage(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Message-Id": "<57-x-2.dnsteer@example.com>", "In-Reply-To": "<57-x-1.dnsteer@example.com>", "References": "<57-x-1.dnsteer@example.com>",
		"Date": "Sun, 01 Mar 2026 13:00:00 +0000", "Bcc": "", "Auto-Submitted": "auto-generated", "To": "<ops@example.com>",
	} {
		if got := got.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if strings.Contains(string(text), "<script>alert") && !strings.Contains(string(text), "&lt;script&gt;") {
		t.Error("the HTML part takes a name for HTML")
	}
}

// Names and reasons that hold what nobody expects would end in another header, in
// a subject that no mail program reads, or in a text that says the opposite.
func TestSubjects(t *testing.T) {
	s := New(Options{From: netmail.Address{Name: "Überwachung", Address: "dnsteer@example.com"}, To: []netmail.Address{{Address: "ops@example.com"}}})
	for name, subject := range map[string]string{
		"umlauts": "München: Knoten größer als möglich", "emoji": "🔥 hamburg 🔥", "long": strings.Repeat("long ", 32), "one long word": strings.Repeat("x", 160),
		"long in Japanese": strings.Repeat("障害", 80), "a header": "a\r\nBcc: everyone@example.com\r\n\r\nbody", "looks encoded": "=?UTF-8?Q?Resolved?=",
		"turned around": "taken out of DNS: \u202egnihton\u202c", "not UTF-8": "caf\xe9",
	} {
		m := alert.Sample(alert.Firing, noon)
		m.Subject, m.What = subject, []string{subject}
		text, err := s.Compose(&m, noon)
		if err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(string(text), "\r\n\r\n")
		for line := range strings.SplitSeq(header, "\r\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) || strings.HasPrefix(strings.ToLower(line), "bcc") || len(line) > 998 {
				t.Errorf("%s: a line of the header is %q", name, line)
			}
		}
		got := read(t, text)
		want := "Subject: " + strings.ReplaceAll(m.Title(), "=?", "= ?") + "\n"
		if !strings.HasPrefix(got, want) || !strings.Contains(got, "berlin/a") || strings.Contains(got, "\u202e") {
			t.Errorf("%s is read as\n%s", name, got)
		}
	}
}

// A server whose answer never ends would fill the memory; one that answers with
// the password, in whatever form, would have it shown.
func TestAnswersOfServers(t *testing.T) {
	opt := scripted(t, map[string]string{"EHLO": strings.Repeat("250-x\r\n", 10<<20/7) + "250 ok"})
	m := alert.Sample(alert.Firing, noon)
	if err := New(opt).Send(t.Context(), &m, nil); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("error: %v", err)
	}
	opt = scripted(t, map[string]string{"EHLO": "250-mail.example.com\r\n250 AUTH PLAIN", "AUTH": "535 no: \x00dnsteer\x00pa55 word, AGRuc3RlZXIAcGE1NSB3b3Jk or cGE1NSB3b3Jk"})
	opt.User, opt.Password, opt.Auth = "dnsteer", "pa55 word", "plain"
	if err := New(opt).Send(t.Context(), &m, nil); err == nil || strings.Count(err.Error(), "<secret>") != 3 {
		t.Errorf("error: %v", err)
	}
}
