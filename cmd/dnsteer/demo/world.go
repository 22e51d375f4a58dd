package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// node is a little HTTP server on an address of its own: a reverse proxy as far
// as the controller can tell.
type node struct {
	site *place
	name string
	addr netip.AddrPort
	// token is shown with its reports; empty for a node that is probed.
	token string

	mu     sync.Mutex
	server *http.Server // nil while it is off
}

// place is a site: nodes and a resolver. While it is cut off everything in it
// is silent, as behind a line that is down; nothing is refused.
type place struct {
	name     string
	nodes    []*node
	resolver netip.AddrPort
	upstream func() string // nil: the resolver is somebody else's
	servers  []*dns.Server
	life     context.Context // ends with the place
	end      context.CancelFunc

	mu   sync.Mutex
	cut  chan struct{} // nil while the site can be reached; closed when it can again
	deaf bool          // the resolver alone is silent
}

func newPlace(name string, resolver netip.AddrPort, upstream func() string) *place {
	p := &place{name: name, resolver: resolver, upstream: upstream}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

func newNode(p *place, name string, addr netip.AddrPort) *node {
	return &node{site: p, name: name, addr: addr}
}

// toggleCut cuts the site off or reconnects it, and says whether it is cut off
// now.
func (p *place) toggleCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut == nil {
		p.cut = make(chan struct{})
		return true
	}
	close(p.cut)
	p.cut = nil
	return false
}

// toggleDeaf silences or wakes the resolver, and says whether it is silent now.
func (p *place) toggleDeaf() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = !p.deaf
	return p.deaf
}

func (p *place) isDeaf() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deaf
}

// lost gives what ends when the site can be reached again; nil if it can.
func (p *place) lost() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

func (p *place) answers() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut == nil && !p.deaf
}

// on starts a node.
func (n *node) on() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server != nil {
		return nil
	}
	ln, err := listen(n.addr.String())
	if err != nil {
		return fmt.Errorf("start %s/%s: %w", n.site.name, n.name, takenError(err))
	}
	n.server = &http.Server{
		Handler: n, ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return n.site.life },
	}
	go func(s *http.Server) { _ = s.Serve(ln) }(n.server)
	return nil
}

// off stops it: its port refuses.
func (n *node) off() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server != nil {
		_ = n.server.Close()
		n.server = nil
	}
}

func (n *node) running() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.server != nil
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if lost := n.site.lost(); lost != nil {
		select { // a line that is down says nothing
		case <-lost:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s/%s serves %s\n", n.site.name, n.name, r.Host) //nolint:gosec // plain text
}

// open starts the nodes and the resolver of a place.
func (p *place) open() error {
	for _, n := range p.nodes {
		if err := n.on(); err != nil {
			return err
		}
	}
	if p.upstream == nil {
		return nil
	}
	pc, err := listenPacket(p.resolver.String())
	if err != nil {
		return fmt.Errorf("start the resolver of %s: %w", p.name, takenError(err))
	}
	ln, err := listen(p.resolver.String())
	if err != nil {
		return errors.Join(fmt.Errorf("start the resolver of %s: %w", p.name, takenError(err)), pc.Close())
	}
	for _, s := range []*dns.Server{{PacketConn: pc, Handler: p}, {Listener: ln, Handler: p}} {
		p.servers = append(p.servers, s)
		begun := make(chan struct{})
		s.NotifyStartedFunc = func() { close(begun) }
		go func() { _ = s.ActivateAndServe() }()
		<-begun // or it could not be ended
	}
	return nil
}

// close stops everything.
func (p *place) close() {
	p.end()
	for _, n := range p.nodes {
		n.off()
	}
	for _, s := range p.servers {
		_ = s.Shutdown()
	}
}

// ServeDNS is the site's resolver: it knows localhost, and asks the controller
// for the rest from its own address, as a router would that forwards a zone.
func (p *place) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	if !p.answers() {
		return
	}
	if len(q.Question) == 1 && q.Question[0].Name == "localhost." {
		reply := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			reply.Answer = []dns.RR{&dns.A{
				Hdr: dns.RR_Header{Name: "localhost.", Rrtype: dns.TypeA, Class: dns.ClassINET},
				A:   net.IPv4(127, 0, 0, 1),
			}}
		}
		_ = w.WriteMsg(reply)
		return
	}
	client := dns.Client{
		Timeout: 2 * time.Second,
		Dialer:  &net.Dialer{LocalAddr: &net.UDPAddr{IP: p.resolver.Addr().AsSlice()}},
	}
	ctx, cancel := context.WithTimeout(p.life, 2*time.Second)
	defer cancel()
	reply, _, err := client.ExchangeContext(ctx, q, p.upstream())
	if err != nil {
		reply = new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
	}
	reply.Id = q.Id
	_ = w.WriteMsg(reply)
}

// errTaken: another program has the port.
var errTaken = errors.New("the port is taken")

func takenError(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: %w", errTaken, err)
	}
	return err
}

// taken says whether another program has a port, over UDP or TCP.
func taken(at netip.AddrPort) bool {
	pc, err := listenPacket(at.String())
	if err != nil {
		return errors.Is(err, syscall.EADDRINUSE)
	}
	defer pc.Close()
	ln, err := listen(at.String())
	if err != nil {
		return errors.Is(err, syscall.EADDRINUSE)
	}
	_ = ln.Close()
	return false
}

// freePort gives a port that nothing uses on this machine's first loopback
// address; 0 where that cannot be found out.
func freePort(network string) uint16 {
	var addr net.Addr
	if network == "udp" {
		pc, err := listenPacket("127.0.0.1:0")
		if err != nil {
			return 0
		}
		defer pc.Close()
		addr = pc.LocalAddr()
	} else {
		ln, err := listen("127.0.0.1:0")
		if err != nil {
			return 0
		}
		defer ln.Close()
		addr = ln.Addr()
	}
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return 0
	}
	return at.Port()
}

// listen and listenPacket open a port of this machine, which takes no time.
func listen(addr string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(context.Background(), "tcp", addr)
}

func listenPacket(addr string) (net.PacketConn, error) {
	var lc net.ListenConfig
	return lc.ListenPacket(context.Background(), "udp", addr)
}
