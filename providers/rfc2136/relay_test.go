package rfc2136

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// fate is what becomes of an update on its way.
type fate uint8

const (
	passes    fate = iota
	cutBefore      // the line is cut, and the server does not get it
	cutAfter       // the server does it, and nobody is told
	hangs          // nothing happens any more
	refuses        // an answer says so, and the server does not get it
)

// relay stands between the provider and a server and looks at each update that
// would change something.
type relay struct {
	addr, server string
	writes       atomic.Int64
	ended        chan struct{}

	mu sync.Mutex
	// judge says what becomes of the next update; nil lets all pass.
	judge func(*dns.Msg) fate
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	r := &relay{server: server, ended: make(chan struct{})}
	addr := daemontest.Addr(t)
	r.addr = addr.String()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(addr))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { r.tcp(c) })
		}
	})
	all.Go(func() { r.udp(pc, &all) })
	t.Cleanup(func() {
		close(r.ended)
		_ = l.Close() // whoever waits ends by it
		_ = pc.Close()
		all.Wait()
	})
	return r
}

// udp passes questions on.
func (r *relay) udp(pc *net.UDPConn, all *sync.WaitGroup) {
	for {
		buf := make([]byte, 4096)
		n, from, err := pc.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		all.Go(func() {
			c, err := net.Dial("udp4", r.server)
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			stop := make(chan struct{})
			defer close(stop)
			go func() {
				select {
				case <-r.ended:
					_ = c.Close() // ends the read
				case <-stop:
				}
			}()
			if _, err := c.Write(buf[:n]); err != nil {
				return
			}
			answer := make([]byte, 4096)
			if n, err := c.Read(answer); err == nil {
				_, _ = pc.WriteToUDPAddrPort(answer[:n], from)
			}
		})
	}
}

// tcp serves one connection, one message at a time.
func (r *relay) tcp(c net.Conn) {
	defer func() { _ = c.Close() }()
	for {
		msg, err := readMessage(c)
		if err != nil {
			return
		}
		what := passes
		m := new(dns.Msg)
		if m.Unpack(msg) == nil && m.Opcode == dns.OpcodeUpdate && len(m.Ns) > 0 {
			r.writes.Add(1)
			r.mu.Lock()
			if r.judge != nil {
				what = r.judge(m)
			}
			r.mu.Unlock()
		}
		switch what {
		case cutBefore:
			return
		case hangs:
			_, _ = c.Read(make([]byte, 1)) // until the other side gives up
			return
		case refuses:
			answer, err := new(dns.Msg).SetRcode(m, dns.RcodeServerFailure).Pack()
			if err != nil || writeMessage(c, answer) != nil {
				return
			}
			continue
		case passes, cutAfter:
		}
		answer, err := r.forward(msg)
		if err != nil || what == cutAfter || writeMessage(c, answer) != nil {
			return
		}
	}
}

func (r *relay) forward(msg []byte) ([]byte, error) {
	c, err := net.Dial("tcp4", r.server)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	if err := writeMessage(c, msg); err != nil {
		return nil, err
	}
	return readMessage(c)
}

func readMessage(c io.Reader) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	msg := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(c, msg)
	return msg, err
}

func writeMessage(c io.Writer, msg []byte) error {
	_, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), msg...))
	return err
}
