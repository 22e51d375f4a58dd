package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/sites"
)

// patience is how long a test waits for what must come, on a machine that is busy too.
const patience = 2 * time.Minute

// world is what the controller steers: sites of real sockets on loopback, and a
// folder with its configuration.
type world struct {
	t     testing.TB
	dir   string
	web   uint16 // the port of every node
	dns   uint16 // of every resolver
	sites []*place
	opt   Options
}

// place is a site whose nodes and resolver can be cut off: they then take what
// comes and say nothing, as behind a line that is down.
type place struct {
	name     string
	net      netip.Addr // 127.a.b.0
	cut      atomic.Bool
	nodes    map[string]*server
	resolver []*dns.Server
}

// server is a node: a web server that can be off.
type server struct {
	at   netip.AddrPort
	cut  *atomic.Bool
	http *http.Server
}

// worlds keeps the addresses of worlds apart.
var worlds atomic.Uint32

func newWorld(t testing.TB, names ...string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "dnsteer-app-") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	number := worlds.Add(1)
	w.web, w.dns = daemontest.Port(t), daemontest.Port(t)
	for i, name := range names {
		p := &place{name: name, nodes: map[string]*server{}, net: netip.AddrFrom4([4]byte{127, 100 + byte(number), byte(i + 1), 0})}
		w.sites = append(w.sites, p)
		p.resolve(t, netip.AddrPortFrom(p.host(1), w.dns))
		for j, node := range []string{"a", "b"} {
			p.nodes[node] = &server{at: netip.AddrPortFrom(p.host(byte(11+j)), w.web), cut: &p.cut}
			p.nodes[node].on(t)
		}
		t.Cleanup(p.close)
	}
	w.opt = Options{ConfigPath: filepath.Join(dir, "dnsteer.yaml"), Log: logTo(t), watchEvery: 50 * time.Millisecond}
	w.write(w.config())
	return w
}

func logTo(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func (p *place) host(n byte) netip.Addr {
	a := p.net.As4()
	a[3] = n
	return netip.AddrFrom4(a)
}

func (p *place) resolve(t testing.TB, at netip.AddrPort) {
	t.Helper()
	pc, err := net.ListenPacket("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		if !p.cut.Load() {
			_ = w.WriteMsg(new(dns.Msg).SetReply(q))
		}
	})
	for _, s := range []*dns.Server{{PacketConn: pc, Handler: handler}, {Listener: ln, Handler: handler}} {
		up := make(chan struct{})
		s.NotifyStartedFunc = func() { close(up) }
		go func() { _ = s.ActivateAndServe() }()
		<-up
		p.resolver = append(p.resolver, s)
	}
}

func (p *place) close() {
	for _, s := range p.nodes {
		s.off()
	}
	for _, s := range p.resolver {
		_ = s.Shutdown()
	}
}

func (s *server) on(t testing.TB) {
	t.Helper()
	ln, err := net.Listen("tcp", s.at.String())
	if err != nil {
		t.Fatal(err)
	}
	s.http = &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if s.cut.Load() {
			<-r.Context().Done()
		}
	})}
	go func(h *http.Server) { _ = h.Serve(ln) }(s.http)
}

// off makes its port refuse.
func (s *server) off() {
	if s.http != nil {
		_ = s.http.Close()
		s.http = nil
	}
}

// quick are settings with which things happen soon. What is off refuses at once; only
// what is cut off is waited for, and a node is not that because the machine is busy.
const quick = `defaults:
  threshold: 300ms
  grace: 500ms
  probe_interval: 100ms
  probe_timeout: 2s
  site_threshold: 500ms
`

// config is the usual configuration; the parts after the defaults can be told
// otherwise by change.
func (w *world) config(change ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "instance: test\nstate: {path: state}\ndns:\n  listen: [\"127.0.0.1:0\"]\n  default_site: %s\n", w.sites[0].name)
	b.WriteString("  zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: [\"ns1 300 IN A 127.0.0.1\"]}]\n")
	b.WriteString(quick)
	fmt.Fprintf(&b, "  probes: [{type: http, url: \"http://{address}:%d/\"}]\nsites:\n", w.web)
	for _, p := range w.sites {
		fmt.Fprintf(&b, "  - name: %s\n    resolver: %q\n    clients: [%s/24]\n    nodes:\n", p.name, netip.AddrPortFrom(p.host(1), w.dns), p.net)
		for i, name := range []string{"a", "b"} {
			fmt.Fprintf(&b, "      - {name: %s, addresses: [%s]}\n", name, p.host(byte(11+i)))
		}
		b.WriteString("    pools: [{name: turned, nodes: [b]}]\n")
	}
	b.WriteString("services:\n  - {hosts: [app.example.lan], ttl: 10s}\n")
	return strings.NewReplacer(change...).Replace(b.String())
}

