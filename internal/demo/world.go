package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// node is a little HTTP server on an address of its own: a reverse proxy as far
// as the controller can tell.
type node struct {
	site *place
	name string
	addr netip.AddrPort

	mu     sync.Mutex
	server *http.Server // nil while it is off
}

// place is a site: nodes and a resolver. While it is cut off everything in it
// is silent, as behind a line that is down; nothing is refused.
type place struct {
	name     string
	nodes    []*node
	resolver netip.AddrPort
	cut      atomic.Bool
	deaf     atomic.Bool // the resolver alone is silent
	upstream func() string
	servers  []*dns.Server
}

// on starts a node.
func (n *node) on() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server != nil {
		return nil
	}
	ln, err := net.Listen("tcp", n.addr.String())
	if err != nil {
		return fmt.Errorf("start %s/%s: %w", n.site.name, n.name, err)
	}
	n.server = &http.Server{Handler: n, ReadHeaderTimeout: 5 * time.Second}
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
	if n.site.cut.Load() {
		<-r.Context().Done() // a line that is down says nothing
		panic(http.ErrAbortHandler)
	}
	fmt.Fprintf(w, "%s/%s serves %s\n", n.site.name, n.name, r.Host)
}

// open starts the nodes and the resolver of a place.
func (p *place) open() error {
	for _, n := range p.nodes {
		if err := n.on(); err != nil {
			return err
		}
	}
	pc, err := net.ListenPacket("udp", p.resolver.String())
	if err != nil {
		return fmt.Errorf("start the resolver of %s: %w", p.name, err)
	}
	ln, err := net.Listen("tcp", p.resolver.String())
	if err != nil {
		return errors.Join(fmt.Errorf("start the resolver of %s: %w", p.name, err), pc.Close())
	}
	for _, s := range []*dns.Server{{PacketConn: pc, Handler: p}, {Listener: ln, Handler: p}} {
		p.servers = append(p.servers, s)
		go func() { _ = s.ActivateAndServe() }()
	}
	return nil
}

// close stops everything.
func (p *place) close() {
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
	if p.cut.Load() || p.deaf.Load() {
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
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	reply, _, err := client.ExchangeContext(ctx, q, p.upstream())
	if err != nil {
		reply = new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
	}
	reply.Id = q.Id
	_ = w.WriteMsg(reply)
}
