package dnsserver

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// serving runs a server on free ports of addresses till the test ends, and gives
// the ports' addresses.
func serving(t *testing.T, s *Server, listen ...string) []netip.AddrPort {
	t.Helper()
	for _, a := range listen {
		s.want = append(s.want, netip.MustParseAddrPort(a))
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Serve(t.Context()) }()
	t.Cleanup(func() { // after the context's end
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s.Addrs()
}

// loopbacks are those of the machine with a free port; one without IPv6 serves
// IPv4 alone, and the log says so.
func loopbacks(t *testing.T) []string {
	t.Helper()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Logf("without IPv6: %v", err)
		return []string{"127.0.0.1:0", "127.0.0.1:0"}
	}
	l.Close()
	return []string{"127.0.0.1:0", "[::1]:0"}
}

// call asks over a real socket; over UDP again where a full buffer, on a busy
// machine, took question or answer.
func call(t *testing.T, network string, to netip.AddrPort, name string) *dns.Msg {
	t.Helper()
	q := new(dns.Msg)
	q.SetQuestion(name, dns.TypeA)
	c := dns.Client{Net: network, Timeout: time.Minute}
	if network == "udp" {
		c.Timeout = time.Second
	}
	m, _, err := c.Exchange(q, to.String())
	for tries := 1; err != nil && network == "udp" && tries < 60; tries++ {
		m, _, err = c.Exchange(q, to.String())
	}
	if err != nil {
		t.Fatalf("%s %s: %v", network, to, err)
	}
	return m
}

// ways are a server whose packets go in batches, where the system takes them,
// and one whose packets go one by one ("plain").
func ways() map[string]bool { return map[string]bool{"batches": false, "plain": true} }

// If this fails, the server does not serve.
func TestServe(t *testing.T) {
	for name, plain := range ways() {
		t.Run(name, func(t *testing.T) {
			s := lanServer(t)
			s.plain = plain
			for _, a := range serving(t, s, loopbacks(t)...) {
				for _, network := range []string{"udp", "tcp"} {
					if m := call(t, network, a, "mail.example.lan."); len(m.Answer) != 1 {
						t.Errorf("%s %s: %v", network, a, m)
					}
				}
			}
		})
	}
}

// If this fails, clients of a host with several addresses drop the answers,
// since they come from another address than they asked.
func TestWildcardAnswersFromTheAddressAsked(t *testing.T) {
	if !sharesPorts {
		t.Skip("the system chooses the source here")
	}
	for name, plain := range ways() {
		t.Run(name, func(t *testing.T) {
			s := lanServer(t)
			s.plain = plain
			listen, ask := []string{"0.0.0.0:0"}, addrs("127.0.0.77", "127.0.0.1")
			if loopbacks(t)[1] == "[::1]:0" {
				listen, ask = append(listen, "[::]:0"), append(ask, addrs("::1")...)
			}
			at := serving(t, s, listen...)
			for _, a := range ask {
				to := netip.AddrPortFrom(a, at[0].Port())
				if a.Is6() {
					to = netip.AddrPortFrom(a, at[1].Port())
				}
				// A connected socket takes packets from the address it asked alone.
				if m := call(t, "udp", to, "mail.example.lan."); len(m.Answer) != 1 {
					t.Errorf("%s: %v", to, m)
				}
			}
		})
	}
}

// If this fails, someone whose port 53 is taken is not told by whom.
func TestPortTaken(t *testing.T) {
	for _, network := range []string{"tcp", "udp"} {
		t.Run(network, func(t *testing.T) {
			at := daemontest.Addr(t) // nobody else has it over the other transport
			if network == "tcp" {
				l, err := net.Listen("tcp", at.String())
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
			} else {
				c, err := net.ListenPacket("udp", at.String())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
			}
			cfg := lanConfig(t)
			cfg.Listen = []netip.AddrPort{at}
			s := newServer(t, cfg)
			err := s.Serve(t.Context())
			if !errors.Is(err, syscall.EADDRINUSE) {
				t.Fatalf("error %v", err)
			}
			if _, missing := os.Stat("/proc/net/udp"); missing == nil {
				want := filepath.Base(os.Args[0])
				want = want[:min(len(want), 15)] + " (process " + strconv.Itoa(os.Getpid()) + ")"
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %s", err, want)
				}
			}
			if !strings.Contains(err.Error(), "choose another address or port in dns.listen, or stop that program") {
				t.Errorf("error %q names no way out", err)
			}
		})
	}
}

