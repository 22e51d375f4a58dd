package demo

import (
	"io"
	"net/netip"
	"testing"
)

// Who has the demo answer DNS at the port of its dashboard would get no demo: the two
// cannot have one port.
func TestDNSAtThePortOfTheDashboard(t *testing.T) {
	d := &demo{opt: Options{DNS: netip.MustParseAddrPort("127.0.0.1:8053")}, screen: &screen{w: io.Discard}}
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if d.web == d.opt.DNS {
		t.Errorf("DNS and the dashboard are both at %s", d.web)
	}
}
