// Package routersim is a stand-in for a router that runs RouterOS, as far as
// static DNS goes: the binary API with and without TLS, /ip/dns/static with what
// it takes, refuses and gives back in each version, and the answers to DNS
// queries that follow from it. It fails in the ways in which routers fail.
//
// It is there for tests and for the demonstration. It listens on loopback only.
package routersim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Options say what the router is. The zero value is RouterOS 7.24.4 with the
// user dnsteer, whose password is "secret".
type Options struct {
	Version            string // "7.24.4"
	Identity           string // "router"
	Username, Password string
	// NoCertificate: api-ssl has none, and no client can connect to it.
	NoCertificate bool
	// RefuseDNS is allow-remote-requests=no: nobody gets an answer.
	RefuseDNS bool
	// MaxSessions of the API; 20 where it is 0.
	MaxSessions int
	// Pace is how long requests take; none where it is zero.
	Pace Pace
	// DNS is where it answers, and its API beside it on free ports; a free port of
	// 127.0.0.1 where it is not set.
	DNS netip.AddrPort
	// UsualPorts: its API is on 8728 and, with TLS, 8729.
	UsualPorts bool
	// Lost, while its line is cut, gives what ends when it can be reached again, and
	// nil otherwise. Where it is not set the line is never cut.
	Lost func() <-chan struct{}
}

// Pace is how long requests take: Fast each for the first Burst, then Slow, until
// nothing was asked for a second.
type Pace struct {
	Burst      int
	Fast, Slow time.Duration
}

// RealPace is what was measured on routers.
var RealPace = Pace{Burst: 150, Fast: time.Millisecond, Slow: 20 * time.Millisecond}

// Router is one router. All of its methods may be called at any time.
type Router struct {
	o       Options
	p       profile
	cert    tls.Certificate
	wg      sync.WaitGroup
	stopped chan struct{}

	mu          sync.Mutex
	table       table
	faults      Faults
	calls       int // sentences since the faults were set
	total       int // sentences ever
	sessions    map[*session]struct{}
	listeners   [2]net.Listener // api, api-ssl
	addrs       [2]string
	dnsServers  []*dns.Server
	dnsAddr     netip.AddrPort
	upstream    Upstream
	log         []string
	logins      int
	writes      int
	woken       []string
	refuseDNS   bool
	burst       int
	lastRequest time.Time
}

// New gives a router that is not switched on.
func New(o Options) (*Router, error) {
	def := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	def(&o.Version, "7.24.4")
	def(&o.Identity, "router")
	def(&o.Username, "dnsteer")
	def(&o.Password, "secret")
	if !o.DNS.IsValid() {
		o.DNS = netip.MustParseAddrPort("127.0.0.1:0")
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = 20
	}
	r := &Router{o: o, p: profileOf(o.Version), sessions: map[*session]struct{}{}, refuseDNS: o.RefuseDNS, stopped: make(chan struct{})}
	var err error
	r.cert, err = selfSigned()
	return r, err
}

// Start begins to listen.
func (r *Router) Start(ctx context.Context) error {
	var ports [2]uint16
	if r.o.UsualPorts {
		ports = [2]uint16{8728, 8729}
	}
	for i, port := range ports {
		r.addrs[i] = netip.AddrPortFrom(r.o.DNS.Addr(), port).String()
	}
	if err := r.listenDNS(ctx); err != nil {
		return err
	}
	if err := r.listen(ctx); err != nil {
		return errors.Join(err, r.Close())
	}
	return nil
}

func (r *Router) listen(ctx context.Context) error {
	for i := range r.addrs {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", r.addr(i))
		if err != nil {
			return fmt.Errorf("simulated router: %w", err)
		}
		r.mu.Lock()
		select {
		case <-r.stopped: // it was switched off meanwhile
			r.mu.Unlock()
			return errors.Join(net.ErrClosed, l.Close())
		default:
		}
		r.listeners[i], r.addrs[i] = l, l.Addr().String()
		r.wg.Go(func() { r.accept(l, i == 1) })
		r.mu.Unlock()
	}
	return nil
}

