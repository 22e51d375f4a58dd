package app

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, whoever guesses passwords, follows events ten thousand times or holds
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

	c := &crowd{at: r.web.Addrs()[0].String(), leave: make(chan struct{})}
	c.come(t, clients(t))
	still := c.still()
	t.Logf("of %d clients %d follow, %d were told that there is no place, of whom %d are connected still, and the others were let go at once", c.all, c.follow, len(c.told), still)
	if c.follow != 32 || c.follow+still > 256 {
		t.Errorf("%d follow, %d others are connected; want 32, and 256 in all at most", c.follow, still)
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

	close(c.leave)
	c.here.Wait()
	late := &crowd{at: c.at, leave: make(chan struct{})}
	r.until("a stream has a place again", func() bool {
		late.come(t, 1)
		return late.follow > 0
	})
	close(late.leave)
	late.here.Wait()
}

// clients gives how many come: ten thousand, or as many as the system lets one process
// have descriptors for.
func clients(t *testing.T) int {
	var limit syscall.Rlimit // Go has raised it as far as it may be
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const others = 1000
	return int(min(10_000+others, limit.Cur)) - others
}

// crowd are clients that all follow the events, each over a connection of its own that
// it does not end by itself. They come from several addresses, so that no ports run out.
type crowd struct {
	at    string
	leave chan struct{} // closed: they hang up
	here  sync.WaitGroup

	mu sync.Mutex
	// Of all that came, so many follow; told are those that were answered otherwise.
	all, follow int
	told        []net.Conn
}

// come has n more come, and returns when each was answered or let go.
func (c *crowd) come(t *testing.T, n int) {
	t.Helper()
	var answered sync.WaitGroup
	door := make(chan struct{}, 128) // what the listener's queue holds
	for range n {
		c.all++
		door <- struct{}{}
		answered.Add(1)
		from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+c.all%100))}
		c.here.Go(func() {
			conn, word, err := c.ask(from)
			<-door
			c.count(conn, word)
			answered.Done()
			if err != nil {
				t.Error(err)
				return
			}
			<-c.leave
			_ = conn.Close()
		})
	}
	answered.Wait()
}

// ask connects and gives the status that it is answered with; "" for none.
func (c *crowd) ask(from *net.TCPAddr) (net.Conn, string, error) {
	conn, err := (&net.Dialer{LocalAddr: from, Timeout: time.Minute}).Dial("tcp", c.at)
	if err != nil {
		return nil, "", err
	}
	// It may be over already, for there is no room for so many.
	_, _ = conn.Write([]byte("GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + canary + "\r\n\r\n"))
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	line, _ := bufio.NewReader(conn).ReadString('\n')
	_, word, _ := strings.Cut(strings.TrimSpace(line), " ")
	return conn, word, nil
}

func (c *crowd) count(conn net.Conn, word string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case strings.HasPrefix(word, "200"):
		c.follow++
	case word != "":
		c.told = append(c.told, conn)
	}
}

// still gives how many of those that do not follow are connected: the server has not hung
// up on them.
func (c *crowd) still() (n int) {
	var all sync.WaitGroup
	var open atomic.Int64
	for _, conn := range c.told {
		all.Go(func() {
			_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				open.Add(1)
			}
		})
	}
	all.Wait()
	return int(open.Load())
}
