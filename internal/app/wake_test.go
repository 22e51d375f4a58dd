package app

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/api"
)

// A node behind a router, whose network no broadcast from here reaches, would
// stay asleep; or it would be woken up again and again.
func TestARouterWakesANode(t *testing.T) {
	w := newWorld(t, "berlin")
	router := newRouter(t)
	a := w.sites[0].host(11).String() + "]"
	w.write(w.routed(router, "name: a, addresses: ["+a, "name: a, mac: \"02:00:00:ab:cd:01\", addresses: ["+a) +
		"actions: [{name: rouse, kinds: [failover_outage], wake: {via: router, interface: bridge}}]\n")
	r := w.start()
	r.settled()
	w.sites[0].nodes["a"].off()
	if e := r.await("action_done"); !strings.Contains(e.Text, "router has sent a packet that wakes up berlin/a (02:00:00:ab:cd:01)") {
		t.Error(e.Text)
	}
	if got := router.Woken(); !slices.Equal(got, []string{"02:00:00:AB:CD:01 bridge"}) {
		t.Error(got)
	}
}

// If this fails, each node that goes out sends refused credentials to the router once
// more, which fills its log and has it shut the controller out.
func TestNobodyIsWokenWithRefusedCredentials(t *testing.T) {
	w := newWorld(t, "berlin")
	router := newRouter(t)
	w.write(w.routed(router, "password: secret", "password: wrong"))
	r := w.start()
	r.until("they are refused", func() bool { return r.target().State == api.TargetDenied })
	before := len(router.Log())
	mac := net.HardwareAddr{2, 0, 0, 0xab, 0xcd, 1}
	for range 3 {
		if err := r.wake(t.Context(), &alert.Via{Target: "router"}, mac); err == nil || !strings.Contains(err.Error(), "nothing was tried") {
			t.Error(err)
		}
	}
	if after := router.Log(); len(after) != before {
		t.Errorf("the router's log has %q", after[before:])
	}
	// The right ones are tried, though nothing else has tried them yet.
	w.write(w.routed(router))
	if _, err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.wake(t.Context(), &alert.Via{Target: "router"}, mac); err != nil || len(router.Woken()) != 1 {
		t.Error(router.Woken(), err)
	}
}

// If this fails, a router that an operator has disabled, so that nothing is sent to it, is
// logged in to whenever a node goes out.
func TestADisabledTargetWakesNobody(t *testing.T) {
	w := newWorld(t, "berlin")
	router := newRouter(t)
	w.write(w.routed(router))
	r := w.start()
	r.settled()
	mac, via := net.HardwareAddr{2, 0, 0, 0xab, 0xcd, 1}, &alert.Via{Target: "router"}
	order := func(verb api.TargetVerb) {
		t.Helper()
		if reply, err := r.Operate(t.Context(), api.TargetRequest{Verb: verb, Target: "router", By: "jo"}); err != nil || reply.Refused {
			t.Fatal(reply, err)
		}
	}
	order(api.TargetDisable)
	before := len(router.Log())
	if err := r.wake(t.Context(), via, mac); err == nil || !strings.Contains(err.Error(), "is disabled") {
		t.Error(err)
	}
	if after := router.Log(); len(after) != before || len(router.Woken()) != 0 {
		t.Errorf("the router's log has %q", after[before:])
	}
	order(api.TargetEnable)
	if err := r.wake(t.Context(), via, mac); err != nil || len(router.Woken()) != 1 {
		t.Error(router.Woken(), err)
	}
}
