package dnsserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// numbered is the address that stands for the n-th move.
func numbered(n uint32) string {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// number is the move that an answer's only address stands for.
func number(m *dns.Msg) (uint32, error) {
	var found []dns.RR
	for _, rr := range m.Answer {
		if rr.Header().Rrtype == dns.TypeA {
			found = append(found, rr)
		}
	}
	if m.Rcode != dns.RcodeSuccess || len(found) != 1 {
		return 0, fmt.Errorf("not one address:\n%v", m)
	}
	a, ok := found[0].(*dns.A)
	if !ok || a.A.To4() == nil {
		return 0, fmt.Errorf("no address:\n%v", m)
	}
	ip := a.A.To4()
	return uint32(ip[1])<<16 | uint32(ip[2])<<8 | uint32(ip[3]), nil
}

// If this fails, an answer that is given while moves and reloads follow each other is
// one that was never right between its question and its arrival, or a forgery.
func TestAnswersAreOfTheMoment(t *testing.T) {
	const moves, reloadEvery, askers = 3000, 100, 3
	cfg := signedConfig(t)
	s := manyServer(t, cfg)
	addr := serving(t, s, "127.0.0.1:0")[0]
	cfg.Listen = s.want
	keys := keysOf(cfg)
	var begun, done atomic.Uint32 // moves
	move := func(n uint32) {
		begun.Store(n)
		s.SetAnswer("hamburg", "default", answer(numbered(n)))
		done.Store(n)
	}
	move(1)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var asked atomic.Uint64
	for i := range askers {
		all.Go(func() {
			c := &dns.Client{Timeout: time.Minute, Net: [...]string{"udp", "tcp"}[i%2]}
			conn, err := c.DialContext(t.Context(), addr.String())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			for turn := 0; ctx.Err() == nil; turn++ {
				m := new(dns.Msg)
				m.SetQuestion([]string{"app.example.lan.", "x.apps.example.lan.", "toservice.example.lan."}[turn%3], dns.TypeA)
				m.SetEdns0(1232, turn%2 == 0)
				least := done.Load()
				in, _, err := c.ExchangeWithConnContext(t.Context(), m, conn)
				most := begun.Load()
				if err != nil {
					t.Errorf("asker %d: %v", i, err)
					return
				}
				n, err := number(in)
				if err != nil || n < least || n > most {
					t.Errorf("move %d was answered between %d and %d: %v", n, least, most, err)
					return
				}
				if turn%2 == 0 {
					judge(reporter{t}, keys, in, s.now())
				}
				asked.Add(1)
			}
		})
	}
	for n := uint32(2); n <= moves && !t.Failed(); n++ {
		move(n)
		if n%reloadEvery == 0 {
			if err := s.Reload(cfg); err != nil {
				t.Error(err)
			}
		}
		for before := asked.Load(); asked.Load() == before && n%10 == 0 && !t.Failed(); {
			runtime.Gosched() // an answer between ten moves at least
		}
	}
	stop()
	all.Wait()
	t.Logf("%d answers, %d moves", asked.Load(), moves)
}

// reporter tells of a failure from another goroutine than the test's.
type reporter struct{ *testing.T }

func (r reporter) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

// If this fails, whoever opens thousands of connections and says nothing on them
// takes the names from all others.
func TestIdleConnectionsHoldNobodyUp(t *testing.T) {
	const connections, openers, questions = 5000, 8, 300
	s := lanServer(t)
	addr := serving(t, s, "127.0.0.1:0")[0]
	var held sync.Mutex
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close() // most are closed by the other side
		}
	}()
	var opening sync.WaitGroup
	for i := range openers {
		opening.Go(func() {
			for n := i; n < connections; n += openers {
				// Many clients: each may have no more than its share.
				d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 3, byte(n%200), byte(1+n/200%8))}}
				c, err := d.DialContext(t.Context(), "tcp", addr.String())
				if err != nil {
					t.Errorf("connection %d: %v", n, err)
					return
				}
				held.Lock()
				open = append(open, c)
				held.Unlock()
			}
		})
	}
	ask := func(network string) {
		c := &dns.Client{Timeout: time.Minute, Net: network}
		m := new(dns.Msg)
		m.SetQuestion("app.example.lan.", dns.TypeA)
		in, _, err := c.ExchangeContext(t.Context(), m, addr.String())
		if err != nil || len(in.Answer) != 1 {
			t.Fatalf("over %s with %d connections: %v, %v", network, s.Stats().Connections, in, err)
		}
	}
	for range questions {
		ask("udp")
	}
	opening.Wait()
	for range questions {
		ask("udp")
	}
	ask("tcp")
	if st := s.Stats(); st.Connections > maxStreams || st.Evicted == 0 {
		t.Errorf("%d connections are open, %d were closed", st.Connections, st.Evicted)
	}
}

// If this fails, a flood of questions, of made-up names too, makes the server answer
// those of seconds ago when it is over, in place of those of now, or fills its memory,
// or ends it.
func TestFloodLeavesNoQueue(t *testing.T) {
	const senders, packets = 3, 60_000 // each; what two workers take is much less
	s := manyServer(t, signedConfig(t))
	addr := serving(t, s, "127.0.0.1:0")[0]
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	before := heap()
	var flood sync.WaitGroup
	var lost atomic.Uint64
	for i := range senders {
		conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(addr))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		msgs := [][]byte{
			ask("app.example.lan.", dns.TypeA, 1232), askSigned("app.example.lan.", dns.TypeA, false), askSigned("mail.example.lan.", dns.TypeMX, false),
			ask("00000000.example.lan.", dns.TypeA, 1232), askSigned("00000000.apps.example.lan.", dns.TypeMX, false),
		}
		flood.Go(func() {
			for n := range packets {
				msg := msgs[(n+i)%len(msgs)]
				if msg[headerLen] == 8 { // a name that nobody asked for before
					copy(msg[headerLen+1:], fmt.Sprintf("%08x", i<<24|n))
				}
				if _, err := conn.Write(msg); err != nil {
					lost.Add(1)
				}
			}
		})
	}
	right := 0
	try := func(timeout time.Duration) error {
		c := &dns.Client{Timeout: timeout}
		m := new(dns.Msg)
		m.SetQuestion("tv.example.lan.", dns.TypeSOA)
		in, _, err := c.ExchangeContext(ctx, m, addr.String())
		if err == nil && in.Id != m.Id {
			return errors.New("an answer to another question")
		}
		if err == nil {
			right++
		}
		return err
	}
	over := make(chan struct{})
	go func() { flood.Wait(); close(over) }()
	for flooded := true; flooded; {
		var timeout net.Error
		if err := try(200 * time.Millisecond); err != nil && !errors.As(err, &timeout) {
			t.Fatal(err)
		}
		select {
		case <-over:
			flooded = false
		default:
		}
	}
	during := right
	// The first may still meet a full buffer, and is lost as any packet is.
	err := try(200 * time.Millisecond)
	for n := 0; err != nil && n < 300; n++ {
		err = try(200 * time.Millisecond)
	}
	if err != nil {
		t.Errorf("after the flood: %v", err)
	}
	st := s.Stats().UDP
	if st.Panics > 0 || st.Queries == 0 {
		t.Errorf("counts %+v", st)
	}
	if kept := heap() - before; kept > 4<<20 {
		t.Errorf("it holds %d octets more than before", kept)
	}
	t.Logf("%d of %d packets were answered, and %d questions beside them", st.Queries, senders*packets, during)
}

// heap is how many octets are held.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
