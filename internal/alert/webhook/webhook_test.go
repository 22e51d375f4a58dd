package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dnsteer/dnsteer/internal/alert"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Goroutines that a receiver can make outlive a call would pile up.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func hook(t *testing.T, opt Options) *Hook {
	t.Helper()
	h, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// server starts a receiver whose end waits for nobody.
func server(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// What receivers are built on would change under their feet.
func TestForm(t *testing.T) {
	m := alert.Sample(alert.Resolved, noon)
	m.ID, m.Thread = "58-dkv2p0-1a2b3c4d-2", "58-dkv2p0-1a2b3c4d-1"
	got, err := json.MarshalIndent(&m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/message.json"
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)+"\n"); d != "" {
		t.Errorf("a message as JSON (-want +got):\n%s", d)
	}
}

// A receiver could not tell our calls from a stranger's, or a double from news.
func TestCall(t *testing.T) {
	var got *http.Request
	var body []byte
	url := server(t, func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	})
	h := hook(t, Options{
		URL: alert.Secret(url + "/t0kenpart"), Method: "PUT", Secrets: []alert.Secret{"old secret", "new secret"},
		Headers: map[string]string{"X-Severity": "{{.Severity | printf \"%s\" | upper}}", "Content-Type": "application/json"},
		Body:    `{"text": {{json .Title}}, "phase": {{json .Phase}}}`, Now: func() time.Time { return noon },
	})
	m := alert.Sample(alert.Firing, noon)
	m.Subject = "a \"quoted\" name\r\nX-Injected: yes"
	var log []string
	if err := h.Send(t.Context(), &m, func(l string) { log = append(log, l) }); err != nil {
		t.Fatal(err)
	}
	if got.Method != http.MethodPut || got.Header.Get("X-Severity") != "WARNING" || got.Header.Get("X-Injected") != "" || got.Header.Get(IdempotencyHeader) != m.ID {
		t.Errorf("%s %v", got.Method, got.Header)
	}
	var v map[string]string
	if err := json.Unmarshal(body, &v); err != nil || v["phase"] != "firing" || !strings.Contains(v["text"], `a "quoted" name X-Injected: yes`) {
		t.Errorf("%s: %v", body, err)
	}
	for _, secret := range []string{"old secret", "new secret"} {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte("1772366400." + string(body)))
		if want := "v1=" + hex.EncodeToString(mac.Sum(nil)); !strings.Contains(got.Header.Get(SignatureHeader), want) || !strings.HasPrefix(got.Header.Get(SignatureHeader), "t=1772366400,") {
			t.Errorf("%s, want %s", got.Header.Get(SignatureHeader), want)
		}
	}
	if text := strings.Join(log, "\n"); strings.Contains(text, "t0kenpart") || !strings.Contains(text, "< 200 OK") {
		t.Errorf("dialogue: %s", text)
	}
}

// A receiver that fails would be taken for one that has the message, be asked too
// often, hold an attempt for ever, or see secrets carried to a stranger.
func TestReceiversThatFail(t *testing.T) {
	stolen := false
	other := server(t, func(http.ResponseWriter, *http.Request) { stolen = true })
	release := make(chan struct{})
	defer close(release)
	tests := []struct {
		name    string
		handle  http.HandlerFunc
		want    string // part of the error; "" for none
		message bool
		after   time.Duration
	}{
		{"500", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "out of cheese", 500) }, "500 Internal Server Error: out of cheese", false, 0},
		{"400", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 400) }, "400 Bad Request: no", true, 0},
		{"401 with the token in it", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "bad token "+r.URL.Path[1:], 401) }, "bad token <secret>", false, 0},
		{"429 in seconds", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "90"); w.WriteHeader(429) }, "429", false, 90 * time.Second},
		{"503 with a date", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", noon.Add(time.Minute).Format(http.TimeFormat))
			w.WriteHeader(503)
		}, "503", false, time.Minute},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, 307) }, "redirects are not followed", false, 0},
		{"hang", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}, "does not answer in time", false, 0},
		{"reset", func(w http.ResponseWriter, _ *http.Request) { abort(w, "") }, "EOF", false, 0},
		{"reset in the headers", func(w http.ResponseWriter, _ *http.Request) { abort(w, "HTTP/1.1 200 O") }, "", false, 0},
		{"reset in the body", func(w http.ResponseWriter, _ *http.Request) {
			abort(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		}, "ok", false, 0},
		{"a body without end", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, "ok", false, 0},
		{"no HTTP", func(w http.ResponseWriter, _ *http.Request) { abort(w, "220 mail.example.com ESMTP\r\n") }, "malformed", false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := hook(t, Options{URL: alert.Secret(server(t, tt.handle) + "/s3cr3t-token"), Secrets: []alert.Secret{"signing key"}, Now: func() time.Time { return noon }})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if tt.name == "hang" {
				ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
			}
			defer cancel()
			m := alert.Sample(alert.Firing, noon)
			err := h.Send(ctx, &m, nil)
			if tt.want == "ok" {
				if err != nil {
					t.Error(err) // the status says that it was taken
				}
				return
			}
			var r *alert.RefusedError
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cr3t") {
				t.Fatalf("error: %v", err)
			}
			if errors.As(err, &r); (r != nil && r.Message) != tt.message || tt.after != 0 && r.After != tt.after {
				t.Errorf("%+v", r)
			}
		})
	}
	if stolen {
		t.Error("the redirect was followed")
	}
}

