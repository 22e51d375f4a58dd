package dnsserver

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// pile sends messages to a server that listens and does not serve yet, so that they
// wait for it together, and gives the answers by the messages' IDs, which are their
// places in the list.
func pile(t *testing.T, s *Server, msgs [][]byte) map[int]*dns.Msg {
	t.Helper()
	s.want = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(s.Addrs()[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i, msg := range msgs {
		msg[0], msg[1] = byte(i>>8), byte(i)
		if _, err := conn.Write(msg); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	out, buf := map[int]*dns.Msg{}, make([]byte, maxUDP)
	for len(out) < len(msgs) {
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatalf("after %d answers: %v", len(out), err)
		}
		m := new(dns.Msg)
		if err := m.Unpack(buf[:n]); err != nil {
			t.Fatal(err)
		}
		out[int(m.Id)] = m
	}
	return out
}

// If this fails, a flood of questions for names that nobody has takes the server
// from those who ask for what there is, or takes the proof from askers for good.
func TestFloodOfSignatures(t *testing.T) {
	const made = 40
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain %t", plain), func(t *testing.T) {
			cfg := signedConfig(t)
			s := manyServer(t, cfg)
			s.plain = plain
			s.Query(askSigned("app.example.lan.", dns.TypeA, false), netip.MustParseAddrPort("127.0.0.1:9"), false) // is signed from now on
			var msgs [][]byte
			for i := range made {
				msgs = append(msgs, askSigned(fmt.Sprintf("x%d.example.lan.", i), []uint16{dns.TypeA, dns.TypeNSEC}[i%2], false))
			}
			for range 10 {
				msgs = append(msgs, askSigned("app.example.lan.", dns.TypeA, false), ask("mail.example.lan.", dns.TypeA, 1232))
			}
			for _, name := range []string{"mail", "printer", "ns1"} { // not asked for before
				msgs = append(msgs, askSigned(name+".example.lan.", dns.TypeA, false))
			}
			cut, keys := 0, keysOf(cfg)
			for i, m := range pile(t, s, msgs) {
				switch {
				case m.Truncated && i >= made:
					t.Errorf("cut off:\n%v", m)
				case m.Truncated:
					cut++
				case m.IsEdns0().Do():
					judge(t, keys, m, s.now())
				case len(m.Answer) != 1:
					t.Errorf("not answered:\n%v", m)
				}
			}
			batches := runtime.GOOS == "linux" && !plain
			if batches && cut != made-signsAtOnce || cut > made-signsAtOnce {
				t.Errorf("%d of %d made-up names were put off, want %d", cut, made, made-signsAtOnce)
			}
			if n := s.Stats().UDP.Deferred; n != uint64(cut) {
				t.Errorf("%d are counted, want %d", n, cut)
			}
			askAllOverTCP(t, s, msgs[:made], keys)
		})
	}
}

// If this fails, a flood that lasts takes most of the time of the server, or what it
// took is never given back.
func TestAllowance(t *testing.T) {
	a := new(allowance)
	for i, step := range []struct {
		piled bool
		want  int
	}{{false, 8}, {true, 4}, {true, 2}, {true, 1}, {true, 1}, {false, 8}, {true, 4}} {
		a.renew(step.piled)
		for _, made := range []bool{true, false} {
			got := 0
			for a.begin(made) {
				a.end()
				got++
			}
			if got != step.want {
				t.Errorf("step %d, made up %t: %d, want %d", i, made, got, step.want)
			}
		}
	}
}

// askAllOverTCP asks at the same time, each on a connection of its own, and holds
// the answers against what a validator asks of them.
func askAllOverTCP(t *testing.T, s *Server, msgs [][]byte, keys map[string][]*dns.DNSKEY) {
	t.Helper()
	addr := s.Addrs()[0].String()
	var all sync.WaitGroup
	for _, msg := range msgs[:maxStreamsPerClient/2] {
		all.Go(func() {
			q := new(dns.Msg)
			if err := q.Unpack(msg); err != nil {
				t.Error(err)
				return
			}
			c := &dns.Client{Net: "tcp", Timeout: time.Minute}
			m, _, err := c.ExchangeContext(t.Context(), q, addr)
			if err != nil || m.Truncated {
				t.Errorf("over TCP: %v\n%v", err, m)
				return
			}
			judge(reporter{t}, keys, m, s.now())
		})
	}
	all.Wait()
}
