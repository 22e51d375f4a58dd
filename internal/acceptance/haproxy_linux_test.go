package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// longest bounds each wait for what proxies, probes and the controller do together.
const longest = 3 * time.Minute

// proxies are two nodes of a site: HAProxys on loopback, with a server behind
// them that streams for as long as it is listened to.
type proxies struct {
	t         *testing.T
	dir       string
	web, page string
	app       *httptest.Server
	running   map[string]*exec.Cmd
	carried   atomic.Int64
	listening sync.WaitGroup
}

func newProxies(t *testing.T, dir string) *proxies {
	p := &proxies{t: t, dir: dir, web: fmt.Sprint(daemontest.Port(t)), page: fmt.Sprint(daemontest.Port(t)), running: map[string]*exec.Cmd{}}
	p.app = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 16<<10)
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(50 * time.Millisecond): // some 330 kB/s
			}
		}
	}))
	t.Cleanup(func() {
		for node := range p.running {
			p.kill(node)
		}
		p.listening.Wait()
		p.app.Close()
	})
	return p
}

// start starts the HAProxy of a node's address.
func (p *proxies) start(addr string) {
	p.t.Helper()
	file := filepath.Join(p.dir, "haproxy-"+addr+".cfg")
	text := fmt.Sprintf(`
global
  maxconn 200
defaults
  mode http
  option contstats
  timeout connect 2s
  timeout client 2m
  timeout server 2m
frontend web
  bind %[1]s:%[2]s
  default_backend app
backend app
  server s1 %[3]s maxconn 100
listen stats
  bind %[1]s:%[4]s
  stats enable
  stats uri /stats
`, addr, p.web, p.app.Listener.Addr(), p.page)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(daemontest.Path(p.t, "haproxy"), "-db", "-f", file)
	cmd.Stderr = p.t.Output()
	if err := cmd.Start(); err != nil {
		p.t.Fatalf("HAProxy (install the package haproxy): %v", err)
	}
	p.running[addr] = cmd
	within(p.t, "HAProxy listens", func() bool {
		conn, err := net.Dial("tcp", net.JoinHostPort(addr, p.page))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

func (p *proxies) kill(addr string) {
	_ = p.running[addr].Process.Signal(syscall.SIGKILL)
	_ = p.running[addr].Wait()
	delete(p.running, addr)
}

// listen has clients listen to the streams of an address until the function that
// is returned is called with how many are to stop.
func (p *proxies) listen(addr string, clients int) (stop func(int)) {
	var ends []context.CancelFunc
	for range clients {
		ctx, end := context.WithCancel(p.t.Context())
		ends = append(ends, end)
		p.listening.Go(func() {
			tr := &http.Transport{DisableKeepAlives: true}
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(addr, p.web), nil)
			if err != nil {
				return
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			n, _ := io.Copy(io.Discard, resp.Body)
			p.carried.Add(n)
		})
	}
	return func(n int) {
		for _, end := range ends[:n] {
			end()
		}
		ends = ends[n:]
	}
}

// within waits until something is so, and gives how long that took.
func within(t *testing.T, what string, ok func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !ok() {
		if time.Since(start) > longest {
			t.Fatalf("not within %s: %s", longest, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(start)
}

// seen is what of a status the test looks at.
type seen struct {
	Sites []struct {
		Nodes []struct {
			Name, Word string
			Figures    struct {
				Sessions       *int64
				BytesPerSecond *float64 `json:"bytes_per_second"`
				Load           *float64
			}
		}
		Pools []struct {
			PutOff *struct{ To, Text string } `json:"put_off"`
		}
	}
}

// Under load, as with the proxies that most users run: a node that is taken out
// must lose its clients before its owner is told that it may be switched off;
// the way back must wait for the clients of the other; and no outage may wait.
func TestHAProxyUnderLoad(t *testing.T) {
	const a, b, resolver = "127.0.88.11", "127.0.88.12", "127.0.88.1"
	dir, port := folder(t), fmt.Sprint(daemontest.Port(t))
	p := newProxies(t, dir)
	p.start(a)
	p.start(b)
	ask := serveResolver(t, resolver)
	path := filepath.Join(dir, "dnsteer.yaml")
	config := fmt.Sprintf(`
state: {path: state}
dns:
  listen: ["127.0.0.1:%s"]
  zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A 127.0.0.1"]}]
sites:
  - name: berlin
    mode: active_passive
    resolver: "%s"
    probe_interval: 250ms
    probe_timeout: 2s
    threshold: 2s
    grace: 2s
    ttl: 2s
    ttl_unsettled: 1s
    guard: {bytes_per_second: 32k, quiet: 2s, at_most: 10m}
    probes: [{type: haproxy, url: "http://{address}:%s/stats"}]
    nodes: [{name: a, addresses: [%s]}, {name: b, addresses: [%s]}]
services: [{hosts: [app.example.lan]}]
`, port, ask, p.page, a, b)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	server := run(t, command(t, dir, "serve", "--config", path))
	server.await("dnsteer serves")
	answered := func() string { return strings.Join(addresses(t, "127.0.0.1:"+port, "app.example.lan"), " ") }
	status := func() (s seen) {
		t.Helper()
		out, err := command(t, dir, "status", "--config", path, "-o", "json").Output()
		if err != nil {
			t.Fatalf("status: %v", err)
		}
		if err := json.Unmarshal(out, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	sessions := func(node int) int64 {
		if n := status().Sites[0].Nodes[node].Figures.Sessions; n != nil {
			return *n
		}
		return -1
	}
	within(t, "a is answered", func() bool { return answered() == a })

	const clients = 20
	stopA := p.listen(a, clients)
	within(t, "a has its clients", func() bool { return sessions(0) == clients })
	within(t, "what a carries is known", func() bool {
		f := status().Sites[0].Nodes[0].Figures.BytesPerSecond
		return f != nil && *f > 1_000_000
	})
	f := status().Sites[0].Nodes[0].Figures
	t.Logf("under load: %d sessions, %.1f MB/s, load %.2f", *f.Sessions, *f.BytesPerSecond/1e6, *f.Load)

	start := time.Now()
	drain := run(t, command(t, dir, "maintenance", "berlin/a", "--drain", "10m", "--reason", "new kernel", "--config", path))
	drain.await(strconv.Itoa(clients) + ` sessions are still open on berlin/a`)
	t.Logf("drain: a left DNS and was told of after %s", time.Since(start).Round(10*time.Millisecond))
	if got := answered(); got != b {
		t.Errorf("a is in maintenance, and %s is answered", got)
	}
	stopB := p.listen(b, 5)
	stopA(clients - 3)
	drain.await(`3 sessions are still open on berlin/a`)
	stopped := time.Now()
	stopA(3)
	drain.stopped()
	t.Logf("drain: the last client left, and the command ended %s later; in all %s", time.Since(stopped).Round(10*time.Millisecond), time.Since(start).Round(10*time.Millisecond))

	tell := func(args ...string) string {
		t.Helper()
		out, err := command(t, dir, append(args, "--config", path)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	within(t, "b has its clients", func() bool { return sessions(1) == 5 })
	tell("maintenance", "berlin/a", "--end")
	within(t, "the way back is put off", func() bool { return status().Sites[0].Pools[0].PutOff != nil })
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if got := answered(); got != b {
			t.Fatalf("b is busy, and %s is answered", got)
		}
	}
	if out := tell("explain", "berlin"); !strings.Contains(flat([]string{out}), "failback waits: berlin/b carries") {
		t.Errorf("explain says\n%s", out)
	}
	stopB(5)
	t.Logf("guard: b was busy for 5s more and kept; %s after its last client had left a was answered (quiet 2s)",
		within(t, "a is answered again", func() bool { return answered() == a }).Round(10*time.Millisecond))

	stopA = p.listen(a, clients)
	within(t, "a has its clients", func() bool { return sessions(0) == clients })
	p.kill(a)
	t.Logf("outage of the busy a: b was answered after %s (threshold 2s)", within(t, "b is answered", func() bool { return answered() == b }).Round(10*time.Millisecond))
	stopA(clients)
	stopB = p.listen(b, 5)
	p.start(a)
	within(t, "the way back is put off", func() bool { return status().Sites[0].Pools[0].PutOff != nil })
	p.kill(b)
	t.Logf("outage of the busy b while the guard holds a back: a was answered after %s", within(t, "a is answered", func() bool { return answered() == a }).Round(10*time.Millisecond))
	stopB(5)

	events := tell("events", "-o", "json")
	for _, kind := range []string{"move_put_off", "move_put_off_ended", "failover_maintenance", "failover_outage"} {
		if !strings.Contains(events, `"`+kind+`"`) {
			t.Errorf("no event %s in\n%s", kind, events)
		}
	}
	server.signal(syscall.SIGTERM)
	server.stopped()
	p.listening.Wait()
	t.Logf("clients were sent %.1f MB in all", float64(p.carried.Load())/1e6)
}

// serveResolver answers every question on an address, and gives it with its port.
func serveResolver(t *testing.T, addr string) string {
	t.Helper()
	pc, err := net.ListenPacket("udp", net.JoinHostPort(addr, "0"))
	if err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{})
	s := &dns.Server{PacketConn: pc, NotifyStartedFunc: func() { close(up) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetReply(q))
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.ActivateAndServe()
	}()
	<-up
	t.Cleanup(func() {
		_ = s.Shutdown()
		<-done
	})
	return pc.LocalAddr().String()
}
