package demo

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

// What the demo leaves behind would be in the way of its next run.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come, on a machine that is busy too.
const patience = 2 * time.Minute

// impatient are settings with which a test need not wait. What is stopped refuses at
// once; only what is cut off is waited for, and a node is not that because the machine
// is busy.
const impatient = `  threshold: 300ms
  grace: 300ms
  probe_interval: 100ms
  probe_timeout: 2s
  site_threshold: 500ms
`

// display takes what the demo says, and lets one wait for it.
type display struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (d *display) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.more)
	d.more = make(chan struct{})
	return d.text.Write(b)
}

// await waits until what was said holds a text behind a place, and gives the
// place behind it.
func (d *display) await(t *testing.T, from int, want string) int {
	t.Helper()
	limit := time.After(patience)
	for {
		d.mu.Lock()
		said, more := d.text.String(), d.more
		d.mu.Unlock()
		if i := strings.Index(said[from:], want); i >= 0 {
			return from + i + len(want)
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("%q was not said; this was:\n%s", want, said[from:])
		}
	}
}

// show is a demo under way.
type show struct {
	*display
	t     *testing.T
	keys  *io.PipeWriter // nil without a terminal
	stop  context.CancelFunc
	ended chan error
	at    string
}

func start(t *testing.T, terminal bool) *show {
	t.Helper()
	return startWith(t, terminal, impatient)
}

func startWith(t *testing.T, terminal bool, settings string) *show {
	t.Helper()
	t.Setenv("TMPDIR", shortDir(t))
	ctx, stop := context.WithCancel(context.Background())
	s := &show{display: &display{more: make(chan struct{})}, t: t, stop: stop, ended: make(chan error, 1)}
	opt := Options{DNS: netip.MustParseAddrPort("127.0.0.1:0"), Out: s.display, Command: "dnsteer", settings: settings}
	if terminal {
		var keys *io.PipeReader
		keys, s.keys = io.Pipe()
		opt.Keys = keys
		t.Cleanup(func() { _ = keys.Close() })
	}
	go func() { s.ended <- Run(ctx, opt) }()
	t.Cleanup(func() {
		stop()
		if s.keys != nil {
			_ = s.keys.Close()
		}
	})
	s.await(t, 0, "health checks below it")
	s.mu.Lock()
	found := regexp.MustCompile(`dig @(\S+) -p (\d+)`).FindStringSubmatch(s.text.String())
	s.mu.Unlock()
	s.at = net.JoinHostPort(found[1], found[2])
	return s
}

// shortDir is a temporary folder whose sockets have paths that are short enough.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// resolver finds a site's resolver in the demo's configuration.
func (s *show) resolver(addr string) string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*", "dnsteer.yaml"))
	if err != nil || len(found) != 1 {
		s.t.Fatal(found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return regexp.MustCompile(regexp.QuoteMeta(addr) + `:\d+`).FindString(string(text))
}

func (s *show) press(keys string) {
	s.t.Helper()
	if _, err := s.keys.Write([]byte(keys)); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the end, and looks at what is left.
func (s *show) end() {
	s.t.Helper()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Error(err)
		}
	case <-time.After(patience):
		s.t.Fatal("the demo does not end")
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		s.t.Errorf("left behind: %v, %v", left, err)
	}
}

// answer gives the addresses of a name, asked of a server.
func answer(t *testing.T, at, name string) (list []string) {
	t.Helper()
	client := dns.Client{Timeout: patience}
	reply, _, err := client.Exchange(new(dns.Msg).SetQuestion(name, dns.TypeA), at)
	if err != nil {
		t.Fatal(err)
	}
	for _, rr := range reply.Answer {
		if a, ok := rr.(*dns.A); ok {
			list = append(list, a.A.String())
		}
	}
	return list
}

// If this fails, the first thing that a new user tries does not work.
func TestNodeIsStopped(t *testing.T) {
	s := start(t, true)
	at := s.await(t, 0, "Keys")
	for stopped := false; !stopped; {
		s.press("1")
		from := s.await(t, at, "-- berlin/a ")
		s.mu.Lock()
		stopped = strings.HasPrefix(s.text.String()[from:], "was stopped")
		s.mu.Unlock()
		at = from
	}
	at = s.await(t, at, "failover_outage  berlin/a")
	if got := answer(t, s.at, "app.example.lan."); strings.Join(got, " ") != "127.1.0.12" {
		t.Errorf("berlin/a is out, and DNS gives %v", got)
	}
	s.press("s")
	at = s.await(t, at, "berlin/a ")
	s.press("1")
	at = s.await(t, at, "berlin/a was started")
	s.await(t, at, "failover_failback  berlin/a")
	if got := answer(t, s.at, "x.apps.example.lan."); len(got) != 2 {
		t.Errorf("berlin/a is back, and DNS gives %v", got)
	}
	s.press("q")
	s.end()
}

