package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/benchproc"
)

// world is what the program steers: nodes that accept connections at addresses of
// loopback, a resolver for each site, and the program's files.
type world struct {
	size
	dir       string
	nodePort  uint16
	dnsPort   uint16
	httpPort  uint16
	resolvers uint16 // their port
	servers   []*dns.Server

	nodes    net.Listener // nil while all are down
	lateness *lateness
	accepted atomic.Int64
}

// node gives the address of a node, by its number.
func node(k int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 64 + byte(k>>16), byte(k >> 8), byte(k)})
}

// resolver gives the address of a site's resolver.
func resolver(site int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 32, byte(site >> 8), byte(site)})
}

func newWorld(ctx context.Context, s size) (w *world, err error) {
	w = &world{size: s, lateness: newLateness(s.nodes, s.interval())}
	if w.dir, err = os.MkdirTemp("", "benchscale-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	for _, port := range []*uint16{&w.dnsPort, &w.httpPort, &w.nodePort, &w.resolvers} {
		if *port, err = benchproc.FreePort(ctx, "0.0.0.0"); err != nil {
			return nil, err
		}
	}
	for i := range s.sites {
		if err = w.resolve(ctx, netip.AddrPortFrom(resolver(i), w.resolvers)); err != nil {
			return nil, err
		}
	}
	if err = w.up(ctx); err != nil {
		return nil, err
	}
	return w, w.write("60m")
}

// resolve answers at an address as a resolver does: that there is no such name.
func (w *world) resolve(ctx context.Context, at netip.AddrPort) error {
	var lc net.ListenConfig
	pc, err := lc.ListenPacket(ctx, "udp4", at.String())
	if err != nil {
		return err
	}
	s := &dns.Server{PacketConn: pc, Handler: dns.HandlerFunc(func(r dns.ResponseWriter, q *dns.Msg) {
		_ = r.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeNameError)) // who has gone asks no more
	})}
	begun := make(chan struct{})
	s.NotifyStartedFunc = func() { close(begun) }
	go func() { _ = s.ActivateAndServe() }() // ends with Shutdown
	<-begun
	w.servers = append(w.servers, s)
	return nil
}

// up has all nodes accept connections; down has them refuse.
func (w *world) up(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp4", fmt.Sprintf("0.0.0.0:%d", w.nodePort))
	if err != nil {
		return err
	}
	w.nodes = l
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			now := time.Now()
			w.accepted.Add(1)
			if at, err := netip.ParseAddrPort(c.LocalAddr().String()); err == nil {
				a := at.Addr().Unmap().As4()
				w.lateness.seen(int(a[1]-64)<<16|int(a[2])<<8|int(a[3]), now)
			}
			_ = c.Close() // the probe has what it came for
		}
	}()
	return nil
}

func (w *world) down() error {
	l := w.nodes
	w.nodes = nil
	return l.Close()
}

func (w *world) close() error {
	var errs []error
	if w.nodes != nil {
		errs = append(errs, w.down())
	}
	for _, s := range w.servers {
		errs = append(errs, s.Shutdown())
	}
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}

// host names a service of a pool.
func host(site, pool, n int) string {
	return fmt.Sprintf("h%d-%d.s%d.example.lan", pool, n, site)
}

// write puts the configuration into its folder, a file for each site. Every node
// has a pool, with the next one as the second, and the names are shared out evenly.
func (w *world) write(threshold string) error {
	per := w.size.nodes / w.sites
	var b strings.Builder
	fmt.Fprintf(&b, `instance: scale
state: {path: ../state}
http: {listen: "127.0.0.1:%d"}
dns:
  listen: ["127.0.0.1:%d"]
  zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A 127.0.0.1"]}]
brake: off
defaults:
  threshold: %s
  probe_interval: %s
  probes: [{type: tcp, port: %d}]
`, w.httpPort, w.dnsPort, threshold, w.interval(), w.nodePort)
	if w.targets > 0 {
		b.WriteString("targets:\n")
	}
	for i := range w.targets {
		fmt.Fprintf(&b, "  - {name: t%d, type: rfc2136, server: \"%s:1\", zone: example.lan}\n", i, resolver(i))
	}
	files := map[string]string{"all.yaml": b.String()}
	for i := range w.sites {
		b.Reset()
		fmt.Fprintf(&b, "sites:\n  - name: s%d\n    resolver: \"%s:%d\"\n", i, resolver(i), w.resolvers)
		if i < w.targets {
			fmt.Fprintf(&b, "    targets: [builtin, t%d]\n", i)
		}
		b.WriteString("    nodes:\n")
		for j := range per {
			fmt.Fprintf(&b, "      - {name: n%d, addresses: [%s]}\n", j, node(i*per+j))
		}
		b.WriteString("    pools:\n")
		for j := range per {
			fmt.Fprintf(&b, "      - {name: p%d, nodes: [n%d, n%d]}\n", j, j, (j+1)%per)
		}
		b.WriteString("services:\n")
		for j := range per {
			var hosts []string
			for n := range w.names / w.size.nodes {
				hosts = append(hosts, host(i, j, n))
			}
			fmt.Fprintf(&b, "  - {hosts: [%s], sites: [s%d], pool: p%d}\n", strings.Join(hosts, ", "), i, j)
		}
		files[fmt.Sprintf("s%d.yaml", i)] = b.String()
	}
	if err := os.MkdirAll(w.config(), 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(w.config(), name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) config() string { return filepath.Join(w.dir, "conf") }

// lateness keeps when each node was last connected to, and how much longer than
// the interval it then took to the next time.
type lateness struct {
	interval time.Duration
	mu       sync.Mutex
	last     []time.Time
	late     []time.Duration
}

func newLateness(nodes int, interval time.Duration) *lateness {
	return &lateness{interval: interval, last: make([]time.Time, nodes)}
}

func (l *lateness) seen(k int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k < 0 || k >= len(l.last) {
		return
	}
	if !l.last[k].IsZero() {
		l.late = append(l.late, max(0, now.Sub(l.last[k])-l.interval))
	}
	l.last[k] = now
}

// restart forgets what was seen.
func (l *lateness) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.last)
	l.late = l.late[:0]
}

// worst gives the 99th percentile and the most; overdue is how many nodes were not
// seen for two intervals before now.
func (l *lateness) worst(now time.Time) (p99, most time.Duration, overdue int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.last {
		if now.Sub(at) > 2*l.interval {
			overdue++
		}
	}
	return quantile(l.late, 0.99), quantile(l.late, 1), overdue
}

// quantile sorts the list and gives its value at q; 0 for an empty one.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[int(q*float64(len(list)-1))]
}
