package dnsserver

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// waiting opens a server's port, so that packets wait there until the function
// that it gives is called.
func waiting(t *testing.T, s *Server, listen string) (at netip.AddrPort, serve func()) {
	t.Helper()
	s.want = []netip.AddrPort{netip.MustParseAddrPort(listen)}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	var once sync.Once
	serve = func() { once.Do(func() { go func() { done <- s.Serve(ctx) }() }) }
	t.Cleanup(func() {
		serve()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s.Addrs()[0], serve
}

// socket is a client's, connected to a server.
func socket(t *testing.T, to netip.AddrPort) *net.UDPConn {
	t.Helper()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

// If this fails, of queries that come in together some are lost, or answered to
// another client, or with another's answer, or twice.
func TestManyAtOnce(t *testing.T) {
	const each = 3*batchLen + 5
	names := []string{"mail.example.lan.", "app.example.lan.", "x.wild.example.lan.", "ns1.example.lan."}
	for name, plain := range ways() {
		t.Run(name, func(t *testing.T) {
			s := lanServer(t)
			s.plain = plain
			at, serve := waiting(t, s, "127.0.0.1:0")
			var clients []*net.UDPConn
			for i := range names {
				c := socket(t, at)
				clients = append(clients, c)
				for id := range each {
					q := ask(names[i], dns.TypeA, 1232)
					binary.BigEndian.PutUint16(q, uint16(id))
					// What deserves no answer stands between them.
					for _, b := range [][]byte{{1, 2, 3}, append([]byte{0, 0, 0x80}, q[3:]...), make([]byte, maxUDP+9)} {
						if id%7 == 0 {
							if _, err := c.Write(b); err != nil {
								t.Fatal(err)
							}
						}
					}
					if _, err := c.Write(q); err != nil {
						t.Fatal(err)
					}
				}
			}
			serve()
			for i, c := range clients {
				seen := map[uint16]bool{}
				buf := make([]byte, 2*maxUDP)
				for range each {
					n, err := c.Read(buf)
					if err != nil {
						t.Fatalf("after %d answers of %d: %v", len(seen), each, err)
					}
					m := new(dns.Msg)
					if err := m.Unpack(buf[:n]); err != nil {
						t.Fatal(err)
					}
					if seen[m.Id] || m.Id >= each || m.Question[0].Name != names[i] || len(m.Answer) != 1 || m.Answer[0].Header().Name != names[i] {
						t.Fatalf("client %d: %v", i, m)
					}
					seen[m.Id] = true
				}
			}
			st := s.Stats().UDP
			const odd = 4 * ((each + 6) / 7)
			if st.Dropped["short"] != odd || st.Dropped["response"] != odd || st.Dropped["oversize"] != odd || st.Responses["NOERROR"] != 4*each {
				t.Errorf("counted %v", st)
			}
		})
	}
}

// filled is a batch with n answers prepared, all to the same client.
func filled(n int, to netip.AddrPort) *batch {
	b := newBatch(false)
	for i := range n {
		*(*[16]byte)(b.outBuf[i][:16]) = [16]byte{byte(i)}
		b.outVec[i].SetLen(16)
		if to.IsValid() {
			setAddr(b, i, to)
		}
	}
	b.answers = n
	return b
}

// setAddr says where an answer goes.
func setAddr(b *batch, i int, to netip.AddrPort) {
	port := binary.BigEndian.AppendUint16(nil, to.Port())
	*inet4(&b.from[i]) = unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: to.Addr().As4(), Port: binary.NativeEndian.Uint16(port)}
	b.out[i].hdr.Name, b.out[i].hdr.Namelen = b.in[i].hdr.Name, unix.SizeofSockaddrInet4
}

// descriptor gives a socket's, for as long as the test runs.
func descriptor(t *testing.T, c *net.UDPConn) int {
	t.Helper()
	t.Cleanup(func() { c.Close() })
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var out int
	if err := raw.Control(func(fd uintptr) { out = int(fd) }); err != nil {
		t.Fatal(err)
	}
	return out
}

// If this fails, one client that cannot be answered takes the answers of others
// with it.
func TestRefusedAnswerLeavesOthersAlone(t *testing.T) {
	client, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	to := netip.MustParseAddrPort(client.LocalAddr().String())
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	fd := descriptor(t, server)
	for _, bad := range [][]int{{0}, {2}, {9}, {3, 4, 5}, {0, 9}} {
		b := filled(10, to)
		refused := map[byte]bool{}
		for _, i := range bad {
			setAddr(b, i, netip.AddrPortFrom(to.Addr(), 0)) // nobody has port 0
			refused[byte(i)] = true
		}
		w := &worker{count: new(counters)}
		b.send(w, fd)
		if got := w.count.dropped[dropSend].Load(); got != uint64(len(bad)) {
			t.Errorf("%v refused: %d counted", bad, got)
		}
		if err := client.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 99)
		for i := range byte(10) {
			if refused[i] {
				continue
			}
			if n, err := client.Read(buf); err != nil || n != 16 || buf[0] != i {
				t.Fatalf("%v refused: answer %d is %v, %v", bad, i, buf[:n], err)
			}
		}
	}
}

// If this fails, a system that has no room for answers stops the server, or
// makes it send old ones later.
func TestAnswersWithoutRoomAreLost(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	w := &worker{count: new(counters)}
	sent := 0
	for w.count.dropped[dropSend].Load() == 0 {
		filled(batchLen, netip.AddrPort{}).send(w, pair[0])
		if sent += batchLen; sent > 1<<20 {
			t.Fatal("there is always room")
		}
	}
	buf := make([]byte, 99)
	got := 0
	for {
		if _, err := unix.Read(pair[1], buf); err != nil {
			break
		}
		got++
	}
	if lost := int(w.count.dropped[dropSend].Load()); got+lost != sent {
		t.Errorf("%d arrived and %d were counted as lost, of %d", got, lost, sent)
	}
}

// If this fails, a flood keeps the server from stopping, or a stop waits for the
// next query.
func TestStopOfBatches(t *testing.T) {
	for _, flooded := range []bool{false, true} {
		s := lanServer(t)
		s.want = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
		if err := s.Listen(); err != nil {
			t.Fatal(err)
		}
		at := s.Addrs()[0]
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx) }()
		call(t, "udp", at, "mail.example.lan.")
		quiet := make(chan struct{})
		var flood sync.WaitGroup
		if flooded {
			c := socket(t, at)
			flood.Go(func() {
				q := ask("mail.example.lan.", dns.TypeA)
				for {
					select {
					case <-quiet:
						return
					default:
						_, _ = c.Write(q) // refused after the end
					}
				}
			})
			for s.Stats().UDP.Queries < 1000 {
				call(t, "udp", at, "mail.example.lan.")
			}
		}
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Errorf("flooded %t: it does not end", flooded)
		}
		close(quiet)
		flood.Wait()
	}
}

