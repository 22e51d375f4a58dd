package dnsserver

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// dial connects to the server's TCP side over a pipe, from an address.
func dial(s *Server, from string) net.Conn {
	client, server := net.Pipe()
	c := &stream{conn: server, from: netip.MustParseAddr(from)}
	s.conns.add(c)
	s.net.wg.Go(func() {
		defer s.conns.remove(c)
		s.serveStream(c)
	})
	return client
}

// framed puts the length before a message (RFC 1035 section 4.2.2).
func framed(msgs ...[]byte) (out []byte) {
	for _, m := range msgs {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(m))), m...)
	}
	return out
}

// readFrame reads one answer.
func readFrame(c net.Conn) (*dns.Msg, error) {
	var head [2]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint16(head[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	m := new(dns.Msg)
	return m, m.Unpack(b)
}

// closedAfter says how long it takes till the server closes.
func closedAfter(c net.Conn) time.Duration {
	start := time.Now()
	_, _ = io.Copy(io.Discard, c) // ends by the close, whatever its error
	return time.Since(start)
}

// bubbleServer is a server of a synctest bubble: it has ended before the bubble
// does.
func bubbleServer(t *testing.T) *Server {
	t.Helper()
	s := lanServer(t)
	t.Cleanup(func() {
		s.conns.shut()
		s.net.wg.Wait()
	})
	return s
}

// If this fails, pipelining clients lose answers.
func TestPipelining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubbleServer(t)
		c := dial(s, "10.1.0.1")
		defer c.Close()
		var all []byte
		for i := range 300 {
			q := ask("app.example.lan.", dns.TypeA)
			binary.BigEndian.PutUint16(q, uint16(i))
			all = append(all, framed(q)...)
		}
		go func() { _, _ = c.Write(all) }() // ends with the pipe
		for i := range 300 {
			m, err := readFrame(c)
			if err != nil || m.Id != uint16(i) || len(m.Answer) != 2 {
				t.Fatalf("answer %d: %v, %v", i, m, err)
			}
		}
	})
}

// If this fails, clients whose messages come in pieces get no answer.
func TestSplitFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubbleServer(t)
		c := dial(s, "10.1.0.1")
		defer c.Close()
		for _, b := range framed(ask("mail.example.lan.", dns.TypeA)) {
			if _, err := c.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if m, err := readFrame(c); err != nil || len(m.Answer) != 1 {
			t.Errorf("%v, %v", m, err)
		}
	})
}

// If this fails, clients that do nothing, or too little, hold connections that
// others need.
func TestTCPDeadlines(t *testing.T) {
	query := framed(ask("mail.example.lan.", dns.TypeA))
	tests := []struct {
		name string
		do   func(c net.Conn)
		want time.Duration
	}{
		{"nothing sent", func(net.Conn) {}, firstTimeout},
		{"half a length", func(c net.Conn) { _, _ = c.Write(query[:1]) }, messageTimeout},
		{"half a message", func(c net.Conn) { _, _ = c.Write(query[:9]) }, messageTimeout},
		{"an octet a second", func(c net.Conn) {
			for _, b := range query {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}, messageTimeout},
		{"idle after an answer", func(c net.Conn) {
			_, _ = c.Write(query)
			_, _ = readFrame(c)
		}, idleTimeout},
		{"length 0", func(c net.Conn) { _, _ = c.Write([]byte{0, 0}) }, 0},
		{"longer than is taken", func(c net.Conn) { _, _ = c.Write([]byte{0xff, 0xff}) }, 0},
		{"a response", func(c net.Conn) {
			_, _ = c.Write(framed(edit(query[2:], func(b []byte) { b[2] |= 0x80 })))
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := bubbleServer(t)
				c := dial(s, "10.1.0.1")
				defer c.Close()
				start := time.Now()
				tt.do(c)
				closedAfter(c)
				if d := time.Since(start); d < tt.want || d > tt.want+time.Second {
					t.Errorf("closed after %s, want %s", d, tt.want)
				}
			})
		})
	}
}

// If this fails, a client that asks and never reads holds memory and a
// connection for ever.
func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubbleServer(t)
		c := dial(s, "10.1.0.1")
		defer c.Close()
		if _, err := c.Write(framed(ask("mail.example.lan.", dns.TypeA))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(writeTimeout + time.Millisecond)
		synctest.Wait()
		if n := s.Stats().Connections; n != 0 {
			t.Errorf("%d connections are left", n)
		}
		if n := s.Stats().TCP.Dropped["late"]; n != 1 {
			t.Errorf("%d counted as late, want 1", n)
		}
	})
}

// If this fails, one client's connections lock out all others, or new clients
// find no place.
func TestConnectionsMakePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubbleServer(t)
		// One that has been idle for longer than all of a client that opens too many.
		other := dial(s, "10.1.0.2")
		time.Sleep(time.Millisecond)
		var mine []net.Conn
		for range maxStreamsPerClient + 1 {
			mine = append(mine, dial(s, "10.1.0.1"))
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if d := closedAfter(mine[0]); d != 0 {
			t.Errorf("the longest idle one was closed after %s", d)
		}
		for name, c := range map[string]net.Conn{"the next one": mine[1], "another client's": other} {
			if _, err := c.Write(framed(ask("mail.example.lan.", dns.TypeA))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if m, err := readFrame(c); err != nil || len(m.Answer) != 1 {
				t.Errorf("%s: %v, %v", name, m, err)
			}
		}
		st := s.Stats()
		if st.Connections != maxStreamsPerClient+1 || st.Evicted != 1 {
			t.Errorf("%d connections, %d evicted", st.Connections, st.Evicted)
		}
		for i := range maxStreams {
			a := netip.AddrFrom4([4]byte{10, 2, byte(i >> 8), byte(i)})
			mine = append(mine, dial(s, a.String()))
			time.Sleep(time.Millisecond)
		}
		if st := s.Stats(); st.Connections > maxStreams {
			t.Errorf("%d connections", st.Connections)
		}
		for _, c := range append(mine, other) {
			c.Close()
		}
	})
}

// If this fails, an IPv6 client opens as many connections as it has addresses.
func TestIPv6ClientsAreLimitedByNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubbleServer(t)
		for i := range 2 * maxStreamsPerClient {
			a := netip.MustParseAddr("2001:db8::").As16()
			a[15] = byte(i)
			defer dial(s, netip.AddrFrom16(a).String()).Close()
		}
		if n := s.Stats().Connections; n != maxStreamsPerClient {
			t.Errorf("%d connections, want %d", n, maxStreamsPerClient)
		}
	})
}

// If this fails, a stop takes longer than people wait, or answers are lost that
// were asked before it.
func TestStopEndsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubbleServer(t)
		idle, stuck := dial(s, "10.1.0.1"), dial(s, "10.1.0.2")
		defer idle.Close()
		defer stuck.Close()
		if _, err := stuck.Write(framed(ask("mail.example.lan.", dns.TypeA))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		start := time.Now()
		s.conns.shut()
		s.net.wg.Wait()
		if d := time.Since(start); d > stopTimeout {
			t.Errorf("the stop took %s", d)
		}
	})
}
