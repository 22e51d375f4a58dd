package routersim

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon is how long anything may take on a slow machine.
const soon = time.Minute

func start(t *testing.T, o Options) *Router {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// client speaks the API by hand.
type client struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func connect(t *testing.T, r *Router) *client {
	t.Helper()
	conn, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return over(t, conn)
}

func over(t *testing.T, conn net.Conn) *client {
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(soon))
	return &client{t, conn, bufio.NewReader(conn)}
}

// login gives a session.
func login(t *testing.T, r *Router) *client {
	t.Helper()
	c := connect(t, r)
	if got := c.say("/login", "=name=dnsteer", "=password=secret"); got != "!done" {
		t.Fatalf("login: %s", got)
	}
	return c
}

func (c *client) send(words ...string) {
	c.t.Helper()
	if _, err := c.conn.Write(appendSentence(nil, words...)); err != nil {
		c.t.Fatal(err)
	}
}

// sentence reads one; "closed" is the end.
func (c *client) sentence() []string {
	words, err := readSentence(c.in, false)
	if err != nil {
		return []string{"closed"}
	}
	return words
}

// read reads up to the end of a reply: "!re =a=b | !done".
func (c *client) read() string {
	var all []string
	for {
		s := c.sentence()
		all = append(all, strings.Join(s, " "))
		if s[0] == "!done" || s[0] == "!fatal" || s[0] == "closed" {
			return strings.Join(all, " | ")
		}
	}
}

func (c *client) say(words ...string) string {
	c.t.Helper()
	c.send(words...)
	return c.read()
}

// closed says whether the router ends the connection.
func (c *client) closed() bool { return c.sentence()[0] == "closed" }

// want holds what a command is answered with.
func (c *client) want(want string, words ...string) {
	c.t.Helper()
	if got := c.say(words...); got != want {
		c.t.Errorf("%q:\n got %s\nwant %s", words, got, want)
	}
}

func do(t *testing.T, r *Router, command string, args ...string) string {
	t.Helper()
	id, err := r.Do(command, args...)
	if err != nil {
		t.Fatalf("%s %q: %v", command, args, err)
	}
	return id
}

// ask asks the router's DNS and gives the records in short.
func ask(t *testing.T, r *Router, network, name, kind string) (answer []string, rcode int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.StringToType[kind])
	in, _, err := (&dns.Client{Net: network, Timeout: soon}).ExchangeContext(ctx, m, r.DNSAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, rr := range in.Answer {
		f := strings.Fields(rr.String())
		answer = append(answer, strings.Join(slices.Concat(f[1:2], f[3:]), " "))
	}
	return answer, in.Rcode
}

func tlsClient(r *Router) (*tls.Conn, error) {
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: soon}, Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := d.Dial("tcp", r.TLSAddr())
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), nil
}