// If this fails, the demo shows the opposite of what it is for: a site that is
// cut off loses its answers. Or it hangs when it is ended meanwhile.
func TestSiteIsCutOff(t *testing.T) {
	s := start(t, true)
	at := s.await(t, 0, "Keys")
	s.press("b")
	at = s.await(t, at, "berlin is cut off")
	at = s.await(t, at, "site_down  berlin")
	if got := answer(t, s.at, "app.example.lan."); len(got) != 2 {
		t.Errorf("berlin cannot be seen, and DNS gives %v", got)
	}
	// A client of hamburg, through its own resolver.
	if got := answer(t, s.resolver("127.2.0.1"), "app.example.lan."); strings.Join(got, " ") != "127.2.0.11" {
		t.Errorf("the resolver of hamburg gives %v", got)
	}
	s.press("b")
	at = s.await(t, at, "berlin is reachable")
	at = s.await(t, at, "site_up  berlin")
	s.press("r")
	at = s.await(t, at, "resolver_down")
	s.press("bh") // both cut, and the resolver deaf
	s.await(t, at, "hamburg is cut off")
	s.press("\x04")
	s.end()
	if text := s.text.String(); strings.Contains(text, "event=") {
		t.Errorf("an event is told twice:\n%s", text)
	}
}

// If this fails, keys that are pressed again and again, or none that there is,
// break the demo.
func TestKeysAgainAndAgain(t *testing.T) {
	s := start(t, true)
	at := s.await(t, 0, "Keys")
	for range 30 {
		s.press("1 2\n3\n4 bhrBHR\n")
	}
	s.press("\x1b[A") // an arrow
	s.press("?")
	s.await(t, at, "Keys") // the help
	s.press("1")
	_ = s.keys.Close() // Ctrl-D where keys come with Enter
	s.end()
}

// If this fails, the address that the demo prints of its API leads nowhere, or may
// not be used for what the demo is there for.
func TestAPI(t *testing.T) {
	s := start(t, false)
	s.await(t, 0, "until it is sent SIGINT or SIGTERM")
	s.mu.Lock()
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(s.text.String())
	s.mu.Unlock()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Post(url+"api/v1/commands", "application/json", strings.NewReader(`{"verb": "pause", "site": "berlin"}`))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("a command over %s: %s", url, res.Status)
	}
	s.stop()
	s.end()
}

// If this fails, the demo does not run, or not end, where there is no terminal:
// as a service, in a container, in a test.
func TestWithoutTerminal(t *testing.T) {
	s := start(t, false)
	s.await(t, 0, "until it is sent SIGINT or SIGTERM")
	if got := answer(t, s.at, "app.example.lan."); len(got) != 2 {
		t.Errorf("DNS gives %v", got)
	}
	s.stop()
	s.end()
}

// If this fails, the node that reports by itself does not, or goes on when it was
// stopped.
func TestHeartbeat(t *testing.T) {
	s := start(t, true)
	at := s.await(t, 0, "Keys")
	for up := false; !up; {
		s.press("s")
		from := s.await(t, at, "hamburg/b ")
		s.await(t, from, "leipzig/b ")
		s.mu.Lock()
		up = strings.Contains(s.text.String()[from:], "Its work: 4 sessions, load 0.30")
		s.mu.Unlock()
		at = from
	}
	s.press("4")
	s.await(t, at, "hamburg/b was stopped: no report comes any more")
	s.press("q")
	s.end()
}

// If this fails, the demo needs a machine on which nothing else runs.
func TestPortsInUse(t *testing.T) {
	for _, x := range []struct{ network, addr string }{
		{"tcp", "127.2.0.12:8080"}, {"udp", "127.2.0.1:5300"},
	} {
		if x.network == "tcp" {
			if ln, err := net.Listen("tcp", x.addr); err == nil {
				defer ln.Close()
			}
		} else if pc, err := net.ListenPacket("udp", x.addr); err == nil {
			defer pc.Close()
		}
	}
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	d := &demo{opt: Options{DNS: netip.MustParseAddrPort(pc.LocalAddr().String())}, screen: &screen{w: io.Discard}}
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if d.opt.DNS.Port() != 0 {
		t.Errorf("the port of DNS is taken, and stays %v", d.opt.DNS)
	}
	if got := d.nodes[0].addr.Port(); got == webPort || got == 0 {
		t.Errorf("one of the nodes' ports is taken, and they use %d", got)
	}
}
