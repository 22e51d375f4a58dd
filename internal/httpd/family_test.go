package httpd

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// Who writes 0.0.0.0 has a firewall for IPv4, and would be reached by IPv6 as well; and
// who writes both wildcards would have a configuration that is found to be right and is
// not served.
func TestAWildcardIsOfItsFamily(t *testing.T) {
	probe, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("there is no IPv6 here: %v", err)
	}
	_ = probe.Close()
	port := daemontest.Port(t)
	at := func(host string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(host), port) }
	s := open(t, func(c *config.HTTP) { c.Listen = []netip.AddrPort{at("0.0.0.0")} })
	answers := func(host string) bool {
		conn, err := net.Dial("tcp", at(host).String())
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	}
	if !answers("127.0.0.1") || answers("::1") {
		t.Errorf("0.0.0.0: IPv4 %v, IPv6 %v", answers("127.0.0.1"), answers("::1"))
	}
	both := *s.cfg
	both.Listen = append(both.Listen, at("::"))
	s.use(&both)
	if !answers("127.0.0.1") || !answers("::1") {
		t.Error(fmt.Sprint("both: ", s.Missing()))
	}
}
