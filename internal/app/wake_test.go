package app

import (
	"slices"
	"strings"
	"testing"
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