// abort writes something and resets the connection.
func abort(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = conn.Write([]byte(text))
	_ = conn.(*net.TCPConn).SetLinger(max(-1, len(text)-1))
	_ = conn.Close()
}

// Whoever stands on the way could take the receiver's place.
func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	s.Config.ErrorLog = nil
	m := alert.Sample(alert.Firing, noon)
	if err := hook(t, Options{URL: alert.Secret(s.URL)}).Send(t.Context(), &m, nil); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("a stranger's certificate: %v", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	if err := hook(t, Options{URL: alert.Secret(s.URL), Roots: pool}).Send(t.Context(), &m, nil); err != nil {
		t.Errorf("the right certificate: %v", err)
	}
}

// A template that fails would be noticed in the night of the outage.
func TestTemplatesAreTried(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"syntax", "{{.Title", "unclosed action"},
		{"a field that is none", "{{.Titel}}", "can't evaluate field Titel"},
		{"a field that some messages have not", `{"x": {{json (index .Done 0)}}}`, "index out of range"},
		{"no JSON", "text: {{.Title}}", "is no JSON"},
		{"quotes by hand", `{"text": "{{index .What 0}}", "end": {{.Ended.Unix}}x}`, "is no JSON"},
		{"turning without end", "{{range 1000000000000}}{{end}}", "turn more than"},
		{"turning without end in a part of its own", `{{define "x"}}{{if true}}{{range $i := 1000000000000}}{{continue}}{{end}}{{end}}{{end}}{{template "x"}}`, "turn more than"},
		{"without end", `{{define "x"}}{{template "x" .}}{{end}}{{template "x" .}}`, "exceeded maximum template depth"},
	} {
		if _, err := New(Options{URL: "http://127.0.0.1", Body: tt.body}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := New(Options{URL: "http://127.0.0.1", Body: "text: {{.Title}}", Headers: map[string]string{"content-type": "text/plain"}}); err != nil {
		t.Error(err)
	}
}

// A header that is none would be noticed in the night of the outage; a token in
// one would be shown when the receiver quotes it.
func TestHeaders(t *testing.T) {
	for _, name := range []string{"X Token", "", "X:Y", "content-length", "Idempotency-Key", "Größe"} {
		if _, err := New(Options{URL: "http://127.0.0.1", Headers: map[string]string{name: "x"}}); err == nil || !strings.Contains(err.Error(), "cannot be set") {
			t.Errorf("%q: %v", name, err)
		}
	}
	var host string
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		http.Error(w, "I do not know "+r.Header.Get("Authorization")+" and "+r.Header.Get("X-Key"), 403)
	})
	h := hook(t, Options{URL: alert.Secret(url), Headers: map[string]string{"Authorization": "Bearer abcdef1234567890", "X-Key": "key=0987654321fedcba", "Host": "ops.example.com"}})
	m := alert.Sample(alert.Firing, noon)
	err := h.Send(t.Context(), &m, nil)
	if err == nil || strings.Contains(err.Error(), "1234567890") || strings.Contains(err.Error(), "0987654321") || host != "ops.example.com" {
		t.Errorf("host %s, error: %v", host, err)
	}
}
