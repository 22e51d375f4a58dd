package httpd

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
)

// tlsState is how connections are encrypted; cfg is nil where they are not.
type tlsState struct{ cfg *tls.Config }

// limited is a listener that bounds the connections that are open at a time. For one too
// many another gives way that waits for its next request, of who has more of them or of
// the newcomer itself: programs keep connections for longer than they need them. Where
// there is none, the new one is closed at once: that costs less than to let it wait, and
// nobody who holds connections keeps others out of more than their share.
type limited struct {
	net.Listener
	tls *atomic.Pointer[tlsState]

	mu       sync.Mutex
	open     map[*conn]struct{}
	bySource map[netip.Addr]int
	waits    uint64 // counts those that began to wait
}

func newLimited(ln net.Listener, state *atomic.Pointer[tlsState]) *limited {
	return &limited{Listener: ln, tls: state, open: make(map[*conn]struct{}), bySource: make(map[netip.Addr]int)}
}

// conn is one connection.
type conn struct {
	net.Conn
	ln     *limited
	source netip.Addr
	// waits is its turn among those that wait for their next request; 0 while it is at
	// work.
	waits uint64
}

// Accept gives the next connection that there is room for. The handshake is left
// to the server, which does it beside.
func (l *limited) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := l.admit(raw)
		if c == nil {
			_ = raw.Close()
			continue
		}
		if cfg := l.tls.Load().cfg; cfg != nil {
			return tls.Server(c, cfg), nil
		}
		return c, nil
	}
}

func (l *limited) admit(raw net.Conn) *conn {
	c := &conn{Conn: raw, ln: l}
	if ap, err := netip.ParseAddrPort(raw.RemoteAddr().String()); err == nil {
		c.source = ap.Addr().Unmap().WithZone("")
		if c.source.Is6() && !c.source.IsLoopback() { // a network is one client
			p, _ := c.source.Prefix(64)
			c.source = p.Addr()
		}
	}
	l.mu.Lock()
	full, own := len(l.open) >= maxConns, l.bySource[c.source] >= maxPerSource && !c.source.IsLoopback()
	var gone *conn
	if full || own {
		if gone = l.idle(c.source, own); gone == nil {
			l.mu.Unlock()
			return nil
		}
		l.forget(gone)
	}
	l.open[c] = struct{}{}
	l.bySource[c.source]++
	l.mu.Unlock()
	if gone != nil {
		_ = gone.Conn.Close() // whoever has it comes anew
	}
	return c
}

// idle gives the connection that gives way to one from a source: of that source, or of
// one that has more of them, unless it must be its own; nil where none waits. The caller
// holds mu.
func (l *limited) idle(source netip.Addr, own bool) (found *conn) {
	for c := range l.open {
		n := l.bySource[c.source]
		if c.waits == 0 || c.source != source && (own || n <= l.bySource[source]) {
			continue
		}
		if found == nil || n > l.bySource[found.source] || n == l.bySource[found.source] && c.waits < found.waits {
			found = c
		}
	}
	return found
}

// now notes what a connection does.
func (l *limited) now(c net.Conn, state http.ConnState) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	one, ok := c.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	one.waits = 0
	if state == http.StateIdle {
		l.waits++
		one.waits = l.waits
	}
}

// forget makes room. The caller holds mu.
func (l *limited) forget(c *conn) {
	if _, there := l.open[c]; !there {
		return
	}
	delete(l.open, c)
	if l.bySource[c.source]--; l.bySource[c.source] <= 0 {
		delete(l.bySource, c.source)
	}
}

// Close ends the connection and makes room.
func (c *conn) Close() error {
	c.ln.mu.Lock()
	c.ln.forget(c)
	c.ln.mu.Unlock()
	return c.Conn.Close()
}

// encrypt has the next connections encrypted as cfg says. Where they were plain
// and are no more, or the other way round, those that are open end: none goes on
// under what does not hold any more.
func (e *endpoint) encrypt(cfg *tls.Config) {
	before := e.tls.Swap(&tlsState{cfg})
	if (before.cfg == nil) == (cfg == nil) {
		return
	}
	e.listener.mu.Lock()
	var open []*conn
	for c := range e.listener.open {
		open = append(open, c)
	}
	e.listener.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}
