package dnsserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

// freePortTries is how often a free port is looked for that is free over UDP
// and TCP alike.
const freePortTries = 16

// network is the sockets of a server. Server.mu guards it.
type network struct {
	open    []*listener
	opened  bool // Listen has been called
	serving bool
	wg      sync.WaitGroup
	// bind opens an address. Tests set it before Listen; nil is openListener.
	bind func(want netip.AddrPort, workers int) (*listener, error)
}

// listener is one address that is served, over UDP by several sockets where the
// system spreads packets over them.
type listener struct {
	want    netip.AddrPort // as configured
	addr    netip.AddrPort
	packets []*packetSocket
	streams net.Listener
	done    chan struct{} // closed by stop
	started bool          // its loops close the sockets
	absent  bool          // this host did not have the address when it was opened
}

// Listen opens the configured addresses. It is apart from Serve so that a port
// that is taken is known, and privileges can be dropped, before anything is
// served. An error names who has the port where that can be found out.
func (s *Server) Listen() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	opened, want := s.net.opened, s.want
	s.mu.Unlock()
	if opened {
		return errors.New("listen: the server listens already")
	}
	next, _, err := s.plan(nil, want)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.net.open, s.net.opened = next, true
	return nil
}

// Addrs gives the addresses that are listened on, with their real ports, in the
// configuration's order.
func (s *Server) Addrs() []netip.AddrPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []netip.AddrPort
	for _, l := range s.net.open {
		out = append(out, l.addr)
	}
	return out
}

