package app

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/sites"
)

// Run these with -benchtime=1x: each makes its own number of trials.

// trials is how many decisions a figure is made of.
const trials = 1000

// fleet is one site with many nodes, each alone with one that never fails in a
// pool, so that each is a decision of its own.
type fleet struct {
	*world
	*running
	nodes []*tcpNode
	sure  netip.Addr
}

type tcpNode struct {
	at   netip.AddrPort
	host string
	ln   net.Listener
}

func (n *tcpNode) on(b *testing.B) {
	b.Helper()
	ln, err := net.Listen("tcp", n.at.String())
	if err != nil {
		b.Fatal(err)
	}
	n.ln = ln
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
}

func newFleet(b *testing.B, count int, settings string) *fleet {
	b.Helper()
	f := &fleet{world: newWorld(b, "berlin")}
	p := f.sites[0]
	f.sure = p.host(200)
	var nodes, pools, services strings.Builder
	fmt.Fprintf(&nodes, "      - {name: sure, addresses: [%s]}\n", f.sure)
	sure := &tcpNode{at: netip.AddrPortFrom(f.sure, f.web)}
	sure.on(b)
	b.Cleanup(func() { _ = sure.ln.Close() })
	for i := range count {
		n := &tcpNode{at: netip.AddrPortFrom(p.host(byte(20+i)), f.web), host: fmt.Sprintf("n%d.example.lan", i)}
		n.on(b)
		b.Cleanup(func() { _ = n.ln.Close() })
		f.nodes = append(f.nodes, n)
		fmt.Fprintf(&nodes, "      - {name: n%d, addresses: [%s]}\n", i, n.at.Addr())
		fmt.Fprintf(&pools, "      - {name: p%d, nodes: [n%d, sure]}\n", i, i)
		fmt.Fprintf(&services, "  - {hosts: [%s], pool: p%d}\n", n.host, i)
	}
	f.write(fmt.Sprintf(`instance: bench
state: {path: state}
dns:
  listen: ["127.0.0.1:0"]
  default_site: berlin
  zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A 127.0.0.1"]}]
defaults:
%s  probes: [{type: tcp, port: %d}]
sites:
  - name: berlin
    resolver: %q
    nodes:
%s    pools:
%sservices:
%s`, settings, f.web, netip.AddrPortFrom(p.host(1), f.dns), nodes.String(), pools.String(), services.String()))
	f.opt.Log = slog.New(slog.DiscardHandler)
	f.running = f.start()
	f.settled()
	return f
}

// client asks over one UDP socket.
type client struct {
	conn net.Conn
	buf  []byte
}

func dial(b testing.TB, at netip.AddrPort) *client {
	b.Helper()
	conn, err := net.Dial("udp", at.String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &client{conn, make([]byte, 1500)}
}

// has says whether a name has an address at the moment.
func (c *client) has(b testing.TB, host string, addr netip.Addr) bool {
	query, err := new(dns.Msg).SetQuestion(host+".", dns.TypeA).Pack()
	if err != nil {
		b.Error(err)
	}
	for {
		if _, err = c.conn.Write(query); err == nil {
			_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
			var n int
			if n, err = c.conn.Read(c.buf); err == nil {
				return bytes.Contains(c.buf[:n], addr.AsSlice())
			}
		}
	}
}

// wait asks every millisecond until a name has an address or has it no more.
func (c *client) wait(b testing.TB, host string, addr netip.Addr, has bool) {
	limit := time.Now().Add(patience)
	for tick := time.NewTicker(time.Millisecond); c.has(b, host, addr) != has; <-tick.C {
		if time.Now().After(limit) {
			b.Errorf("%s does not change in time", host)
			return
		}
	}
}

// now asks without a pause until a name does not have an address any more.
func (c *client) now(b testing.TB, host string, addr netip.Addr) {
	limit := time.Now().Add(patience)
	for c.has(b, host, addr) {
		if time.Now().After(limit) {
			b.Fatalf("%s keeps %s", host, addr)
		}
	}
}

// report gives figures of a set of times.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))]) / 1e6 }
	b.ReportMetric(at(0.5), "ms-median")
	b.ReportMetric(at(0.99), "ms-p99")
	b.ReportMetric(at(1), "ms-max")
	b.ReportMetric(0, "ns/op")
}

