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

// If this fails, a new user sees an AdGuard Home whose answer does not move, or
// whose other rewrites are touched.
func TestAdGuardIsSteered(t *testing.T) {
	s := start(t, true)
	at := s.resolver("127.4.0.1")
	settles(t, at, "app.example.lan.", "127.4.0.11")
	settles(t, at, "x.apps.example.lan.", "127.4.0.11")
	s.await(t, 0, "Keys")
	s.press("7")
	settles(t, at, "app.example.lan.", "127.4.0.12")
	settles(t, at, "printer.example.lan.", "127.4.0.9")
	s.press("q")
	s.end()
}

// If this fails, a new user sees a cut line move the DNS of a site with a router or
// an AdGuard Home, or sees neither follow once the line is back.
func TestSitesWithTargetsAreCutOff(t *testing.T) {
	s := start(t, true)
	router, guard := s.resolver("127.3.0.1"), s.resolver("127.4.0.1")
	const name, both = "app.example.lan.", "127.3.0.11 127.3.0.12"
	settles(t, router, name, both)
	settles(t, guard, name, "127.4.0.11")
	at := s.await(t, 0, "Keys")
	s.press("ml")
	at = s.await(t, at, "leipzig is cut off")
	s.await(t, at, "site_down  munich")
	s.await(t, at, "site_down  leipzig")
	s.press("57ml") // the nodes fail while nothing can be pushed
	s.await(t, at, "leipzig is reachable again")
	settles(t, router, name, "127.3.0.12")
	settles(t, guard, name, "127.4.0.12")
	settles(t, router, "nas.example.lan.", "127.3.0.9")
	s.press("q")
	s.end()
}