// Serve answers queries until ctx ends, and then until what has been taken in
// is answered: within two seconds. It opens the addresses where Listen has not.
// A server is served once.
func (s *Server) Serve(ctx context.Context) error {
	s.mu.Lock()
	opened := s.net.opened
	s.mu.Unlock()
	if !opened {
		if err := s.Listen(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.net.serving = true
	for _, l := range s.net.open {
		s.start(l)
	}
	s.net.wg.Go(func() { s.notifySecondaries(ctx) })
	s.net.wg.Go(func() { s.logQueries(ctx) })
	s.net.wg.Go(func() { s.signAhead(ctx) })
	s.mu.Unlock()

	<-ctx.Done()
	s.mu.Lock()
	for _, l := range s.net.open {
		l.stop()
	}
	s.net.open, s.net.serving, s.net.opened = nil, false, false // a reload opens nothing any more
	s.mu.Unlock()
	s.conns.shut()
	s.net.wg.Wait()
	return nil
}

// plan opens the addresses that are wanted and not open. next lists the
// listeners of all that are wanted, added those that are new; nothing is served
// by them yet, and after an error none is open. It holds Server.changing alone: to
// find out who has a port takes long, and decisions do not wait for it.
func (s *Server) plan(open []*listener, want []netip.AddrPort) (next, added []*listener, err error) {
	if err := overlap(open, want); err != nil {
		return nil, nil, err
	}
	bind := s.net.bind
	if bind == nil {
		bind = openListener
	}
	for _, a := range want {
		i := slices.IndexFunc(open, func(l *listener) bool { return l.want == a })
		if i >= 0 && !slices.Contains(next, open[i]) {
			next = append(next, open[i])
			continue
		}
		// Ports of 0 may be listed twice: each takes a free one.
		l, err := bind(a, len(s.udpCounts))
		if err != nil {
			stopAll(added)
			return nil, nil, err
		}
		added, next = append(added, l), append(next, l)
	}
	return next, added, nil
}

// overlap refuses addresses that cannot be open at the same time: two that are
// wanted, or one that is wanted and one that is open and closes only after it.
func overlap(open []*listener, want []netip.AddrPort) error {
	for i, a := range want {
		for _, b := range want[:i] {
			if Overlap(a, b) {
				return fmt.Errorf("listen on %s: %s in dns.listen covers it: remove one of them", a, b)
			}
		}
		for _, l := range open {
			if l.want != a && Overlap(a, l.addr) {
				return fmt.Errorf("listen on %s: this server listens on %s: restart it to change from one to the other", a, l.addr)
			}
		}
	}
	return nil
}

// Overlap says whether two addresses cannot be listened on beside each other: they are
// the same, or one is the other's wildcard. Ports of 0 take free ones.
func Overlap(a, b netip.AddrPort) bool {
	if a.Port() != b.Port() || a.Port() == 0 || a.Addr().Is4() != b.Addr().Is4() {
		return false
	}
	return a.Addr() == b.Addr() || a.Addr().IsUnspecified() || b.Addr().IsUnspecified()
}

// stopAll stops listeners.
func stopAll(ls []*listener) {
	for _, l := range ls {
		l.stop()
	}
}

// start begins to serve a listener.
func (s *Server) start(l *listener) {
	l.started = true
	if l.absent {
		s.log.Warn("no interface of this host has an address of dns.listen: it is served from the moment that one gets it", "address", l.addr.Addr())
	}
	for i, p := range l.packets {
		w := &worker{server: s, count: s.udpCounts[i%len(s.udpCounts)]}
		serve := p.servePlain
		if !s.plain {
			serve = p.serving()
		}
		s.net.wg.Go(func() { serve(w, l.done) })
	}
	s.net.wg.Go(func() { s.accept(l) })
}

// stop ends a listener's goroutines, once each has answered what it has in hand.
func (l *listener) stop() {
	close(l.done)
	if l.streams != nil {
		_ = l.streams.Close() // nothing is lost that could be told
	}
	for _, p := range l.packets {
		if l.started {
			p.stop()
		} else {
			_ = p.conn.Close() // likewise
		}
	}
}

// openListener opens an address over TCP and UDP, with as many UDP sockets as
// there are workers where the system can share a port.
func openListener(want netip.AddrPort, workers int) (*listener, error) {
	if !want.IsValid() {
		return nil, fmt.Errorf("listen %s: not an address with a port", want)
	}
	for try := 1; ; try++ {
		l, err := tryListener(want, workers)
		if err == nil {
			return l, nil
		}
		if want.Port() != 0 || try == freePortTries || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
}

// tryListener opens an address once. Where no interface has it, a system that can
// opens it all the same: it is served from the moment at which one gets it, be it by
// DHCP or from the other machine of a pair, and the other addresses are until then.
func tryListener(want netip.AddrPort, workers int) (*listener, error) {
	l, err := bindListener(want, workers, false)
	if bindsAbsent && errors.Is(err, syscall.EADDRNOTAVAIL) {
		if l, err = bindListener(want, workers, true); err == nil {
			l.absent = !routedHere(want.Addr())
		}
	}
	return l, err
}

func bindListener(want netip.AddrPort, workers int, absent bool) (*listener, error) {
	l := &listener{want: want, addr: want, done: make(chan struct{}), absent: absent}
	lc := net.ListenConfig{KeepAlive: -1} // idle connections end by our own time
	if absent {
		lc.Control = bindAbsent
	}
	streams, err := lc.Listen(context.Background(), "tcp"+family(want), want.String())
	if err != nil {
		return nil, listenError("tcp", want, err)
	}
	l.streams = streams
	if tcp, ok := streams.Addr().(*net.TCPAddr); ok {
		l.addr = netip.AddrPortFrom(want.Addr(), tcp.AddrPort().Port())
	}
	l.packets, err = openPackets(l.addr, workers, absent)
	if err != nil {
		l.stop()
		return nil, listenError("udp", l.addr, err)
	}
	return l, nil
}

// openPackets opens the UDP sockets of an address.
func openPackets(addr netip.AddrPort, workers int, absent bool) ([]*packetSocket, error) {
	if !sharesPorts {
		workers = 1
	}
	if workers > 1 {
		// Sockets that share a port would share it with another server's too:
		// see first whether it is free.
		probe, err := openPacket(addr, false, absent)
		if err != nil {
			return nil, err
		}
		if err := probe.conn.Close(); err != nil {
			return nil, err
		}
	}
	var out []*packetSocket
	for range workers {
		p, err := openPacket(addr, workers > 1, absent)
		if err != nil {
			for _, p := range out {
				_ = p.conn.Close() // the first error is the one to tell
			}
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// family gives the suffix of the network's name: [::] serves IPv6 alone, so that
// it stands beside 0.0.0.0.
func family(a netip.AddrPort) string {
	if a.Addr().Is4() {
		return "4"
	}
	return "6"
}

// Waits after an error of a socket that may pass (no descriptors, no memory).
const (
	firstWait = 5 * time.Millisecond
	lastWait  = time.Second
)

// pause waits after a fault of a socket, longer each time, or until done, and
// says whether to go on. The first of a row is told.
func (s *Server) pause(wait *time.Duration, done <-chan struct{}, fault error) bool {
	if *wait == 0 {
		s.log.Warn("taking in queries failed; it is tried again", "error", fault)
	}
	*wait = min(max(2**wait, firstWait), lastWait)
	t := time.NewTimer(*wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-done:
		return false
	}
}
