package realnet

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/sites"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// The times of the usual configuration.
const (
	interval  = 500 * time.Millisecond
	threshold = 2 * time.Second
	timeout   = time.Second
	grace     = 2 * time.Second
	// within are so many probes that a threshold has passed several times over.
	within = int(4 * threshold / interval)
	host   = "app.example.lan"
	// pace is how often a watch asks.
	pace = 50 * time.Millisecond
)

// page is a probe that reads the whole page of a node.
const page = `{type: http, url: "http://{address}:443/", body: "` + LastWords + `"}`

// usual is a world of two sites with two nodes each, and a controller for it: berlin,
// where the controller stands, with an Unbound, and hamburg, whose RouterOS is pushed
// to and is the resolver. Each is the other's emergency site.
type usual struct {
	*World
	*Controller
	t               *testing.T
	berlin, hamburg *Watch
	foreign         string // the ID of a record at the router that is not the controller's
}

// newUsual makes it. What is to be prepared is, before the controller is started.
func newUsual(t *testing.T, probe string, prepare ...func(*World)) *usual {
	t.Helper()
	place := func(name string, n byte, router bool) Place {
		return Place{Name: name, Resolver: netip.AddrFrom4([4]byte{10, n, 0, 1}), Router: router, Nodes: []Machine{
			{"a", netip.AddrFrom4([4]byte{10, n, 0, 11})}, {"b", netip.AddrFrom4([4]byte{10, n, 0, 12})},
		}}
	}
	w := New(t, place("berlin", 1, false), place("hamburg", 2, true))
	hamburg := w.Site("hamburg")
	foreign, err := hamburg.Router().Do("/ip/dns/static/add", "name=printer.example.lan", "address=10.2.0.77", "comment=of the people in hamburg")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range prepare {
		f(w)
	}
	c := w.Serve(fmt.Sprintf(`
instance: net
dns:
  listen: ["%s"]
  zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A %s"]}]
defaults:
  threshold: %s
  grace: %s
  probe_interval: %s
  probe_timeout: %s
  site_threshold: 1s
  ttl: 1s
  ttl_unsettled: 1s
  probes: [%s]
sites:
  - name: berlin
    local: true
    resolver: 10.1.0.1
    clients: [10.1.0.0/16]
    emergency_site: hamburg
    nodes: [{name: a, addresses: [10.1.0.11]}, {name: b, addresses: [10.1.0.12]}]
  - name: hamburg
    resolver: 10.2.0.1
    clients: [10.2.0.0/16]
    emergency_site: berlin
    nodes: [{name: a, addresses: [10.2.0.11]}, {name: b, addresses: [10.2.0.12]}]
    targets: [builtin, router]
services: [{hosts: [%s]}]
targets:
  - %s
`, DNSListen, controllerAddr, threshold, grace, interval, timeout, probe, host, hamburg.TargetYAML("router")))
	u := &usual{World: w, Controller: c, t: t, foreign: foreign}
	u.berlin = w.Site("berlin").Watch(host, dns.TypeA, pace)
	u.hamburg = hamburg.Watch(host, dns.TypeA, pace)
	c.Acquainted()
	u.berlin.Await("10.1.0.11", "10.1.0.12")
	u.hamburg.Await("10.2.0.11", "10.2.0.12")
	u.pushed("10.2.0.11", "10.2.0.12")
	return u
}

// watch of the site of a node.
func (u *usual) watch(site string) *Watch {
	if site == "berlin" {
		return u.berlin
	}
	return u.hamburg
}

// pushed waits until the router of hamburg holds these addresses of the host.
func (u *usual) pushed(addresses ...string) {
	u.t.Helper()
	want := strings.Join(addresses, " ")
	Until(u.t, "the router holds ["+want+"]", func() string {
		if got := u.held(); got != want {
			return "it holds [" + got + "]"
		}
		return ""
	})
}

// held are the addresses of the host at the router, sorted.
func (u *usual) held() string {
	var list []string
	for _, r := range u.Site("hamburg").Router().Records() {
		if r.Fields["name"] == host {
			list = append(list, r.Fields["address"])
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// always holds what must hold at each moment of a test, at its end: no client got
// nothing or a failure, no record of others was touched, and nothing was told twice.
func (u *usual) always() {
	u.t.Helper()
	for _, x := range []*Watch{u.berlin, u.hamburg} {
		met := false
		for _, a := range x.After(0) {
			met = met || a.Addresses != ""
			// Before it has met the nodes there may be nothing to answer.
			if met && (a.Addresses == "" || a.Rcode != "NOERROR") {
				u.t.Errorf("%s got %s", x.question, a.String())
			}
		}
	}
	for _, r := range u.Site("hamburg").Router().Records() {
		if r.ID == u.foreign && (r.Fields["address"] != "10.2.0.77" || r.Fields["comment"] != "of the people in hamburg") {
			u.t.Errorf("a record of others is now %v", r.Fields)
		}
	}
	for _, fault := range u.twice() {
		u.t.Error(fault)
	}
}

// twice gives what was told more than once.
func (u *usual) twice() (faults []string) {
	fired := map[uint64]int{}
	for _, m := range u.Messages() {
		if m.Phase != alert.Firing {
			continue
		}
		for _, id := range m.IDs {
			if fired[id]++; fired[id] == 2 {
				faults = append(faults, fmt.Sprintf("event %d is told again: %s", id, m.Subject))
			}
		}
	}
	return faults
}

// told waits until people were told of an event, by one message.
func (u *usual) told(e *sites.Event) {
	u.t.Helper()
	Until(u.t, "people are told of "+Name(e), func() string {
		for _, m := range u.Messages() {
			if slices.Contains(m.IDs, e.ID) {
				return ""
			}
		}
		return "no message has it"
	})
}

// none holds that no events of these kinds came after one.
func (u *usual) none(after uint64, kinds ...sites.Kind) {
	u.t.Helper()
	for _, e := range u.Events(after) {
		for _, k := range kinds {
			if e.Kind == k {
				u.t.Errorf("%s", Told([]sites.Event{e})[0])
			}
		}
	}
}

// moves are the kinds of events by which an answer moves.
func moves() []sites.Kind {
	return []sites.Kind{sites.FailoverOutage, sites.FailoverSwitch, sites.FailoverFailback}
}
