package dnsserver

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// apart runs f on a thread that is not the program's first and ends with it. What the
// first one is in is taken for what the whole program is in (/proc/self/net).
func apart(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return // locked: the thread ends
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		apart(f)
	}()
	<-done
	runtime.UnlockOSThread()
}

// inOwnNamespace runs f in a network namespace that ends with the test and has
// loopback alone. Sockets that f opens stay in it.
func inOwnNamespace(t *testing.T, f func(ip func(command string))) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to make a network namespace")
	}
	failed := make(chan error)
	go apart(func() {
		defer close(failed)
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			failed <- fmt.Errorf("make a network namespace: %w", err)
			return
		}
		ip := func(command string) {
			if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
				t.Errorf("ip %s: %v: %s", command, err, out)
			}
		}
		ip("link set lo up")
		f(ip)
	})
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

// If this fails, a start before DHCP or before the address of a pair has come ends the
// controller, or an address that has come, or gone and come again, is not answered.
func TestAddressAppearsLater(t *testing.T) {
	inOwnNamespace(t, func(ip func(string)) {
		s := lanServer(t)
		at := serving(t, s, "127.0.0.1:0", "192.0.2.53:5300", "[2001:db8::53]:5300")
		want := []netip.Addr{at[1].Addr(), at[2].Addr()}
		if got := s.Absent(); !slices.Equal(got, want) {
			t.Errorf("absent are %v, want %v", got, want)
		}
		asked := func(list ...netip.AddrPort) {
			for _, a := range list {
				for _, network := range []string{"udp", "tcp"} {
					if r := call(t, network, a, "mail.example.lan."); len(r.Answer) == 0 {
						t.Errorf("%s over %s: %v", a, network, r)
					}
				}
			}
		}
		asked(at[0]) // the others do not keep it waiting
		for range 2 {
			ip("addr add 192.0.2.53/32 dev lo")
			ip("addr add 2001:db8::53/128 dev lo nodad")
			if got := s.Absent(); len(got) > 0 {
				t.Errorf("absent are %v", got)
			}
			asked(at...)
			ip("addr del 192.0.2.53/32 dev lo")
			ip("addr del 2001:db8::53/128 dev lo")
		}
		asked(at[0])
	})
}

// If this fails, an address of anycast, which a route gives to this host and no
// interface has, is a problem for ever; or one that is missing is told of twice.
func TestAddressOfARoute(t *testing.T) {
	inOwnNamespace(t, func(ip func(string)) {
		ip("route add local 192.0.2.0/24 dev lo")
		ip("route add local 2001:db8::/64 dev lo")
		ip("route add 198.51.100.0/24 dev lo")
		s := lanServer(t)
		at := serving(t, s, "192.0.2.7:5300", "[2001:db8::7]:5300", "198.51.100.7:5300", "198.51.100.7:5301", "[2001:db8:1::7]:5300")
		want := []netip.Addr{at[2].Addr(), at[4].Addr()}
		if got := s.Absent(); !slices.Equal(got, want) {
			t.Errorf("absent are %v, want %v", got, want)
		}
		for _, a := range at[:2] {
			if r := call(t, "udp", a, "mail.example.lan."); len(r.Answer) == 0 {
				t.Errorf("%s: %v", a, r)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, l := range s.net.open {
			if l.absent != slices.Contains(want, at[i].Addr()) {
				t.Errorf("%s is warned of as absent: %v", l.addr, l.absent)
			}
		}
	})
}

// If this fails, who has left the interface out, or starts before it is there, reads
// "invalid argument".
func TestLinkLocalWithoutItsInterface(t *testing.T) {
	inOwnNamespace(t, func(func(string)) {
		for _, a := range []string{"[fe80::1]:5300", "[fe80::1%none0]:5300"} {
			_, err := openListener(netip.MustParseAddrPort(a), 1)
			if err == nil || !strings.Contains(err.Error(), "takes the name of an interface that is there") {
				t.Errorf("%s: %v", a, err)
			}
		}
	})
}
