package dnsserver

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

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
