package probes

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/netnstest"
	"github.com/dnsteer/dnsteer/sites"
)

// namespace is a network namespace of a test.
type namespace struct{ netnstest.Namespace }

// do runs f in the namespace. What f starts in other goroutines is not in it.
func (ns namespace) do(t *testing.T, f func()) {
	t.Helper()
	ns.Do(t, func() error { f(); return nil })
}

// world is a prober and the router that it reaches everything by:
// 10.99.0.1 and fd99::1 are its own, 10.99.0.2 and fd99::2 the router's.
func world(t *testing.T) (prober, router namespace) {
	t.Helper()
	prober, router = namespace{netnstest.New(t, "prober")}, namespace{netnstest.New(t, "router")}
	netnstest.Wire(t, netnstest.End{In: prober.Namespace, Link: "p0"}, netnstest.End{In: router.Namespace, Link: "r0"})
	prober.IP(t,
		"addr add 10.99.0.1/24 dev p0", "addr add fd99::1/64 dev p0 nodad",
		"route add 10.99.16.0/20 via 10.99.0.2", "route add fd99:16::/32 via fd99::2",
		"route add unreachable 10.99.32.0/24", "route add unreachable fd99:32::/48",
		"route add prohibit 10.99.33.0/24", "route add prohibit fd99:33::/48",
		"route add blackhole 10.99.34.0/24", "route add blackhole fd99:34::/48",
	)
	router.IP(t,
		"addr add 10.99.0.2/24 dev r0", "addr add fd99::2/64 dev r0 nodad",
		"route add unreachable 10.99.17.0/24", "route add unreachable fd99:16:17::/48",
		"route add prohibit 10.99.18.0/24", "route add prohibit fd99:16:18::/48",
		"route add blackhole 10.99.19.0/24", "route add blackhole fd99:16:19::/48",
		"link add r1 type veth peer name r2", "link set r1 up", "link set r2 up",
		"addr add 10.99.20.1/24 dev r1", "addr add fd99:16:20::1/64 dev r1 nodad",
	)
	router.Sysctl(t, "ipv4/ip_forward", "1")
	router.Sysctl(t, "ipv6/conf/all/forwarding", "1")
	router.Sysctl(t, "ipv4/icmp_ratelimit", "0")
	router.Sysctl(t, "ipv6/icmp/ratelimit", "0")
	// A host that is off is found out in a fraction of the usual three seconds.
	prober.Sysctl(t, "ipv4/neigh/p0/retrans_time_ms", "50")
	prober.Sysctl(t, "ipv6/neigh/p0/retrans_time_ms", "50")
	router.Sysctl(t, "ipv4/neigh/r1/retrans_time_ms", "50")
	router.Sysctl(t, "ipv6/neigh/r1/retrans_time_ms", "50")
	// The kernel takes a moment until IPv6 works on a new link.
	for ready := false; !ready; {
		if t.Context().Err() != nil {
			t.Fatal("IPv6 does not work on the new link")
		}
		prober.do(t, func() { ready = ask(t, TCP{Port: 9}, "fd99::2", time.Second).Cause == string(CauseRefused) })
	}
	return prober, router
}

