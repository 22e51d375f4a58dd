package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/probes"
)

const token = "token-of-berlin-a"

// beating is a handler with one node that reports, and what it logs.
func beating(t *testing.T) (*Handler, *probes.Heartbeats, *bytes.Buffer) {
	t.Helper()
	start := time.Now()
	beats := probes.NewHeartbeats(func() time.Duration { return time.Since(start) })
	beats.Use([]probes.Beating{{Site: "berlin", Node: "a", Token: token}, {Site: "berlin", Node: "b", Token: "token-of-berlin-b"}})
	f, log := &fake{}, &bytes.Buffer{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return NewHandler(Deps{Reader: f, Operator: f, Historian: f, Health: f, Log: logger, Heartbeats: beats}), beats, log
}

// send reports over a client, and gives the status and what is said.
func send(t *testing.T, c *http.Client, url, authorization, body string) (int, Problem, http.Header) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var p Problem
	switch resp.StatusCode {
	case http.StatusNoContent:
		if len(text) > 0 {
			t.Errorf("a body with 204: %q", text)
		}
	default:
		if kind := resp.Header.Get("Content-Type"); kind != "application/problem+json" {
			t.Errorf("%d with the type %s", resp.StatusCode, kind)
		}
		if err := json.Unmarshal(text, &p); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	return resp.StatusCode, p, resp.Header
}

// A node must be able to report, in as few words as it has; nobody else may in
// its name, nor learn which nodes there are; and tokens must not be in the log.
func TestHeartbeat(t *testing.T) {
	h, _, log := beating(t)
	s := httptest.NewTLSServer(h)
	defer s.Close()
	tests := []struct {
		name          string
		path          string
		authorization string
		body          string
		want          int
		detail        string
	}{
		{"nothing but the token", "berlin/a", "Bearer " + token, "", 204, ""},
		{"another spelling", "berlin/a", "bearer  " + token, " \n", 204, ""},
		{"all of it", "berlin/a", "Bearer " + token, `{"load": 0.4, "sessions": 12, "bytes": 123456, "healthy": true}`, 204, ""},
		{"null is unknown", "berlin/a", "Bearer " + token, `{"load": null}`, 204, ""},
		{"no token", "berlin/a", "", "", 401, `send the node's own token: "Authorization: Bearer TOKEN"`},
		{"another kind", "berlin/a", "Basic " + token, "", 401, `send the node's own token: "Authorization: Bearer TOKEN"`},
		{"another's token", "berlin/b", "Bearer " + token, "", 401, `send the node's own token: "Authorization: Bearer TOKEN"`},
		{"half of it", "berlin/a", "Bearer " + token[:8], "", 401, `send the node's own token: "Authorization: Bearer TOKEN"`},
		{"no token for a node that is not there", "berlin/x", "", "", 401, `send the node's own token: "Authorization: Bearer TOKEN"`},
		{"no such node", "berlin/x", "Bearer " + token, "", 404, "there is no node of this name that reports by itself"},
		{"no such site", "hamburg/a", "Bearer " + token, "", 404, "there is no node of this name that reports by itself"},
		{"no JSON", "berlin/a", "Bearer " + token, "load=0.4", 400, "the report cannot be read: invalid character 'l' looking for beginning of value"},
		{"an unknown key", "berlin/a", "Bearer " + token, `{"laod": 1}`, 400, `the report cannot be read: unknown field "laod"`},
		{"a text for a number", "berlin/a", "Bearer " + token, `{"load": "high"}`, 400, "load: a string stands there, expected a float64"},
		{"a fraction of a session", "berlin/a", "Bearer " + token, `{"sessions": 0.5}`, 400, "sessions: a number 0.5 stands there, expected an int64"},
		{"less than nothing", "berlin/a", "Bearer " + token, `{"bytes": -1}`, 400, "bytes: expected 0 or more"},
		{"two reports", "berlin/a", "Bearer " + token, `{}{}`, 400, "the report cannot be read: something follows it"},
		{"too long", "berlin/a", "Bearer " + token, `{"load": 1` + strings.Repeat(" ", maxReport) + "}", 413, "the body is larger than 4096 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, p, header := send(t, s.Client(), s.URL+"/api/v1/heartbeat/"+tt.path, tt.authorization, tt.body)
			if status != tt.want || p.Detail != tt.detail {
				t.Errorf("%d %q, want %d %q", status, p.Detail, tt.want, tt.detail)
			}
			if (status == 401) != strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%d with WWW-Authenticate %q", status, header.Get("WWW-Authenticate"))
			}
		})
	}
	if strings.Contains(log.String(), "token-of") {
		t.Errorf("a token is in the log:\n%s", log)
	}
	if status, _, _ := send(t, s.Client(), s.URL+"/api/v1/heartbeat/berlin", "Bearer "+token, ""); status != 404 {
		t.Errorf("without a node: %d", status)
	}
	resp, err := s.Client().Get(s.URL + "/api/v1/heartbeat/berlin/a")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", resp.StatusCode)
	}
}