// write replaces the configuration, as an editor does that writes beside.
func (w *world) write(text string) {
	w.t.Helper()
	beside := filepath.Join(w.dir, "beside")
	if err := os.WriteFile(beside, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(beside, w.opt.ConfigPath); err != nil {
		w.t.Fatal(err)
	}
}

// running is a controller in this process.
type running struct {
	*App
	t      testing.TB
	stopIt context.CancelFunc
	ended  chan struct{}
	err    error
	events <-chan sites.Event
	seen   []sites.Event
	at     netip.AddrPort
	once   sync.Once
}

// start runs the controller until the test ends or stops it.
func (w *world) start() *running {
	w.t.Helper()
	r, err := w.try()
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// try is start for a controller that may refuse.
func (w *world) try() (*running, error) {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{t: w.t, stopIt: stop, ended: make(chan struct{})}
	ready := make(chan *App, 1)
	opt := w.opt
	opt.Ready = func(a *App) { ready <- a }
	go func() {
		defer close(r.ended)
		r.err = Run(ctx, opt)
	}()
	select {
	case r.App = <-ready:
	case <-r.ended:
		stop()
		return nil, r.err
	case <-time.After(patience):
		w.t.Fatal("the controller is not ready")
	}
	w.t.Cleanup(func() { _ = r.stopped() })
	var err error
	if r.events, err = r.Follow(ctx, 0); err != nil {
		w.t.Fatal(err)
	}
	if list := r.names.addresses(); len(list) > 0 {
		r.at = list[0]
	}
	return r, nil
}

// stopped stops it and gives what Run gave.
func (r *running) stopped() error {
	r.t.Helper()
	r.once.Do(func() {
		r.stopIt()
		select {
		case <-r.ended:
		case <-time.After(patience):
			r.t.Error("the controller does not stop")
		}
	})
	return r.err
}

// await reads events until one is as asked, "kind" or "kind subject", and gives
// it.
func (r *running) await(what string) sites.Event {
	r.t.Helper()
	kind, subject, _ := strings.Cut(what, " ")
	limit := time.After(patience)
	for {
		select {
		case e, ok := <-r.events:
			if !ok {
				r.t.Fatalf("the events ended before %q; so far %v", what, r.kinds())
			}
			r.seen = append(r.seen, e)
			if string(e.Kind) == kind && (subject == "" || e.Subject() == subject) {
				return e
			}
		case <-limit:
			r.t.Fatalf("%q has not come; so far %v", what, r.kinds())
		}
	}
}

// kinds lists the events that were read.
func (r *running) kinds() (list []string) {
	for i := range r.seen {
		list = append(list, strings.TrimSpace(string(r.seen[i].Kind)+" "+r.seen[i].Subject()))
	}
	return list
}

// asks gives the addresses that a client of the site gets over UDP, sorted, or
// the error that it gets.
func (r *running) asks(p *place, host string) string {
	r.t.Helper()
	client := dns.Client{Timeout: patience, Dialer: &net.Dialer{LocalAddr: &net.UDPAddr{IP: p.host(200).AsSlice()}}}
	reply, _, err := client.Exchange(new(dns.Msg).SetQuestion(host+".", dns.TypeA), r.at.String())
	if err != nil {
		return err.Error()
	}
	if reply.Rcode != dns.RcodeSuccess {
		return dns.RcodeToString[reply.Rcode]
	}
	var list []string
	for _, rr := range reply.Answer {
		if a, ok := rr.(*dns.A); ok {
			list = append(list, a.A.String())
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// all are the addresses of the nodes of a site, as asks gives them.
func (p *place) all(hosts ...byte) string {
	var list []string
	for _, h := range hosts {
		list = append(list, p.host(h).String())
	}
	return strings.Join(list, " ")
}

// settled waits until every node has answered.
func (r *running) settled() {
	r.t.Helper()
	r.until("every node is up", func() bool {
		st, err := r.Status(context.Background())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, s := range st.Sites {
			for _, n := range s.Nodes {
				if n.Word != sites.WordUp {
					return false
				}
			}
		}
		return true
	})
}

// until asks again and again, for what no event tells of.
func (r *running) until(what string, ok func() bool) {
	r.t.Helper()
	limit := time.Now().Add(patience)
	for tick := time.NewTicker(5 * time.Millisecond); !ok(); <-tick.C {
		if time.Now().After(limit) {
			r.t.Fatalf("it does not come to be that %s", what)
		}
	}
}
