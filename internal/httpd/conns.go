package httpd

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// tlsState is how connections are encrypted; cfg is nil where they are not.
type tlsState struct{ cfg *tls.Config }

// limited is a listener that bounds the connections that are open at a time. One
// too many is closed at once: that costs less than to let it wait, and nobody who
// holds connections keeps others out of more than their share.
type limited struct {
	net.Listener
	tls *atomic.Pointer[tlsState]

	mu       sync.Mutex
	open     map[*conn]struct{}
	bySource map[netip.Addr]int
}

func newLimited(ln net.Listener, state *atomic.Pointer[tlsState]) *limited {
	return &limited{Listener: ln, tls: state, open: make(map[*conn]struct{}), bySource: make(map[netip.Addr]int)}
}

// conn is one connection.
type conn struct {
	net.Conn
	ln     *limited
	source netip.Addr
	once   sync.Once
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
	defer l.mu.Unlock()
	if len(l.open) >= maxConns || l.bySource[c.source] >= maxPerSource && !c.source.IsLoopback() {
		return nil
	}
	l.open[c] = struct{}{}
	l.bySource[c.source]++
	return c
}

// Close ends the connection and makes room.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.ln.mu.Lock()
		defer c.ln.mu.Unlock()
		delete(c.ln.open, c)
		if c.ln.bySource[c.source]--; c.ln.bySource[c.source] <= 0 {
			delete(c.ln.bySource, c.source)
		}
	})
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
