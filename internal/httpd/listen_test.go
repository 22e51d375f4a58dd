package httpd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
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

// Who takes http away and puts it back at once would have the second reload refused:
// the address would be taken, by the controller itself.
func TestAnAddressThatIsLeftIsFreeAtOnce(t *testing.T) {
	s := open(t, func(c *config.HTTP) { c.Listen = []netip.AddrPort{daemontest.Addr(t)} })
	for range 100 { // nothing else has a turn between the two, most of the time
		s.use(nil)
		s.use(s.cfg)
	}
	if res, _ := s.ask("GET", "/-/healthy", ""); res.StatusCode != 200 {
		t.Errorf("it does not answer: %d", res.StatusCode)
	}
	if log := s.log.String(); strings.Contains(log, "has ended") {
		t.Errorf("what was meant to end is told as a fault: %s", log)
	}
}

// What asks for the health by HTTP/1.0, as balancers and monitors do, names no host, and
// would take a controller that is well for dead. No browser does so.
func TestHealthWithoutAHost(t *testing.T) {
	s := open(t, nil)
	for request, want := range map[string]string{
		"GET /-/healthy HTTP/1.0\r\n\r\n":                               "200",
		"GET /-/healthy HTTP/1.0\r\nHost: evil.example\r\n\r\n":         "421",
		"GET /-/healthy HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n": "421",
	} {
		conn, err := net.Dial("tcp", s.addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(strings.SplitN(string(answer), "\r\n", 2)[0], want) {
			t.Errorf("%q: %.60q, %v", request, answer, err)
		}
		_ = conn.Close()
	}
}

// If this fails, who has the configuration read again over the network, and has another
// address in it, is not told that it was taken: the connection breaks.
func TestAReloadThatMovesTheListenerIsAnswered(t *testing.T) {
	s := open(t, nil)
	moved := *s.cfg
	moved.Listen = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.2:0")}
	s.ctl.reload = func() { s.use(&moved) }
	before := s.addr()
	res, text := s.ask("POST", "/api/v1/reload", "{}", bearing("admin"))
	if res.StatusCode != http.StatusOK {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	s.ctl.reload = nil
	if s.addr() == before {
		t.Fatal("it has not moved")
	}
}
