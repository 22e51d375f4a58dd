package dnsserver

import (
	"net/netip"
	"testing"
)

// If this fails, decisions wait while a reload opens addresses, and while it looks
// through all processes for the one that has a port.
func TestDecisionsDoNotWaitForSockets(t *testing.T) {
	s := lanServer(t)
	opened := 0
	s.net.bind = func(want netip.AddrPort, workers int) (*listener, error) {
		opened++
		if !s.mu.TryLock() {
			t.Error("an answer could not be set")
		} else {
			s.mu.Unlock()
		}
		return openListener(want, workers)
	}
	serving(t, s, "127.0.0.1:0")
	cfg := lanConfig(t)
	cfg.Listen = append(s.want, netip.MustParseAddrPort("127.0.0.2:0"))
	reload(t, s, cfg)
	if opened != 2 {
		t.Errorf("%d addresses were opened", opened)
	}
}

// If this fails, a secondary is told from an address that cannot reach it, because that
// is listened on first.
func TestSourceOfNotify(t *testing.T) {
	s := lanServer(t)
	for _, a := range []string{"127.0.0.1:53", "[fe80::1%lo]:53", "[::1]:53", "10.1.0.53:53", "[fd00::53]:53"} {
		s.net.open = append(s.net.open, &listener{addr: netip.MustParseAddrPort(a)})
	}
	for to, want := range map[string]string{
		"10.1.0.54": "10.1.0.53", "fd00::54": "fd00::53", "fe80::2%lo": "fe80::1%lo", "127.0.0.9": "127.0.0.1", "::1": "::1",
	} {
		if got := s.source(netip.MustParseAddr(to)).String(); got != want {
			t.Errorf("%s is told from %s, want %s", to, got, want)
		}
	}
}
