package realnet

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/netnstest"
)

// Addresses that are the same in each world. Those of a site begin with the two
// octets of its resolver's.
const (
	controllerAddr = "10.0.0.10"
	coreAddr       = "10.0.0.1"
	gatewayAddr    = "10.255.255.1"
	hookPort       = "8080"
)

// Place says what a site has.
type Place struct {
	Name     string
	Resolver netip.Addr
	// Router: the resolver is a simulated RouterOS, and not an Unbound that asks the
	// controller.
	Router bool
	Nodes  []Machine
}

// Machine is a node of a Place.
type Machine struct {
	Name string
	Addr netip.Addr
}

// World is a network. All of it goes with the test; what happened in it is shown if
// the test fails.
type World struct {
	t     testing.TB
	dir   string
	start time.Time
	// here is the controller's machine; core is where all lines meet, and where
	// alerts are received.
	here, core netnstest.Namespace
	sites      []*Site
	hook       *hook
	disk       *disk // of the state; nil if it has none of its own
	faults     int

	mu  sync.Mutex
	log []string
}

// Site is a place with its machines, behind a router.
type Site struct {
	Name   string
	w      *World
	prefix string // "10.1."
	router netnstest.Namespace
	// resolver is the machine of it; unbound or RouterOS runs there.
	resolver netnstest.Namespace
	witness  witness
	nodes    []*Node
}

// New makes a world of places.
func New(t testing.TB, places ...Place) *World {
	t.Helper()
	netnstest.Need(t)
	dir, err := os.MkdirTemp("", "net-") //nolint:usetesting // short, for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w := &World{t: t, dir: dir, start: time.Now(), here: netnstest.New(t, "controller"), core: netnstest.New(t, "core")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what was done:\n%s", strings.Join(w.Log(), "\n"))
		}
	})
	netnstest.Wire(t, netnstest.End{In: w.here, Link: "wire"}, netnstest.End{In: w.core, Link: "controller"})
	w.here.IP(t, "addr add "+controllerAddr+"/32 dev wire", "route add default via "+coreAddr+" dev wire onlink")
	w.core.IP(t, "addr add "+coreAddr+"/32 dev controller", "route add "+controllerAddr+"/32 dev controller")
	w.core.Sysctl(t, "ipv4/ip_forward", "1")
	w.hook = newHook(t, w)
	for i := range places {
		w.site(i, &places[i])
	}
	return w
}

// site makes a site.
func (w *World) site(i int, p *Place) {
	w.t.Helper()
	octets := p.Resolver.As4()
	s := &Site{Name: p.Name, w: w, prefix: fmt.Sprintf("%d.%d.", octets[0], octets[1]), router: netnstest.New(w.t, "router-"+p.Name)}
	w.sites = append(w.sites, s)
	netnstest.Wire(w.t, netnstest.End{In: w.core, Link: p.Name}, netnstest.End{In: s.router, Link: "up"})
	w.core.IP(w.t, fmt.Sprintf("addr add 10.255.%d.1/30 dev %s", i, p.Name), fmt.Sprintf("route add %s0.0/16 via 10.255.%d.2", s.prefix, i))
	s.router.IP(w.t, fmt.Sprintf("addr add 10.255.%d.2/30 dev up", i), fmt.Sprintf("route add default via 10.255.%d.1", i))
	s.router.Sysctl(w.t, "ipv4/ip_forward", "1")
	// Clients of a site that ask on the controller's own machine: they get answers
	// whatever becomes of the lines.
	w.here.IP(w.t, "addr add "+s.client()+"/32 dev lo")
	s.resolver = s.machine("resolver", p.Resolver)
	if p.Router {
		s.witness = newRouterOS(w.t, s.resolver, p.Resolver)
	} else {
		s.witness = newUnbound(w.t, w, s.resolver, p.Resolver)
	}
	for _, m := range p.Nodes {
		n := &Node{Name: p.Name + "/" + m.Name, addr: m.Addr, site: s, link: "node-" + m.Name, machine: s.machine("node-"+m.Name, m.Addr)}
		s.nodes = append(s.nodes, n)
		n.start(quick)
		w.t.Cleanup(n.stop)
	}
}

// client is the address by which clients of the site ask.
func (s *Site) client() string { return s.prefix + "0.99" }

// machine makes a machine of the site. Its link at the router has its name.
func (s *Site) machine(name string, addr netip.Addr) netnstest.Namespace {
	t := s.w.t
	t.Helper()
	ns := netnstest.New(t, s.Name+"-"+name)
	netnstest.Wire(t, netnstest.End{In: s.router, Link: name}, netnstest.End{In: ns, Link: "wire"})
	s.router.IP(t, "addr add "+gatewayAddr+"/32 dev "+name, fmt.Sprintf("route add %s/32 dev %s", addr, name))
	ns.IP(t, fmt.Sprintf("addr add %s/32 dev wire", addr), defaultRoute)
	return ns
}

const defaultRoute = "route add default via " + gatewayAddr + " dev wire onlink"

// Node finds one by "site/node".
func (w *World) Node(name string) *Node {
	w.t.Helper()
	for _, n := range w.Nodes() {
		if n.Name == name {
			return n
		}
	}
	w.t.Fatalf("there is no node %s in this world", name)
	return nil
}

// Nodes of all sites.
func (w *World) Nodes() (list []*Node) {
	for _, s := range w.sites {
		list = append(list, s.nodes...)
	}
	return list
}

// Site finds one by its name.
func (w *World) Site(name string) *Site {
	w.t.Helper()
	for _, s := range w.sites {
		if s.Name == name {
			return s
		}
	}
	w.t.Fatalf("there is no site %s in this world", name)
	return nil
}

// clock is how moments are written, in UTC.
const clock = "15:04:05.000"

// note writes down what is done, with its time.
func (w *World) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.log = append(w.log, fmt.Sprintf("%8.3fs %s %s", now.Sub(w.start).Seconds(), now.UTC().Format(clock), fmt.Sprintf(format, args...)))
}

// Log gives what was done so far.
func (w *World) Log() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.log...)
}

// patience is how long a thing that must come to be is waited for, on a machine that
// has much else to do. Nothing is measured by it.
const patience = 4 * time.Minute

// Until waits until there is no fault any more, which says what is otherwise.
func Until(t testing.TB, what string, fault func() string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond) // asking is polling
	defer tick.Stop()
	for limit := time.Now().Add(patience); ; <-tick.C {
		f := fault()
		if f == "" {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("it does not come to be that %s: %s", what, f)
		}
	}
}