// each runs trials over the fleet's nodes at once and collects their times.
func (f *fleet) each(b *testing.B, trial func(*client, *tcpNode, int) time.Duration) []time.Duration {
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	for i, n := range f.nodes {
		c := dial(b, f.at)
		all.Go(func() {
			for range trials / len(f.nodes) {
				d := trial(c, n, i)
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
				n.on(b)
				c.wait(b, n.host, n.at.Addr(), true)
			}
		})
	}
	all.Wait()
	return took
}

// BenchmarkRefusedFastest is from the moment at which a port refuses to the
// answer without it, with the fastest settings, confirmation included.
func BenchmarkRefusedFastest(b *testing.B) {
	for b.Loop() {
		f := newFleet(b, 20, "  threshold: 0s\n  grace: 0s\n  probe_interval: 200ms\n  probe_timeout: 150ms\n")
		report(b, f.each(b, func(c *client, n *tcpNode, _ int) time.Duration {
			begun := time.Now()
			_ = n.ln.Close()
			c.wait(b, n.host, n.at.Addr(), false)
			return time.Since(begun)
		}))
		_ = f.stopped()
	}
}

// BenchmarkDeadlineToAnswer is from a node's deadline to the answer without it,
// with the default settings at a tenth of their times.
func BenchmarkDeadlineToAnswer(b *testing.B) {
	for b.Loop() {
		f := newFleet(b, 100, "  threshold: 3s\n  grace: 0s\n  probe_interval: 500ms\n  probe_timeout: 200ms\n")
		report(b, f.each(b, func(c *client, n *tcpNode, i int) time.Duration {
			_ = n.ln.Close()
			deadline := f.deadline(i + 1)
			c.wait(b, n.host, n.at.Addr(), false)
			return time.Since(deadline)
		}))
		_ = f.stopped()
	}
}

// deadline waits until a node fails, and gives its deadline.
func (f *fleet) deadline(node int) time.Time {
	for tick := time.NewTicker(200 * time.Millisecond); ; <-tick.C {
		st, err := f.Status(context.Background())
		if err != nil {
			f.running.t.Error(err)
			return time.Now()
		}
		if n := st.Sites[0].Nodes[node]; n.Word == sites.WordFailing && !n.Next.IsZero() {
			return n.Next
		}
	}
}

// big is a world of many nodes where nothing answers and nothing is decided.
func big(b testing.TB, places, nodes int) *world {
	b.Helper()
	w := &world{t: b}
	var err error
	if w.dir, err = os.MkdirTemp("", "dnsteer-big-"); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(w.dir) })
	w.opt = Options{ConfigPath: filepath.Join(w.dir, "conf"), Log: slog.New(slog.DiscardHandler)}
	w.dns = daemontest.Port(b)
	if err := os.Mkdir(w.opt.ConfigPath, 0o700); err != nil {
		b.Fatal(err)
	}
	put := func(name, text string) {
		b.Helper()
		if err := os.WriteFile(filepath.Join(w.opt.ConfigPath, name+".yaml"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, `instance: big
state: {path: ../state}
dns:
  listen: ["127.0.0.1:%d"]
  zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A 127.0.0.1"]}]
defaults:
  threshold: 60m
  probe_interval: 10s
  probes: [{type: tcp, port: 9}]
`, w.dns)
	put("all", text.String())
	for i := range places { // a file for each site: one file has its limits
		var services strings.Builder
		text.Reset()
		text.WriteString("sites:\n")
		fmt.Fprintf(&text, "  - name: s%d\n    resolver: 127.%d.%d.1\n    nodes:\n", i, 10+i/200, i%200)
		for j := range nodes {
			fmt.Fprintf(&text, "      - {name: n%d, addresses: [127.%d.%d.%d]}\n", j, 10+i/200, i%200, 10+j)
		}
		text.WriteString("    pools:\n")
		for j := range nodes {
			fmt.Fprintf(&text, "      - {name: p%d, nodes: [n%d, n%d]}\n", j, j, (j+1)%nodes)
			fmt.Fprintf(&services, "  - {hosts: [h%d.s%d.example.lan], sites: [s%d], pool: p%d}\n", j, i, i, j)
		}
		put(fmt.Sprintf("s%d", i), text.String()+"services:\n"+services.String())
	}
	return w
}

// change writes another line in place of one of the first file of a big world.
func (w *world) change(from, to string) {
	w.t.Helper()
	path := filepath.Join(w.opt.ConfigPath, "all.yaml")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// sizes are those of the figures that are asked for.
var sizes = []struct{ places, nodes int }{{10, 100}, {100, 100}}

// BenchmarkStart is from the start of the process to its first answer, with
// stored state.
func BenchmarkStart(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("nodes=%d", size.places*size.nodes), func(b *testing.B) {
			w := big(b, size.places, size.nodes)
			r := w.start()
			first := r.cfg.Load().Sites.Sites[0].Nodes[0].Addresses[0]
			_ = r.stopped()
			c := dial(b, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), w.dns))
			var took []time.Duration
			for range 7 {
				begun := time.Now()
				ended := make(chan *process)
				go func() { ended <- w.spawn() }()
				c.waitUp(b, "h0.s0.example.lan", first)
				took = append(took, time.Since(begun))
				(<-ended).kill()
			}
			report(b, took)
		})
	}
}