// Who guesses must be slowed down, and the node in whose name that is done must
// go on reporting from the same address.
func TestHeartbeatGuesses(t *testing.T) {
	h, _, _ := beating(t)
	s := httptest.NewServer(h)
	defer s.Close()
	count := map[int]int{}
	for i := range 2 * wrongMost {
		status, _, header := send(t, s.Client(), s.URL+"/api/v1/heartbeat/berlin/a", fmt.Sprintf("Bearer guess-number-%d", i), "")
		count[status]++
		if status == http.StatusTooManyRequests && header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
	}
	if diff := cmp.Diff(map[int]int{401: wrongMost, 429: wrongMost}, count); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if status, _, _ := send(t, s.Client(), s.URL+"/api/v1/heartbeat/berlin/a", "Bearer "+token, ""); status != 204 {
		t.Errorf("the node itself: %d", status)
	}
}

// The memory of who was wrong must stay small whoever asks, and forget.
func TestFailures(t *testing.T) {
	var f failures
	now := time.Now()
	for i := range 3 * wrongSenders {
		f.allow(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32), now)
	}
	if n := len(f.count); n > wrongSenders+1 {
		t.Errorf("%d senders are remembered", n)
	}
	one := senderOf("192.0.2.1:1234")
	if f.allow(one, now) {
		t.Error("one more sender is let through")
	}
	if !f.allow(one, now.Add(wrongWithin)) {
		t.Error("a minute later it is still held back")
	}
	for remote, want := range map[string]string{
		"192.0.2.1:1": "192.0.2.1/32", "[2001:db8:1:2:3::4]:1": "2001:db8:1:2::/64", "[::ffff:192.0.2.1]:1": "192.0.2.1/32", "[fe80::1%eth0]:1": "fe80::/64", "@": "invalid Prefix", "": "invalid Prefix",
	} {
		if got := senderOf(remote).String(); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}

// A script on the controller's own machine may report over the socket.
func TestHeartbeatOverSocket(t *testing.T) {
	h, _, _ := beating(t)
	path := filepath.Join(t.TempDir(), SocketName)
	s, err := Listen(path, h)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(t.Context())
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	defer c.CloseIdleConnections()
	if status, _, _ := send(t, c, "http://dnsteer/api/v1/heartbeat/berlin/a", "Bearer "+token, `{"sessions": 1}`); status != 204 {
		t.Errorf("%d", status)
	}
	if status, _, _ := send(t, c, "http://dnsteer/api/v1/heartbeat/berlin/a", "Bearer wrong-wrong-wrong", ""); status != 401 {
		t.Errorf("a wrong token: %d", status)
	}
}

// Without nodes that report nothing is there to report to.
func TestHeartbeatNobody(t *testing.T) {
	f := &fake{}
	s := httptest.NewServer(NewHandler(Deps{Reader: f, Operator: f, Historian: f, Health: f, Log: slog.New(slog.DiscardHandler)}))
	defer s.Close()
	if status, _, _ := send(t, s.Client(), s.URL+"/api/v1/heartbeat/berlin/a", "Bearer "+token, ""); status != 404 {
		t.Errorf("%d", status)
	}
}

// Whatever a stranger sends must be refused or be a report that can be.
func FuzzParseReport(f *testing.F) {
	for _, body := range []string{"", "{}", `{"load":0.4,"sessions":12,"bytes":1,"healthy":false}`, `{"load":1e400}`, `[1]`, "null"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ParseReport(body)
		if err != nil {
			return
		}
		if r.Load != nil && !(*r.Load >= 0 && *r.Load <= 1e6) || r.Sessions != nil && *r.Sessions < 0 || r.Bytes != nil && *r.Bytes < 0 {
			t.Errorf("%+v", r)
		}
	})
}
