package probes

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/sites"
)

// startHAProxy runs Debian's HAProxy on loopback until the test ends. It must be
// installed (.ci/packages).
func startHAProxy(t *testing.T, config string) {
	t.Helper()
	daemontest.Start(t, "haproxy", "-db", "-f", daemontest.File(t, filepath.Join(t.TempDir(), "haproxy.cfg"), config))
}

// until asks again and again until a check is as it should be.
func until(t *testing.T, p Prober, what string, ok func(sites.Check) bool) (c sites.Check) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if c = ask(t, p, "127.0.0.1", soon); ok(c) {
			return c
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Fatalf("never %s: %+v, figures %s", what, c, c.Figures)
	return c
}

// Held against the real proxy: its backends going down and up, a session that is
// open, and the bytes of a download that goes on must be seen as they are.
func TestHAProxyReal(t *testing.T) {
	stop := make(chan struct{})
	// Its port, which is closed for a while, is one that nobody is given by chance.
	l, err := net.Listen("tcp", daemontest.Addr(t).String())
	if err != nil {
		t.Fatal(err)
	}
	app := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stream" {
			return
		}
		chunk := make([]byte, 64<<10)
		for {
			select {
			case <-stop:
				return
			case <-r.Context().Done():
				return
			case <-time.After(10 * time.Millisecond): // some 6 MB/s
			}
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})}}
	app.Start()
	defer app.Close()
	web, page := int(daemontest.Port(t)), int(daemontest.Port(t))
	addr := app.Listener.Addr().(*net.TCPAddr)
	startHAProxy(t, fmt.Sprintf(`
global
  maxconn 100
defaults
  mode http
  option contstats
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend web
  bind 127.0.0.1:%d
  default_backend app
backend app
  server s1 127.0.0.1:%d check inter 2s fastinter 100ms downinter 100ms rise 1 fall 1 maxconn 4
listen stats
  bind 127.0.0.1:%d
  stats enable
  stats uri /stats
  stats auth probe:hush
`, web, addr.Port, page))
	p := NewHAProxy(HTTP{URL: fmt.Sprintf("http://{address}:%d/stats", page)})
	until(t, p, "unauthorized", func(c sites.Check) bool { return strings.HasPrefix(c.Text, "status 401") })
	p.Username, p.Password, p.span = "probe", "hush", 6*time.Second
	c := until(t, p, "up", func(c sites.Check) bool { return c.Outcome == sites.Up })
	if c.Text != "1 of 1 backends are up" || *c.Figures.Sessions != 0 || *c.Figures.Load != 0 {
		t.Errorf("idle: %q, %s", c.Text, c.Figures)
	}
	copied := make(chan int64)
	go func() { copied <- download(fmt.Sprintf("http://127.0.0.1:%d/stream", web)) }()
	c = until(t, p, "busy", func(c sites.Check) bool {
		b := c.Figures.BytesPerSecond
		return b != nil && *b > 100_000 && *c.Figures.Sessions == 1
	})
	if *c.Figures.Load != 0.25 {
		t.Errorf("one session of four: load %v", *c.Figures.Load)
	}
	close(stop)
	n := <-copied
	until(t, p, "quiet", func(c sites.Check) bool {
		return *c.Figures.Sessions == 0 && c.Figures.BytesPerSecond != nil && *c.Figures.BytesPerSecond == 0
	})
	list, err := parseStats(fetchStats(t, page))
	if err != nil {
		t.Fatal(err)
	}
	if s := sum(list, nil); s.bytes < float64(n) {
		t.Errorf("%.0f bytes counted, and %d came", s.bytes, n)
	}
	app.CloseClientConnections()
	app.Listener.Close()
	if c := until(t, p, "down", func(c sites.Check) bool { return c.Outcome == sites.Down }); verdict(c) != (want{sites.Down, CauseBackends}) || c.Text != "none of 1 backends is up (down: app)" {
		t.Errorf("without a server: %+v", c)
	}
	again, err := net.Listen("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(addr.Port)).String())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	until(t, p, "up again", func(c sites.Check) bool { return c.Outcome == sites.Up })
}

// download gives how many octets came; what does not come is seen by that.
func download(url string) int64 {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	n, _ := io.Copy(io.Discard, resp.Body)
	return n
}

func fetchStats(t *testing.T, port int) []byte {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/stats;csv", port), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("probe", "hush")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
