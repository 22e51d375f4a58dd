package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const token = "Aabcdefgh123456"

// service is a real URL of a service, at a server of the test.
func service(t *testing.T, form string, handle http.HandlerFunc) *Service {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	s, err := New(Options{URL: alert.Secret(fmt.Sprintf(form, strings.TrimPrefix(srv.URL, "http://")))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A message would not reach the telephone, or the token the log.
func TestServices(t *testing.T) {
	for _, form := range []string{
		"gotify://%s/" + token + "?disabletls=yes",
		"ntfy://:" + token + "@%s/topic?scheme=http",
	} {
		t.Run(form[:6], func(t *testing.T) {
			var body string
			status := 200
			s := service(t, form, func(w http.ResponseWriter, r *http.Request) {
				data, _ := io.ReadAll(r.Body)
				body = string(data)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"id": 1, "error": "bad", "errorDescription": "`+r.URL.String()+token+`"}`)
			})
			m := alert.Sample(alert.Firing, noon)
			var log []string
			say := func(l string) { log = append(log, l) }
			if err := s.Send(t.Context(), &m, say); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(body, "Taken out of DNS: berlin/a") || !strings.Contains(body, "dnsteer explain berlin/a") {
				t.Errorf("sent: %s", body)
			}
			status = 500
			err := s.Send(t.Context(), &m, say)
			if err == nil || strings.Contains(err.Error(), token) {
				t.Errorf("error: %v", err)
			}
			if text := strings.Join(log, "\n"); strings.Contains(text, token) || text == "" {
				t.Errorf("dialogue: %s", text)
			}
		})
	}
}

// docs/alerts.md would show what no telephone does.
func TestWhatATelephoneShows(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "alerts.md"))
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ Message string }
	s := service(t, "gotify://%s/"+token+"?disabletls=yes", func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{"id": 1}`)
	})
	for _, p := range []alert.Phase{alert.Firing, alert.Resolved} {
		m := alert.Sample(p, noon)
		if err := s.Send(t.Context(), &m, nil); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "\n```text\n"+body.Message+"\n```\n") {
			t.Errorf("docs/alerts.md has not\n%s", body.Message)
		}
	}
}

// A text that a node, a certificate or an operator has brought in would call all
// members of a chat, or show a link under another name.
func TestTextsSteerNoChat(t *testing.T) {
	var body struct{ Message string }
	s := service(t, "gotify://%s/"+token+"?disabletls=yes", func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{"id": 1}`)
	})
	m := alert.Sample(alert.Firing, noon)
	m.Subject = "@everyone"
	m.What = []string{"x @channel (@here) <!channel> <@U1> <http://evil.example|Resolved> [Resolved](http://evil.example) @**all**", "ops@example.com, 3 < 4"}
	if err := s.Send(t.Context(), &m, nil); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"@everyone", "@channel", "@here", "<!", "<@", "<h", "](", "@**"} {
		if strings.Contains(body.Message, bad) {
			t.Errorf("%q goes through: %s", bad, body.Message)
		}
	}
	for _, good := range []string{"@\u200beveryone", "<\u200bhttp://evil.example|Resolved>", "ops@example.com"} {
		if !strings.Contains(body.Message, good) {
			t.Errorf("%q is missing: %s", good, body.Message)
		}
	}
}

// A service that asks for time would be asked again too soon, and shut us out.
func TestServicesThatAskForTime(t *testing.T) {
	for name, tt := range map[string]struct {
		header, body string
		want         time.Duration
	}{
		"a header":        {"90", "{}", 90 * time.Second},
		"Telegram":        {"", `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 35","parameters":{"retry_after":35}}`, 35 * time.Second},
		"Discord":         {"", `{"message":"You are being rate limited.","retry_after":64.5,"global":false}`, 64500 * time.Millisecond},
		"Matrix":          {"", `{"errcode":"M_LIMIT_EXCEEDED","error":"Too many requests","retry_after_ms":2000}`, 2 * time.Second},
		"nothing":         {"", "too fast", 0},
		"nonsense":        {"soon", `{"retry_after":-1}`, 0},
		"no number":       {"NaN", "", 0},
		"more than a day": {"1e300", "", 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := service(t, "gotify://%s/"+token+"?disabletls=yes", func(w http.ResponseWriter, _ *http.Request) {
				if tt.header != "" {
					w.Header().Set("Retry-After", tt.header)
				}
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w, tt.body)
			})
			m := alert.Sample(alert.Firing, noon)
			err := s.Send(t.Context(), &m, nil)
			var r *alert.RefusedError
			if !errors.As(err, &r) || r.After != tt.want || r.Message {
				t.Errorf("%+v, want %s: %v", r, tt.want, err)
			}
		})
	}
}

// A service that hangs would hold the channel's attempt for ever.
func TestHang(t *testing.T) {
	s := service(t, "gotify://%s/"+token+"?disabletls=yes", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then does the server notice that the client is gone
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	m := alert.Sample(alert.Firing, noon)
	if err := s.Send(ctx, &m, nil); err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("error: %v", err)
	}
}

// A wrong URL would be noticed in the night of the outage, or be quoted.
func TestURLs(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"nonsense", "not the URL of a chat service"},
		{"pigeon://" + token + "@host", "cannot be used"},
		{"slack://" + token, "cannot be used"},
		{"smtp://user:" + token + "@host", `the key "smtp"`},
		{"generic+https://host/" + token, `the key "webhooks"`},
		{"logger://", "the log"},
		{"telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?chats=@ops", ""},
		{"discord://" + token + "@123456789012345678", ""},
		{"matrix://user:" + token + "@matrix.example.com", ""},
	} {
		_, err := New(Options{URL: alert.Secret(tt.url)})
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), token)) {
			t.Errorf("%s: %v", tt.url, err)
		}
	}
}