// waitUp asks every millisecond, also while nobody listens.
func (c *client) waitUp(b testing.TB, host string, addr netip.Addr) {
	query, err := new(dns.Msg).SetQuestion(host+".", dns.TypeA).Pack()
	if err != nil {
		b.Fatal(err)
	}
	limit := time.Now().Add(patience)
	for tick := time.NewTicker(time.Millisecond); time.Now().Before(limit); <-tick.C {
		_, _ = c.conn.Write(query)
		_ = c.conn.SetReadDeadline(time.Now().Add(2 * time.Millisecond))
		if n, err := c.conn.Read(c.buf); err == nil && bytes.Contains(c.buf[:n], addr.AsSlice()) {
			return
		}
	}
	b.Error("there is no answer in time")
}

// BenchmarkReload is a change of one line, from the request to its end; held is
// how long the decision loop does nothing else.
func BenchmarkReload(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("nodes=%d", size.places*size.nodes), func(b *testing.B) {
			w := big(b, size.places, size.nodes)
			r := w.start()
			var took []time.Duration
			held := time.Duration(0)
			for i := range 15 {
				w.change(fmt.Sprintf("threshold: %dm", 60+i), fmt.Sprintf("threshold: %dm", 61+i))
				done := make(chan struct{})
				longest := make(chan time.Duration)
				go func() {
					var d time.Duration
					for {
						begun := time.Now()
						if err := r.Healthy(context.Background()); err != nil {
							b.Error(err)
						}
						d = max(d, time.Since(begun))
						select {
						case <-done:
							longest <- d
							return
						case <-time.After(time.Millisecond):
						}
					}
				}()
				begun := time.Now()
				if _, err := r.Reload(context.Background()); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
				close(done)
				held = max(held, <-longest)
			}
			report(b, took)
			b.ReportMetric(float64(held)/1e6, "ms-held")
			_ = r.stopped()
		})
	}
}

// BenchmarkVerdictToAnswer is from a decision to the answer that a client gets,
// with as many names as nodes: an operator's command stands for the verdict.
func BenchmarkVerdictToAnswer(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("nodes=%d", size.places*size.nodes), func(b *testing.B) {
			w := big(b, size.places, size.nodes)
			r := w.start()
			c := dial(b, r.at)
			cfg := &r.cfg.Load().Sites
			var took []time.Duration
			for i := range min(trials, size.places*(size.nodes-1)) {
				s := &cfg.Sites[i%size.places]
				n := &s.Nodes[i/size.places]
				host := fmt.Sprintf("h%d.%s.example.lan", i/size.places, s.Name)
				command := sites.Command{Verb: sites.Maintenance, Site: s.Name, Node: n.Name, Force: true}
				begun := time.Now()
				if err := r.loop.do(context.Background(), func() { r.loop.command(&command) }); err != nil {
					b.Fatal(err)
				}
				c.now(b, host, n.Addresses[0])
				took = append(took, time.Since(begun))
			}
			report(b, took)
			_ = r.stopped()
		})
	}
}

// BenchmarkMemoryAtRest is the memory of a process that has probed everything
// several times.
func BenchmarkMemoryAtRest(b *testing.B) {
	for _, size := range []struct{ places, nodes int }{{10, 4}, {100, 100}} {
		b.Run(fmt.Sprintf("nodes=%d", size.places*size.nodes), func(b *testing.B) {
			w := big(b, size.places, size.nodes)
			w.change("probe_interval: 10s", "probe_interval: 5s")
			p := w.spawn()
			defer p.kill()
			time.Sleep(20 * time.Second)
			p.reportMemory(b)
			b.ReportMetric(0, "ns/op")
		})
	}
}

func (p *process) reportMemory(b *testing.B) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			b.ReportMetric(kb/1024, "MiB-rss")
		}
		if n, _ := fmt.Sscanf(line, "RssAnon: %f kB", &kb); n == 1 {
			b.ReportMetric(kb/1024, "MiB-anon")
		}
	}
}
