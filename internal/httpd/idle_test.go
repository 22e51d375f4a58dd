package httpd

import (
	"io"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
)

// If this fails, nodes that report by themselves and keep their connections between two
// reports shut each other out once there are more of them than connections may be open:
// those that come last are taken for dead though they report.
func TestConnectionsThatWaitGiveWay(t *testing.T) {
	s := open(t, nil)
	at := "http://" + s.addr() + "/-/healthy"
	var nodes []*http.Client
	for range maxConns + 50 {
		keeps := &http.Transport{}
		t.Cleanup(keeps.CloseIdleConnections)
		nodes = append(nodes, &http.Client{Transport: keeps})
	}
	for round := range 2 {
		for i, node := range nodes {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := node.Do(r)
			if err != nil {
				t.Fatalf("round %d, node %d: %v", round, i, err)
			}
			_, _ = io.Copy(io.Discard, res.Body) // then it is kept
			_ = res.Body.Close()
		}
	}
}

// If this fails, one who holds many connections takes those of others away, or that which
// is at work is cut off.
func TestWhoGivesWay(t *testing.T) {
	l := newLimited(nil, new(atomic.Pointer[tlsState]))
	come := func(from string, state http.ConnState) *conn {
		t.Helper()
		c := l.admit(stranger{from: from})
		if c == nil {
			t.Fatalf("%s is not let in", from)
		}
		l.now(c, state)
		return c
	}
	there := func(c *conn) bool { l.mu.Lock(); defer l.mu.Unlock(); _, ok := l.open[c]; return ok }

	quiet := come("192.0.2.1:1", http.StateIdle)
	busy := come("192.0.2.2:1", http.StateActive)
	var greedy []*conn
	for len(l.open) < maxConns { // of four, each with as many as it may have
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(len(l.open) / maxPerSource)}), 1)
		greedy = append(greedy, come(from.String(), http.StateIdle))
	}
	if l.admit(stranger{from: "198.51.100.0:9"}) == nil || !there(quiet) {
		t.Error("one with many connections: its own oldest should have given way")
	}
	come("203.0.113.1:1", http.StateActive)
	if !there(quiet) || !there(busy) {
		t.Error("somebody with one connection has given way to somebody else, and many have more")
	}
	for _, c := range greedy {
		l.now(c, http.StateActive)
	}
	if l.admit(stranger{from: "198.51.100.1:9"}) != nil {
		t.Error("one with many connections takes the only one of another")
	}
	come("203.0.113.2:1", http.StateActive)
	if there(quiet) || len(l.open) > maxConns {
		t.Errorf("%d connections are open, and the only one that waits is among them: %v", len(l.open), there(quiet))
	}
}
