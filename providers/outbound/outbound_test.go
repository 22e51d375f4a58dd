package outbound

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
)

// If this fails, whoever answers for the name of a webhook, a mail server or a target
// can have the keys of the machine asked for, or the controller's own listeners, and
// read what is said of the answer.
func TestNamesLeadToNothingOfThisMachine(t *testing.T) {
	g := Guard{Own: []netip.AddrPort{
		netip.MustParseAddrPort("10.0.0.1:8443"), netip.MustParseAddrPort("127.0.0.1:8053"), netip.MustParseAddrPort("[::]:53"),
	}}
	for _, tt := range []struct {
		address string
		refused bool
	}{
		{"169.254.169.254:80", true},
		{"[fe80::1%eth0]:443", true},
		{"[::ffff:169.254.1.1]:80", true},
		{"[::169.254.169.254]:80", true},
		{"[fd00:ec2::254]:80", true},
		{"[fd20:ce::254]:80", true},
		{"100.100.100.200:80", true},
		{"192.0.0.192:80", true},
		{"168.63.129.16:80", true},
		{"[::ffff:192.0.0.192]:80", true},
		{"[64:ff9b::a9fe:a9fe]:80", true},
		{"[64:ff9b::6464:64c8]:80", true},
		{"[64:ff9b:1::a9fe:a9fe]:80", true},
		{"[64:ff9b:1:a9fe:a9:fe00::]:80", true},
		{"[2002:a9fe:a9fe::1]:80", true},
		{"10.0.0.1:8443", true},
		{"[::ffff:10.0.0.1]:8443", true},
		{"127.0.0.1:8053", true},
		{"0.0.0.0:8053", true},
		{"[::]:8053", true},
		{"127.0.0.1:53", true},
		{"127.8.8.8:53", true},
		{"[::1]:53", true},
		{"0.0.0.0:53", true},

		{"127.0.0.1:25", false},
		{"127.0.0.2:8053", false},
		{"10.0.0.1:443", false},
		{"10.0.0.2:8443", false},
		{"192.0.2.1:53", false}, // of documentation, so of no machine
		{"192.0.2.1:443", false},
		{"100.100.100.201:80", false},
		{"[fd00::1]:443", false},
		{"[2001:db8::1]:443", false},
		{"[2001:db8::a9fe:a9fe]:443", false},
		{"[64:ff9b::c000:201]:443", false},
		{"[64:ff9b:1::c000:201]:443", false},
		{"[2002:c000:201::1]:443", false},
	} {
		err := g.Check("hook.example.com", netip.MustParseAddrPort(tt.address))
		if got := errors.As(err, new(*RefusedError)); got != tt.refused {
			t.Errorf("%s: %v", tt.address, err)
		}
	}
}

// If this fails, an address that stands in the configuration is refused, or a name is
// held against what it led to before it was looked up again.
func TestTheAddressThatIsDialledIsChecked(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := netip.MustParseAddrPort(l.Addr().String())
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	name := net.JoinHostPort("localhost", port)
	for _, tt := range []struct {
		name, addr string
		guard      Guard
		own        bool
	}{
		{"the address of our own listener", at.String(), Guard{Own: []netip.AddrPort{at}}, false},
		{"a name of our own listener", name, Guard{Own: []netip.AddrPort{at}}, true},
		{"a name of our own listener on all addresses", name, Guard{Own: []netip.AddrPort{netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port())}}, true},
		{"a name of another's listener", name, Guard{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			d := tt.guard.Over(tt.addr, net.Dialer{Control: func(string, string, syscall.RawConn) error { asked = true; return nil }})
			conn, err := d.DialContext(context.Background(), "tcp4", tt.addr)
			if err == nil {
				_ = conn.Close()
			}
			var refused *RefusedError
			switch got := errors.As(err, &refused) && refused.Own; {
			case got != tt.own, !tt.own && err != nil:
				t.Errorf("%v", err)
			case asked == tt.own:
				t.Errorf("what the dialer does itself was done: %t", asked)
			}
		})
	}
}
