package guides

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
	"github.com/dnsteer/dnsteer/internal/netnstest"
	"github.com/dnsteer/dnsteer/internal/routersim"
)

// world is what a guide speaks of, with the addresses and ports that it names:
// the controller's machine is one network namespace, everything else another,
// and a wire is between them.
type world struct {
	t           *testing.T
	controller  string
	here, there netnstest.Namespace
	// things can be stopped and started: "10.1.0.11" is all of a machine,
	// "10.1.0.11:443" one port of it.
	things map[string]*thing
	router map[string]*routersim.Router
}

// thing listens at an address, or does not.
type thing struct {
	start func()
	stop  func()
	on    bool
}

// newWorld makes one in which the controller has one address, and those that are
// given are elsewhere.
func newWorld(t *testing.T, controller string, elsewhere ...string) *world {
	t.Helper()
	w := &world{t: t, controller: controller, things: map[string]*thing{}, router: map[string]*routersim.Router{}}
	w.here, w.there = netnstest.New(t, "here"), netnstest.New(t, "there")
	netnstest.Wire(t, netnstest.End{In: w.here, Link: "wire"}, netnstest.End{In: w.there, Link: "wire"})
	w.here.IP(t, "addr add "+controller+"/32 dev wire", "route add default dev wire src "+controller)
	for _, a := range elsewhere {
		w.there.IP(t, "addr add "+a+"/32 dev wire")
	}
	w.there.IP(t, "route add default dev wire src "+elsewhere[0])
	w.there.NFT(t, "table inet guide { chain cut { type filter hook input priority 0; }; }")
	t.Cleanup(func() {
		for _, th := range w.things {
			if th.on {
				th.stop()
			}
		}
	})
	return w
}

// machine makes a machine of its own, with a wire to the controller.
func (w *world) machine(addr string) netnstest.Namespace {
	w.t.Helper()
	ns := netnstest.New(w.t, "machine")
	wire := "to-" + addr[strings.LastIndexByte(addr, '.')+1:] + addr[:2]
	netnstest.Wire(w.t, netnstest.End{In: w.here, Link: wire}, netnstest.End{In: ns, Link: "wire"})
	w.here.IP(w.t, "route add "+addr+"/32 dev "+wire+" src "+w.controller)
	ns.IP(w.t, "addr add "+addr+"/32 dev wire", "route add default dev wire src "+addr)
	return ns
}

// cut has nothing come and go between the controller and a network, without a
// word; heal ends that.
func (w *world) cut(prefix string) {
	w.t.Helper()
	w.there.NFT(w.t, "add rule inet guide cut ip saddr "+w.controller+" ip daddr "+prefix+" drop")
}

func (w *world) heal() {
	w.t.Helper()
	w.there.NFT(w.t, "flush chain inet guide cut")
}

// add takes a thing and starts it.
func (w *world) add(name string, th *thing) {
	w.t.Helper()
	w.things[name] = th
	w.set(name, true)
}

// set starts or stops the things of a machine, or one of them.
func (w *world) set(name string, on bool) {
	w.t.Helper()
	found := false
	for at, th := range w.things {
		if at != name && !strings.HasPrefix(at, name+":") {
			continue
		}
		found = true
		if th.on == on {
			continue
		}
		if th.on = on; on {
			th.start()
		} else {
			th.stop()
		}
	}
	if !found {
		w.t.Fatalf("there is no %s in this world", name)
	}
}

// web is a proxy that answers every request with 200.
func (w *world) web(at string) {
	w.t.Helper()
	var server *http.Server
	w.add(at, &thing{
		start: func() {
			s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
			w.there.Do(w.t, func() error {
				l, err := net.Listen("tcp", at)
				if err == nil {
					go func() { _ = s.Serve(l) }()
				}
				return err
			})
			server = s
		},
		stop: func() { _ = server.Close() },
	})
}

// resolver is a site's resolver, which knows localhost and its own name.
func (w *world) resolver(addr, name string) {
	w.t.Helper()
	at := net.JoinHostPort(addr, "53")
	handler := dns.HandlerFunc(func(rw dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetRcode(q, dns.RcodeNameError)
		known := map[string]string{"localhost.": "127.0.0.1", name + ".": addr}
		if a := known[q.Question[0].Name]; a != "" {
			m.Rcode = dns.RcodeSuccess
			m.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}, A: net.ParseIP(a)}}
		}
		_ = rw.WriteMsg(m)
	})
	var server *dns.Server
	w.add(at, &thing{
		start: func() {
			up := make(chan struct{})
			s := &dns.Server{Handler: handler, NotifyStartedFunc: func() { close(up) }}
			w.there.Do(w.t, func() (err error) {
				s.PacketConn, err = net.ListenPacket("udp", at)
				return err
			})
			go func() { _ = s.ActivateAndServe() }()
			<-up
			server = s
		},
		stop: func() { _ = server.Shutdown() },
	})
}

// adguard is an AdGuard Home with its pages on port 80.
func (w *world) adguard(addr, user, password string) *adguardsim.Server {
	w.t.Helper()
	var sim *adguardsim.Server
	w.there.Do(w.t, func() (err error) {
		sim, err = adguardsim.Start(adguardsim.Options{
			Username: user, Password: password,
			HTTP: net.JoinHostPort(addr, "80"), DNS: net.JoinHostPort(addr, "53"),
		})
		return err
	})
	w.t.Cleanup(func() { _ = sim.Close() })
	return sim
}

// mikrotik is a router with its API on the usual ports.
func (w *world) mikrotik(addr, password string) {
	w.t.Helper()
	r, err := routersim.New(routersim.Options{
		Password: password, DNS: netip.AddrPortFrom(netip.MustParseAddr(addr), 53), UsualPorts: true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.there.Do(w.t, func() error { return r.Start(w.t.Context()) })
	w.t.Cleanup(func() { _ = r.Close() })
	w.router[addr] = r
}
