package app

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/adguardsim"
)

// handed is a target with a hand in it.
type handed struct {
	dns netip.AddrPort
	// spec is the target's line of the configuration.
	spec string
	// change has the record with an address hold another one.
	change func(from, to string)
	// resolves gives what it answers to a name.
	resolves func(host string) string
}

func handedRouter(t *testing.T) handed {
	r := newRouter(t)
	return handed{
		dns:  r.DNSAddr(),
		spec: fmt.Sprintf("{name: router, type: routeros, address: %q, username: dnsteer, password: secret, plain: true", r.Addr()),
		change: func(from, to string) {
			t.Helper()
			for _, rec := range r.Records() {
				if rec.Fields["address"] == from {
					if _, err := r.Do("/ip/dns/static/set", ".id="+rec.ID, "address="+to); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
		resolves: func(host string) string { return resolves(r, host) },
	}
}

func handedGuard(t *testing.T) handed {
	s, err := adguardsim.Start(adguardsim.Options{Username: "dnsteer", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	to := &pushedTo{servers: []netip.AddrPort{s.DNS()}}
	return handed{
		dns:  s.DNS(),
		spec: fmt.Sprintf("{name: guard, type: adguard, servers: [%q], username: dnsteer, password: secret", s.URL()),
		change: func(from, to string) {
			t.Helper()
			err := s.Edit(func(list []adguardsim.Rewrite) []adguardsim.Rewrite {
				for i := range list {
					if list[i].Answer == from {
						list[i].Answer = to
					}
				}
				return list
			})
			if err != nil {
				t.Fatal(err)
			}
		},
		resolves: func(host string) string { return to.answers(t, host) },
	}
}

// A hand that changes the very record that the witness asks for would stop the
// site's failover, for good where the change is to stand; the controller would
// take the target for a resolver that is down.
func TestAHandInTheProofStopsNoFailover(t *testing.T) {
	for _, kind := range []struct {
		name string
		make func(*testing.T) handed
	}{{"RouterOS", handedRouter}, {"AdGuard Home", handedGuard}} {
		for _, drift := range []string{"repair", "report", "adopt"} {
			t.Run(kind.name+" "+drift, func(t *testing.T) {
				w := newWorld(t, "berlin")
				at := kind.make(t)
				w.write(w.pushedConfig(fmt.Sprintf("%q", at.dns), at.spec+", drift: "+drift+"}"))
				r, p := w.start(), w.sites[0]
				const app = "app.example.lan"
				asked := fmt.Sprintf("up answers %s", p.host(11))
				other := fmt.Sprintf("up answers %s", p.host(12))
				r.until("the witness asks for our record", func() bool { return r.witness() == asked || r.witness() == other })
				at.change(p.host(11).String(), "198.51.100.7")
				r.await("drift")
				p.nodes["a"].off()
				r.await("failover_outage berlin/a")
				r.until("DNS follows", func() bool { return r.asks(p, app) == p.all(12) })
				if kind.name == "RouterOS" { // elsewhere what the hand put there is its own
					r.until("the target follows", func() bool { return at.resolves(app) == p.all(12) })
				}
			})
		}
	}
}

// A regular expression that hides our record would do the same.
func TestAShadowOverTheProofStopsNoFailover(t *testing.T) {
	w := newWorld(t, "berlin")
	router := newRouter(t)
	w.write(w.routed(router))
	r, p := w.start(), w.sites[0]
	r.until("it is seen there", func() bool { return r.target().Visible > 0 })
	if _, err := router.Do("/ip/dns/static/add", "regexp=^app\\.", "address=198.51.100.7"); err != nil {
		t.Fatal(err)
	}
	if answer, _ := router.Resolve(dns.Question{Name: "app.example.lan.", Qtype: dns.TypeA, Qclass: dns.ClassINET}); len(answer) != 1 {
		t.Skip("this router prefers the record")
	}
	p.nodes["a"].off()
	r.await("failover_outage berlin/a")
}
