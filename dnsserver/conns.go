package dnsserver

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Numbers of TCP connections: of all, and of the clients of one network.
const (
	maxStreams          = 512
	maxStreamsPerClient = 32
	clientBits4         = 32
	clientBits6         = 64
)

// stream is one TCP connection.
type stream struct {
	conn   net.Conn
	from   netip.Addr
	client netip.Prefix // its network; what is limited
	active atomic.Int64 // when it last moved, Unix nanoseconds
}

func (c *stream) touch() { c.active.Store(time.Now().UnixNano()) }

// connTable holds the open connections. When there are too many, of one client
// or of all, the one that has been idle longest makes place.
type connTable struct {
	mu      sync.Mutex
	open    map[*stream]struct{}
	clients map[netip.Prefix]int
	evicted uint64
	closing atomic.Bool
}

// add takes a connection in, at the cost of another where there are too many.
func (t *connTable) add(c *stream) {
	bits := clientBits6
	if c.from.Is4() {
		bits = clientBits4
	}
	if p, err := c.from.WithZone("").Prefix(bits); err == nil {
		c.client = p
	}
	c.touch()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open, t.clients = map[*stream]struct{}{}, map[netip.Prefix]int{}
	}
	switch {
	case t.clients[c.client] >= maxStreamsPerClient:
		t.evict(func(o *stream) bool { return o.client == c.client })
	case len(t.open) >= maxStreams:
		t.evict(func(*stream) bool { return true })
	}
	t.open[c] = struct{}{}
	t.clients[c.client]++
}

// evict closes the longest idle of some connections. Its goroutine ends by the
// error of its next read or write.
func (t *connTable) evict(among func(*stream) bool) {
	var oldest *stream
	for c := range t.open {
		if among(c) && (oldest == nil || c.active.Load() < oldest.active.Load()) {
			oldest = c
		}
	}
	if oldest != nil {
		t.evicted++
		t.drop(oldest)
	}
}

// drop closes a connection and takes it out, once.
func (t *connTable) drop(c *stream) {
	if _, ok := t.open[c]; !ok {
		return
	}
	delete(t.open, c)
	if t.clients[c.client]--; t.clients[c.client] == 0 {
		delete(t.clients, c.client)
	}
	_ = c.conn.Close() // whatever was still to be said is lost either way
}

func (t *connTable) remove(c *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(c)
}

// deadline lets the connection's reads end after d, or at once when the server
// stops.
func (t *connTable) deadline(c *stream, d time.Duration) error {
	if err := c.conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	if t.closing.Load() { // shut may have set its deadline before ours
		return net.ErrClosed
	}
	return nil
}

// shut lets every connection end after the answers that it has in hand.
func (t *connTable) shut() {
	t.closing.Store(true)
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.open {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0))              // fails only where it has ended
		_ = c.conn.SetWriteDeadline(time.Now().Add(stopTimeout)) // likewise
	}
}

func (t *connTable) stopping() bool { return t.closing.Load() }

func (t *connTable) stats() (open int, evicted uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open), t.evicted
}
