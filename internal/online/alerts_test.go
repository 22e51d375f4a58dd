package online_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/alert/chat"
	"github.com/dnsteer/dnsteer/internal/alert/mail"
	"github.com/dnsteer/dnsteer/internal/alert/webhook"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/online"
)

// mailServer answers each command with what the test says, and fails the test
// for a mail.
func mailServer(t *testing.T, greeting, auth string) int {
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
			go func() {
				defer conn.Close()
				_, _ = fmt.Fprint(conn, greeting)
				for in := bufio.NewScanner(conn); in.Scan(); {
					answer := "250 ok"
					switch step, _, _ := strings.Cut(in.Text(), " "); step {
					case "EHLO":
						answer = "250-mail.example.com\r\n250 AUTH PLAIN"
					case "AUTH":
						answer = auth
					case "MAIL", "RCPT", "DATA":
						t.Error("check sends a mail: ", in.Text())
					case "QUIT":
						answer = "221 bye"
					}
					_, _ = fmt.Fprintf(conn, "%s\r\n", answer)
				}
			}()
		}
	}()
	return ln.Addr().(*net.TCPAddr).Port
}

func hook(t *testing.T, url string) *webhook.Hook {
	t.Helper()
	h, err := webhook.New(webhook.Options{URL: alert.Secret(url)})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Who sets alerts up would learn at the first outage that the password is wrong
// or the server unreachable; or everybody would get a message at each check, or
// a token would be shown.
func TestAlertsAreTriedWithoutAMessage(t *testing.T) {
	mailer := func(greeting, auth string) *mail.Mailer {
		return mail.New(mail.Options{Host: "127.0.0.1", Port: mailServer(t, greeting, auth), Encryption: mail.None, User: "dnsteer", Password: "pa55 word", Auth: "plain"})
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("check calls a webhook") }))
	defer receiver.Close()
	encrypted := httptest.NewTLSServer(nil)
	defer encrypted.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	team, err := chat.New(chat.Options{URL: "ntfy://127.0.0.1/dnsteer"})
	if err != nil {
		t.Fatal(err)
	}
	here, there := hook(t, receiver.URL+"/token"), hook(t, gone.URL+"/token")
	cfg := &config.Config{Alerts: &alert.Config{
		Channels: []alert.Channel{
			{Name: "good", Type: "smtp", Sender: mailer("220 hello\r\n", "235 welcome")},
			{Name: "wrong", Type: "smtp", Sender: mailer("220 hello\r\n", "535 5.7.8 no")},
			{Name: "ops", Type: "webhook", Sender: here},
			{Name: "untrusted", Type: "webhook", Sender: hook(t, encrypted.URL+"/token")},
			{Name: "gone", Type: "webhook", Sender: there},
			{Name: "team", Type: "chat", Sender: team},
		},
		DeadMan: &alert.DeadMan{Call: here.Call, Try: here.Try},
		Actions: []alert.Action{{Name: "reset", Try: there.Try}, {Name: "wake"}},
	}}
	hanging := &config.Config{Alerts: &alert.Config{Channels: []alert.Channel{{Name: "hangs", Type: "smtp", Sender: mailer("", "")}}}}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var got []string
	for _, f := range append(online.Alerts(t.Context(), cfg), online.Alerts(short, hanging)...) {
		got = append(got, f.About+": "+string(f.Grade))
		if strings.Contains(f.Text, "token") || strings.Contains(f.Text, "pa55") {
			t.Errorf("a secret is shown: %s", f.Text)
		}
		if f.Text == "" {
			t.Errorf("%s says nothing", f.About)
		}
	}
	want := []string{
		"alerts by good: ok", "alerts by wrong: failed", "alerts by ops: ok", "alerts by untrusted: failed",
		"alerts by gone: failed", "alerts by team: note", "alerts.dead_man: ok", "action reset: failed", "alerts by hangs: failed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}
