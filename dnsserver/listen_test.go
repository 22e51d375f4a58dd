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
	"time"

	"github.com/miekg/dns"
)

// serving runs a server on free ports of addresses till the test ends, and gives
// the ports' addresses.
func serving(t *testing.T, s *Server, listen ...string) []netip.AddrPort {
	t.Helper()
	cfg := *s.cfg
	cfg.Listen = nil
	for _, a := range listen {
		cfg.Listen = append(cfg.Listen, netip.MustParseAddrPort(a))
	}
	s.cfg = &cfg
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

// call asks over a real socket.
func call(t *testing.T, network string, to netip.AddrPort, name string) *dns.Msg {
	t.Helper()
	q := new(dns.Msg)
	q.SetQuestion(name, dns.TypeA)
	c := dns.Client{Net: network, Timeout: 5 * time.Second}
	m, _, err := c.Exchange(q, to.String())
	if err != nil {
		t.Fatalf("%s %s: %v", network, to, err)
	}
	return m
}

// If this fails, the server does not serve.
func TestServe(t *testing.T) {
	s := lanServer(t)
	for _, a := range serving(t, s, "127.0.0.1:0", "[::1]:0") {
		for _, network := range []string{"udp", "tcp"} {
			if m := call(t, network, a, "mail.example.lan."); len(m.Answer) != 1 {
				t.Errorf("%s %s: %v", network, a, m)
			}
		}
	}
}

// If this fails, clients of a host with several addresses drop the answers,
// since they come from another address than they asked.
func TestWildcardAnswersFromTheAddressAsked(t *testing.T) {
	if !sharesPorts {
		t.Skip("the system chooses the source here")
	}
	s := lanServer(t)
	at := serving(t, s, "0.0.0.0:0", "[::]:0")
	for _, to := range []netip.AddrPort{
		netip.AddrPortFrom(netip.MustParseAddr("127.0.0.77"), at[0].Port()),
		netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at[0].Port()),
		netip.AddrPortFrom(netip.MustParseAddr("::1"), at[1].Port()),
	} {
		// A connected socket takes packets from the address it asked alone.
		if m := call(t, "udp", to, "mail.example.lan."); len(m.Answer) != 1 {
			t.Errorf("%s: %v", to, m)
		}
	}
}

// If this fails, someone whose port 53 is taken is not told by whom.
func TestPortTaken(t *testing.T) {
	for _, network := range []string{"tcp", "udp"} {
		t.Run(network, func(t *testing.T) {
			var port uint16
			if network == "tcp" {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				port = netip.MustParseAddrPort(l.Addr().String()).Port()
			} else {
				c, err := net.ListenPacket("udp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				port = netip.MustParseAddrPort(c.LocalAddr().String()).Port()
			}
			cfg := lanConfig(t)
			cfg.Listen = []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)}
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
			if !strings.Contains(err.Error(), "choose another port in dns.listen, or stop that program") {
				t.Errorf("error %q names no way out", err)
			}
		})
	}
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
		var n network
		for _, a := range strings.Fields(tt.open) {
			at := netip.MustParseAddrPort(a)
			n.open = append(n.open, &listener{want: at, addr: at})
		}
		var want []netip.AddrPort
		for _, a := range strings.Fields(tt.want) {
			want = append(want, netip.MustParseAddrPort(a))
		}
		got := ""
		if err := n.overlap(want); err != nil {
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
	first := serving(t, s, "127.0.0.1:0")[0]
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()

	bad := lanConfig(t)
	bad.Listen = []netip.AddrPort{netip.MustParseAddrPort("[::1]:0"), netip.MustParseAddrPort(taken.Addr().String())}
	if err := s.Reload(bad); !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("error %v", err)
	}
	call(t, "udp", first, "mail.example.lan.")
	if at := s.Addrs(); len(at) != 1 || at[0] != first {
		t.Errorf("after a refused reload on %v, want %v", at, first)
	}

	good := lanConfig(t)
	good.Listen = []netip.AddrPort{netip.MustParseAddrPort("[::1]:0")}
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
	s := lanServer(t)
	at := serving(t, s, "127.0.0.1:0")[0]
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !stop.Load(); i++ {
			if err := s.Reload(&Config{
				Listen: s.cfg.Listen, Zones: s.cfg.Zones, Views: s.cfg.Views, DefaultSite: s.cfg.DefaultSite, Services: s.cfg.Services,
			}); err != nil {
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
}