// In a real network, what this machine cannot do would be taken for an outage
// of a healthy node, or a router's word about a dead one for a fault of ours
// (O1).
func TestNetworkFaults(t *testing.T) {
	prober, _ := world(t)
	tests := []struct {
		name    string
		addr    string
		timeout time.Duration
		want    want
	}{
		{"closed port", "10.99.0.2", soon, want{sites.Down, CauseRefused}},
		{"no route of our own", "203.0.113.1", soon, want{sites.Unknown, CauseLocalRoute}},
		{"unreachable by a route of our own", "10.99.32.1", soon, want{sites.Unknown, CauseLocalRoute}},
		{"prohibited by a route of our own", "10.99.33.1", soon, want{sites.Unknown, CauseLocalPermission}},
		{"a router has no route", "10.99.16.1", soon, want{sites.Down, CauseUnreachableNet}},
		{"a router has a route that refuses", "10.99.17.1", soon, want{sites.Down, CauseUnreachableHost}},
		{"host off behind a router", "10.99.20.77", soon, want{sites.Down, CauseUnreachableHost}},
		{"a router prohibits", "10.99.18.1", soon, want{sites.Down, CauseUnreachableHost}},
		{"black hole", "10.99.19.1", never, want{sites.Down, CauseTimeout}},
		{"host off", "10.99.0.77", soon, want{sites.Down, CauseUnreachableHost}},
		{"closed port, IPv6", "fd99::2", soon, want{sites.Down, CauseRefused}},
		{"no route of our own, IPv6", "2001:db8::1", soon, want{sites.Unknown, CauseLocalRoute}},
		{"unreachable by a route of our own, IPv6", "fd99:32::1", soon, want{sites.Unknown, CauseLocalRoute}},
		{"prohibited by a route of our own, IPv6", "fd99:33::1", soon, want{sites.Unknown, CauseLocalPermission}},
		{"a router has no route, IPv6", "fd99:16:16::1", soon, want{sites.Down, CauseUnreachableNet}},
		{"a router has a route that refuses, IPv6", "fd99:16:17::1", soon, want{sites.Down, CauseUnreachableNet}},
		{"host off behind a router, IPv6", "fd99:16:20::77", soon, want{sites.Down, CauseUnreachableHost}},
		{"a router prohibits, IPv6", "fd99:16:18::1", soon, want{sites.Down, CauseProhibited}},
		{"black hole, IPv6", "fd99:16:19::1", never, want{sites.Down, CauseTimeout}},
		{"host off, IPv6", "fd99::77", soon, want{sites.Down, CauseUnreachableHost}},
	}
	t.Run("faults", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				prober.do(t, func() {
					if c := ask(t, TCP{Port: 9}, tt.addr, tt.timeout); verdict(c) != tt.want {
						t.Errorf("got %+v (%s), want %+v", verdict(c), c.Text, tt.want)
					}
				})
			})
		}
	})
	prober.IP(t, "link set p0 down")
	for _, addr := range []string{"10.99.0.2", "10.99.19.1", "fd99::2"} {
		prober.do(t, func() {
			if c := ask(t, TCP{Port: 9}, addr, soon); c.Outcome != sites.Unknown {
				t.Errorf("%s with our own link down: got %+v (%s)", addr, verdict(c), c.Text)
			}
		})
	}
}

