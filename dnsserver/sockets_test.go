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

// If this fails, a secondary is told from an address that cannot reach it, or that it
// does not know, because that is listened on first: it does not take the word.
func TestSourceOfNotify(t *testing.T) {
	families := []string{"127.0.0.1", "fe80::1%lo", "fe80::1%eth0", "::1", "10.1.0.53", "fd00::53"}
	two := []string{"10.1.0.53", "192.168.7.53", "fd00:7::53"}
	for _, tt := range []struct {
		name   string
		own    []string
		to     string
		system string // "" where there is no route
		nets   []string
		want   string
	}{
		{"no route", families, "10.1.0.54", "", nil, "10.1.0.53"},
		{"IPv6", families, "fd00::54", "fd00::2", nil, "fd00::53"},
		{"link-local", families, "fe80::2%eth0", "fe80::7%eth0", []string{"fe80::7/64"}, "fe80::1%eth0"},
		{"loopback", families, "127.0.0.9", "127.0.0.1", []string{"127.0.0.1/8"}, "127.0.0.1"},
		{"loopback over IPv6", families, "::1", "::1", []string{"::1/128"}, "::1"},
		{"the shared address of a pair", []string{"10.1.0.53", "10.1.0.2"}, "10.1.0.54", "10.1.0.2", []string{"10.1.0.2/24"}, "10.1.0.53"},
		{"the second network", two, "192.168.7.9", "192.168.7.2", []string{"10.1.0.2/24", "192.168.7.2/24"}, "192.168.7.53"},
		{"the second network, a host's own prefix", two, "192.168.7.9", "192.168.7.53", []string{"10.1.0.2/24", "192.168.7.53/32"}, "192.168.7.53"},
		{"a third network", two, "172.16.0.9", "172.16.0.2", []string{"10.1.0.2/24", "172.16.0.2/24"}, "10.1.0.53"},
		{"all addresses", []string{"0.0.0.0", "::"}, "10.1.0.54", "10.1.0.2", []string{"10.1.0.2/24"}, "invalid IP"},
	} {
		var system netip.Addr
		if tt.system != "" {
			system = netip.MustParseAddr(tt.system)
		}
		if got := source(addrs(tt.own...), netip.MustParseAddr(tt.to), system, prefixes(tt.nets...)).String(); got != tt.want {
			t.Errorf("%s: told from %s, want %s", tt.name, got, tt.want)
		}
	}
}
