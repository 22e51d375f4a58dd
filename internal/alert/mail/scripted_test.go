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
			wait := 20 * time.Second
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