// If this fails, an error of the system reaches people without what it means for
// them.
func TestListenErrors(t *testing.T) {
	at := netip.MustParseAddrPort("192.0.2.1:53")
	for err, want := range map[error]string{
		syscall.EADDRINUSE:    "listen on 192.0.2.1:53 over udp: the port is taken by ",
		syscall.EACCES:        "listen on 192.0.2.1:53 over udp: ports below 1024 need the capability CAP_NET_BIND_SERVICE: grant it or choose a higher port in dns.listen: ",
		syscall.EADDRNOTAVAIL: "listen on 192.0.2.1:53 over udp: no interface of this host has that address: add it or change dns.listen: ",
		syscall.EMFILE:        "listen on 192.0.2.1:53 over udp: too many open files",
	} {
		if got := listenError("udp", at, err); !errors.Is(got, err) || !strings.HasPrefix(got.Error(), want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// fullListener has no descriptor for its first connections.
type fullListener struct {
	net.Listener
	faults int
	conn   net.Conn
	closed chan struct{}
}

func (l *fullListener) Accept() (net.Conn, error) {
	if l.faults > 0 {
		l.faults--
		return nil, syscall.EMFILE
	}
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

// If this fails, a moment without descriptors ends TCP for ever, or burns a
// processor.
func TestAcceptGoesOnAfterFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubbleServer(t)
		client, server := net.Pipe()
		defer client.Close()
		l := &listener{done: make(chan struct{}), streams: &fullListener{faults: 12, conn: server, closed: make(chan struct{})}}
		start := time.Now()
		s.net.wg.Go(func() { s.accept(l) })
		if _, err := client.Write(framed(ask("mail.example.lan.", dns.TypeA))); err != nil {
			t.Fatal(err)
		}
		if m, err := readFrame(client); err != nil || len(m.Answer) != 1 {
			t.Errorf("%v, %v", m, err)
		}
		if d := time.Since(start); d < 2*time.Second || d > 12*time.Second {
			t.Errorf("12 faults took %s, want waits that grow to a second", d)
		}
		close(l.streams.(*fullListener).closed)
	})
}

// If this fails, a dns.listen that cannot work is said to be another program's
// fault.
func TestOverlappingAddresses(t *testing.T) {
	tests := []struct {
		name       string
		open, want string
		err        string
	}{
		{"twice", "", "127.0.0.1:5353 127.0.0.1:5353", "listen on 127.0.0.1:5353: 127.0.0.1:5353 in dns.listen covers it: remove one of them"},
		{"wildcard", "", "0.0.0.0:5353 127.0.0.1:5353", "listen on 127.0.0.1:5353: 0.0.0.0:5353 in dns.listen covers it: remove one of them"},
		{"later", "127.0.0.1:5353", "0.0.0.0:5353", "listen on 0.0.0.0:5353: this server listens on 127.0.0.1:5353: restart it to change from one to the other"},
		{"both families", "", "0.0.0.0:5353 [::]:5353", ""},
		{"other ports", "127.0.0.1:5353", "127.0.0.1:5353 127.0.0.1:5354", ""},
		{"free ports", "", "127.0.0.1:0 127.0.0.1:0", ""},
	}
	for _, tt := range tests {
		var open []*listener
		for a := range strings.FieldsSeq(tt.open) {
			at := netip.MustParseAddrPort(a)
			open = append(open, &listener{want: at, addr: at})
		}
		var want []netip.AddrPort
		for a := range strings.FieldsSeq(tt.want) {
			want = append(want, netip.MustParseAddrPort(a))
		}
		got := ""
		if err := overlap(open, want); err != nil {
			got = err.Error()
		}
		if got != tt.err {
			t.Errorf("%s: error %q, want %q", tt.name, got, tt.err)
		}
	}
}

// If this fails, a change of dns.listen needs a restart, or a failed one loses
// the addresses that were served.
func TestReloadOfAddresses(t *testing.T) {
	s := lanServer(t)
	first := serving(t, s, daemontest.Addr(t).String())[0] // nobody gets it by chance afterwards, not even who dials it
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()

	bad := lanConfig(t)
	other := netip.MustParseAddrPort(loopbacks(t)[1])
	if other.Addr().Is4() {
		other = netip.MustParseAddrPort("127.0.0.2:0")
	}
	bad.Listen = []netip.AddrPort{other, netip.MustParseAddrPort(taken.Addr().String())}
	if err := s.Reload(bad); !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("error %v", err)
	}
	call(t, "udp", first, "mail.example.lan.")
	if at := s.Addrs(); len(at) != 1 || at[0] != first {
		t.Errorf("after a refused reload on %v, want %v", at, first)
	}

	good := lanConfig(t)
	good.Listen = []netip.AddrPort{other}
	reload(t, s, good)
	second := s.Addrs()[0]
	call(t, "udp", second, "mail.example.lan.")
	call(t, "tcp", second, "mail.example.lan.")
	if c, err := net.Dial("tcp", first.String()); err == nil {
		c.Close()
		t.Error("the removed address still takes connections")
	}
}

// If this fails, queries are lost or answered with a mixture while
// configurations and decisions change.
func TestQueriesDuringReloads(t *testing.T) {
	for name, plain := range ways() {
		t.Run(name, func(t *testing.T) {
			s := lanServer(t)
			s.plain = plain
			at := serving(t, s, "127.0.0.1:0")[0]
			cfg := lanConfig(t)
			cfg.Listen = s.want
			var stop atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				for i := 0; !stop.Load(); i++ {
					if err := s.Reload(cfg); err != nil {
						t.Error(err)
					}
					if i%2 == 0 {
						s.SetAnswer("hamburg", "default", answer("10.2.0.11", "10.2.0.12"))
					} else {
						s.SetAnswer("hamburg", "default", answer("10.2.0.21", "10.2.0.22"))
					}
					s.Stats()
				}
			})
			for range 500 {
				got := addressesOf(call(t, "udp", at, "app.example.lan."))
				switch strings.Join(got, " ") {
				case "10.2.0.11", // of lanServer
					"10.2.0.11 10.2.0.12", "10.2.0.12 10.2.0.11", "10.2.0.21 10.2.0.22", "10.2.0.22 10.2.0.21":
				default:
					t.Fatalf("got %v", got)
				}
			}
			stop.Store(true)
			wg.Wait()
		})
	}
}