// If this fails, a fault of a socket ends its service for ever, though it would
// pass.
func TestFaultOfABatch(t *testing.T) {
	b := newBatch(false)
	w := &worker{count: new(counters)}
	if took, err := b.round(w, -1); took > 0 || err == nil || err.Error() != "recvmmsg: bad file descriptor" {
		t.Errorf("%d, %v", took, err)
	}
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if took, err := b.round(w, descriptor(t, c)); took > 0 || err != nil {
		t.Errorf("nothing waits: %d, %v", took, err)
	}
}

// If this fails, garbage is collected at the price of answers: on wildcard
// listeners too, where each answer carries its source.
func TestBatchesDoNotAllocate(t *testing.T) {
	for _, sources := range []bool{false, true} {
		s := lanServer(t)
		w := &worker{server: s, count: s.udpCounts[0]}
		b := newBatch(sources)
		q := ask("app.example.lan.", dns.TypeA, 1232)
		control := control(unix.IPPROTO_IP, unix.IP_PKTINFO, append([]byte{7, 0, 0, 0}, 127, 0, 0, 1, 127, 0, 0, 1))
		for i := range batchLen {
			setAddr(b, i, netip.MustParseAddrPort("127.0.0.1:9"))
			b.in[i].n = uint32(copy(b.inBuf[i][:], q))
		}
		if n := testing.AllocsPerRun(20, func() {
			for i := range batchLen {
				copy(b.control[i][:], control)
				b.in[i].hdr.SetControllen(len(control))
			}
			b.answer(w, batchLen)
		}); n != 0 || b.answers != batchLen {
			t.Errorf("sources %t: %v allocations, %d answers", sources, n, b.answers)
		}
	}
}
