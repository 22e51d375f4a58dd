package httpd

import (
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
)

// stranger is a connection from somewhere.
type stranger struct {
	net.Conn
	from string
}

func (s stranger) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(s.from))
}
func (stranger) Close() error { return nil }

// One machine, or one IPv6 network, that opens connections and streams would keep
// everybody else out.
func TestConnectionsOfOneSource(t *testing.T) {
	for _, tt := range []struct {
		name, from, again, other string
		most                     int
	}{
		{"IPv4", "192.0.2.1:1", "192.0.2.1:9999", "192.0.2.2:1", maxPerSource},
		{"an IPv6 network", "[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8:0:1::1]:1", maxPerSource},
		{"IPv4 written as IPv6", "[::ffff:192.0.2.1]:1", "192.0.2.1:1", "192.0.2.2:1", maxPerSource},
		{"this machine, or a proxy on it", "127.0.0.1:1", "127.0.0.1:2", "", maxConns},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLimited(nil, new(atomic.Pointer[tlsState]))
			var first *conn
			for i := range tt.most {
				c := l.admit(stranger{from: tt.from})
				if c == nil {
					t.Fatalf("only %d are let in, want %d", i, tt.most)
				}
				first = c
			}
			if l.admit(stranger{from: tt.again}) != nil {
				t.Error("one too many is let in")
			}
			if tt.other != "" && l.admit(stranger{from: tt.other}) == nil {
				t.Error("another one is kept out")
			}
			_ = first.Close()
			_ = first.Close() // counts once
			if l.admit(stranger{from: tt.again}) == nil {
				t.Error("the place of one that has ended is not free")
			}
			if l.admit(stranger{from: tt.again}) != nil {
				t.Error("a place was freed twice")
			}
		})
	}
}
