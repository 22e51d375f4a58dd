package app

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, whoever guesses passwords, follows events thousands of times or holds
// every connection of the dashboard keeps its owner from acting, or names from being
// answered: the commands on the machine itself need neither a password nor the listener.
func TestThereIsAWayIn(t *testing.T) {
	w := newWorld(t, "berlin")
	hash, err := auth.HashPassword([]byte("the right one"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(w.config() + "http:\n  listen: ['127.0.0.1:0']\n  users: [{name: alice, role: admin, password_hash: '" + hash.Reveal() + "'}]\n" +
		"  tokens: [{name: deploy, role: operator, hash: '" + auth.HashSecret(canary).Reveal() + "'}]\n")
	r := w.start()
	r.settled()
	login := func(password string) (*answered, string) {
		res, text, _ := r.ask("POST", "/api/v1/login", `{"user": "alice", "password": "`+password+`"}`)
		return res, text
	}
	res, _ := login("the right one")
	cookie := "Cookie: " + res.cookies[0].Name + "=" + res.cookies[0].Value
	hindered := false
	for range 50 { // the first wait is a second, which a busy machine may take for the next login
		if res, _ = login("a wrong one"); res.StatusCode == http.StatusTooManyRequests {
			res, _ = login("the right one")
			hindered = hindered || res.StatusCode == http.StatusTooManyRequests
		}
		if hindered {
			break
		}
	}
	if !hindered {
		t.Fatal("guessing is not hindered")
	}
	for _, header := range []string{cookie, "Authorization: Bearer " + canary} {
		if res, text, _ := r.ask("GET", "/api/v1/status", "", header); res.StatusCode != http.StatusOK {
			t.Errorf("%s is shut out with the password: %d %s", strings.SplitN(header, "=", 2)[0], res.StatusCode, text)
		}
	}

	at := r.web.Addrs()[0].String()
	for i := range 2000 {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		// It may be over already, for there is no room for so many.
		_, _ = conn.Write([]byte("GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + canary + "\r\n\r\n"))
		if i < 300 {
			defer conn.Close()
		} else {
			_ = conn.Close() // it is one too many
		}
	}

	if got, want := r.asks(w.sites[0], "app.example.lan"), w.sites[0].all(11, 12); got != want {
		t.Errorf("answered %q, want %q", got, want)
	}
	socket := api.NewClient(filepath.Join(w.dir, "state", api.SocketName))
	defer socket.Close()
	if _, err := socket.Command(t.Context(), sites.Command{Verb: sites.Maintenance, Site: "berlin", Node: "a", Reason: "test"}); err != nil {
		t.Errorf("an order by the socket: %v", err)
	}
	if got, want := r.asks(w.sites[0], "app.example.lan"), w.sites[0].all(12); got != want {
		t.Errorf("after the order %q, want %q", got, want)
	}
}
