package demo

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// settles waits until a resolver gives these addresses for a name.
func settles(t *testing.T, at, name, want string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for {
		addrs := answer(t, at, name)
		slices.Sort(addrs)
		got := strings.Join(addrs, " ")
		if got == want {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s gives %q for %s, want %q", at, got, name, want)
		}
	}
}

// If this fails, a new user sees a router whose answer does not move, or whose
// own records are touched.
func TestRouterIsSteered(t *testing.T) {
	s := start(t, true)
	router := s.resolver("127.3.0.1")
	const name, both = "app.example.lan.", "127.3.0.11 127.3.0.12"
	settles(t, router, name, both)
	settles(t, router, "x.apps.example.lan.", both)
	at := s.await(t, 0, "Keys")
	s.press("5")
	at = s.await(t, at, "munich/a was stopped")
	s.await(t, at, "failover_outage  munich/a")
	settles(t, router, name, "127.3.0.12")
	s.press("e")
	at = s.await(t, at, "somebody has changed app.example.lan")
	settles(t, router, name, elsewhere)
	s.press("5") // the router is compared when the node comes back
	s.await(t, at, "munich/a was started")
	settles(t, router, name, both)
	settles(t, router, "nas.example.lan.", "127.3.0.9")
	s.press("q")
	s.end()
}