// A machine whose ports are used up would take all its nodes for dead (O1).
func TestPortsUsedUp(t *testing.T) {
	prober, router := world(t)
	var l net.Listener
	router.do(t, func() {
		var err error
		if l, err = net.Listen("tcp4", "10.99.0.2:0"); err != nil {
			t.Error(err)
		}
	})
	defer l.Close()
	p := TCP{Port: l.Addr().(*net.TCPAddr).Port}
	prober.Sysctl(t, "ipv4/ip_local_port_range", "50000 50001")
	prober.do(t, func() {
		for range 2 {
			c, err := net.Dial("tcp4", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
		}
		if c := ask(t, p, "10.99.0.2", soon); verdict(c) != (want{sites.Unknown, CauseLocalPorts}) {
			t.Errorf("%+v", c)
		}
	})
}

// A stop would wait for the probes of nodes that do not answer, or take their
// end for an outage.
func TestCancelledInBlackHole(t *testing.T) {
	prober, _ := world(t)
	for _, p := range []Prober{TCP{Port: 9}, ICMP{}} {
		prober.do(t, func() {
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			time.AfterFunc(never, cancel)
			c := p.Probe(ctx, netip.MustParseAddr("10.99.19.1"))
			if verdict(c) != (want{sites.Unknown, CauseCancelled}) || c.Duration > soon/2 {
				t.Errorf("%T: %+v", p, c)
			}
		})
	}
}

// A link-local address without its interface leads nowhere, or to another link.
func TestTCPZone(t *testing.T) {
	prober, router := world(t)
	router.IP(t, "addr add fe80::99/64 dev r0 nodad")
	prober.do(t, func() {
		link, err := net.InterfaceByName("p0")
		if err != nil {
			t.Error(err)
			return
		}
		for zone, want := range map[string]want{
			"p0": {sites.Down, CauseRefused}, fmt.Sprint(link.Index): {sites.Down, CauseRefused}, "p9": {sites.Unknown, CauseLocalRoute},
		} {
			if c := ask(t, TCP{Port: 9}, "fe80::99%"+zone, soon); verdict(c) != want {
				t.Errorf("zone %s: %+v (%s)", zone, verdict(c), c.Text)
			}
		}
	})
}

// A node that is pinged would be called down for want of a route or a
// permission of ours, or a ping would never end where sending is forbidden.
func TestICMPInNamespace(t *testing.T) {
	prober, _ := world(t)
	tests := []struct {
		name    string
		addr    string
		timeout time.Duration
		want    want
	}{
		{"answers", "10.99.0.2", soon, want{sites.Up, ""}},
		{"black hole", "10.99.19.1", never, want{sites.Down, CauseTimeout}},
		{"no route of our own", "203.0.113.1", soon, want{sites.Unknown, CauseLocalRoute}},
		{"prohibited by a route of our own", "10.99.33.1", soon, want{sites.Unknown, CauseLocalPermission}},
		{"answers, IPv6", "fd99::2", soon, want{sites.Up, ""}},
		{"black hole, IPv6", "fd99:16:19::1", never, want{sites.Down, CauseTimeout}},
		{"no route of our own, IPv6", "2001:db8::1", soon, want{sites.Unknown, CauseLocalRoute}},
	}
	for _, mode := range []struct {
		groups string
		mode   ICMPMode
	}{{"1 0", ICMPPrivileged}, {"0 0", ICMPUnprivileged}} {
		prober.Sysctl(t, "ipv4/ping_group_range", mode.groups)
		prober.do(t, func() {
			if got, err := DetectICMP(sites.IPv6); got != mode.mode || err != nil {
				t.Errorf("with ping_group_range %q the mode is %v, %v", mode.groups, got, err)
			}
		})
		for _, tt := range tests {
			t.Run(mode.mode.String()+"/"+tt.name, func(t *testing.T) {
				prober.do(t, func() {
					if c := ask(t, ICMP{Packets: 2}, tt.addr, tt.timeout); verdict(c) != tt.want {
						t.Errorf("got %+v (%s), want %+v", verdict(c), c.Text, tt.want)
					}
				})
			})
		}
	}
}

// A rule of this machine that forbids echo requests alone would have every
// probe try again and again, taking all of a processor, and then count as an
// outage.
func TestICMPForbidden(t *testing.T) {
	prober, _ := world(t)
	prober.IP(t, "rule add ipproto icmp prohibit")
	for _, group := range []string{"0 2147483647", "1 0"} { // unprivileged, privileged
		prober.Sysctl(t, "ipv4/ping_group_range", group)
		prober.do(t, func() {
			c := ask(t, ICMP{}, "10.99.0.2", soon)
			if verdict(c) != (want{sites.Unknown, CauseLocalPermission}) || c.Duration > soon/2 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// People who ask why a node counts as up or down would not see its echoes.
func TestICMPDetail(t *testing.T) {
	prober, _ := world(t)
	prober.do(t, func() {
		c, d := observe(t, ICMP{}, soon)
		if c.Outcome != sites.Up || len(d.Echoes) != 3 || d.EchoesSent != 3 || d.Address != "127.0.0.1" {
			t.Errorf("%+v: %+v", c, d)
		}
		for i, e := range d.Echoes {
			if e.Sequence != i || e.RTT <= 0 {
				t.Errorf("%+v", e)
			}
		}
	})
}