func (r *Router) accept(l net.Listener, secure bool) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r.wg.Go(func() { r.serve(conn, secure) })
	}
}

// Close switches it off, and waits until nothing of it runs.
func (r *Router) Close() error {
	r.mu.Lock()
	select {
	case <-r.stopped:
	default:
		close(r.stopped)
	}
	servers := r.dnsServers
	r.dnsServers = nil
	r.mu.Unlock()
	r.StopService()
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.Shutdown())
	}
	r.wg.Wait()
	return errors.Join(errs...)
}

// StopService switches the API off, as a reboot does: connections end without a
// word.
func (r *Router) StopService() {
	r.deafen()
	r.DropSessions()
}

// deafen takes no more connections.
func (r *Router) deafen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, l := range r.listeners {
		if l != nil {
			_ = l.Close() // nothing is lost by it
			r.listeners[i] = nil
		}
	}
}

// Reboot ends all connections when it takes new ones again, so that nobody who
// is cut off finds it off.
func (r *Router) Reboot(ctx context.Context) error {
	r.deafen()
	err := r.listen(ctx)
	r.DropSessions()
	return err
}

// StartService switches it on again, on the same ports.
func (r *Router) StartService(ctx context.Context) error { return r.listen(ctx) }

// Addr of the API without TLS.
func (r *Router) Addr() string { return r.addr(0) }

// TLSAddr is that of the API with TLS.
func (r *Router) TLSAddr() string { return r.addr(1) }

func (r *Router) addr(i int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addrs[i]
}

// DNSAddr answers DNS over UDP and TCP.
func (r *Router) DNSAddr() netip.AddrPort { return r.dnsAddr }

// Records gives the table in its order.
func (r *Router) Records() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Record
	for _, row := range r.table.rows {
		fields := row.show(r.p)
		id := fields[".id"]
		delete(fields, ".id")
		out = append(out, Record{id, fields})
	}
	return out
}

// Log gives the lines of the router's log.
func (r *Router) Log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.log)
}

// Counts since the start.
type Counts struct {
	Calls  int // sentences that were received
	Logins int // that succeeded
	Writes int // commands that changed the table, or tried to
	Open   int // sessions
}

// Counts gives what has happened so far.
func (r *Router) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Counts{r.total, r.logins, r.writes, len(r.sessions)}
}

// Woken gives what /tool/wol was called with: "MAC interface".
func (r *Router) Woken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.woken)
}

// Do is somebody at the router's console: a command such as
// "/ip/dns/static/add" with arguments such as "name=nas.lan". It gives what the
// command returns, for add the ID.
func (r *Router) Do(command string, args ...string) (string, error) {
	words := []string{command}
	for _, a := range args {
		words = append(words, "="+a)
	}
	out := r.run(words, caller{name: "admin", via: "console"})
	ret := ""
	for _, s := range out {
		for _, w := range s {
			if s[0] == "!trap" && strings.HasPrefix(w, "=message=") {
				return "", errors.New(strings.TrimPrefix(w, "=message="))
			}
			if v, ok := strings.CutPrefix(w, "=ret="); ok {
				ret = v
			}
		}
	}
	return ret, nil
}

// AddDynamic adds a row that nobody can change, as DHCP does.
func (r *Router) AddDynamic(fields map[string]string) error {
	return r.load([]map[string]string{fields}, true)
}

// Load adds rows without a look at what is there, for large tables.
func (r *Router) Load(rows []map[string]string) error { return r.load(rows, false) }

func (r *Router) load(list []map[string]string, dynamic bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := slices.Clone(r.table.rows)
	for _, fields := range list {
		var args []pair
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			args = append(args, pair{k, fields[k]})
		}
		row, why := (*row)(nil).with(args, r.p)
		if why != "" {
			return errors.New(why)
		}
		r.table.last++
		row.id, row.dynamic = r.table.last, dynamic
		rows = append(rows, row)
	}
	r.table.rows = rows
	return nil
}
