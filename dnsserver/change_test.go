package dnsserver

import (
	"context"
	"maps"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// If this fails, a service that moves to another pool fails for a moment, or is
// answered with names of one configuration and addresses of the other.
func TestChangeOfPool(t *testing.T) {
	s := lanServer(t)
	app := func() string {
		return strings.Join(addressesOf(exchange(t, s, "10.1.0.1", ask("app.example.lan.", 1), false)), " ")
	}
	serial := s.Serials()["example.lan"]
	cfg := lanConfig(t)
	cfg.Services[0].Pool = "fresh"
	c, err := s.Prepare(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.SetAnswer("berlin", "fresh", answer("10.1.0.99"))
	c.SetAnswer("berlin", "unnamed", answer("10.1.0.98"))
	if got := app(); !strings.Contains(got, "10.1.0.11") {
		t.Errorf("before the change is in place: %q", got)
	}
	s.SetAnswer("berlin", "default", answer("10.1.0.11")) // a decision meanwhile
	c.Commit()
	if got := app(); got != "10.1.0.99" {
		t.Errorf("after the change: %q", got)
	}
	if got := s.Serials()["example.lan"]; got != serial+2 {
		t.Errorf("serial %d after two changes of %d", got, serial)
	}
}

// If this fails, a reload that also moves an answer leaves secondaries with the
// old one.
func TestChangeOfAnswerRaisesSerial(t *testing.T) {
	s := lanServer(t)
	serial := s.Serials()["example.lan"]
	for _, step := range []struct {
		addr string
		grow uint32
	}{{"10.2.0.11", 0}, {"10.2.0.12", 1}} {
		c, err := s.Prepare(lanConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		c.SetAnswer("hamburg", "default", answer(step.addr))
		c.Commit()
		if got := s.Serials()["example.lan"]; got != serial+step.grow {
			t.Errorf("answer %s: serial grew by %d, want %d", step.addr, got-serial, step.grow)
		}
	}
}

// If this fails, every move waits to be stored, or one that was not is taken back by a
// kill; or a zone whose serial people keep jumps by thousands.
func TestReserve(t *testing.T) {
	s := lanServer(t)
	stored, writes := map[string]uint32{}, 0
	store := func() {
		more := s.Reserve(stored)
		if more != nil {
			writes++
		}
		maps.Copy(stored, more)
	}
	store()
	for i := range 3 * reserved {
		s.SetAnswer("berlin", "default", answer([]string{"10.1.0.11", "10.1.0.12"}[i%2]))
		if !after(stored["example.lan"], s.Serials()["example.lan"]) {
			t.Fatalf("after %d moves %d is served and %d is stored", i, s.Serials()["example.lan"], stored["example.lan"])
		}
		store()
	}
	if writes > 8 {
		t.Errorf("stored %d times", writes)
	}
	if got := stored["inner.example.lan"]; got != s.Serials()["inner.example.lan"] {
		t.Errorf("of a zone without services %d is stored", got)
	}
	again, err := New(lanConfig(t), Options{Serials: stored, Now: s.now})
	if err != nil {
		t.Fatal(err)
	}
	if was, is := s.Serials()["example.lan"], again.Serials()["example.lan"]; !after(is, was) {
		t.Errorf("the serial was %d and is %d", was, is)
	}
}

// If this fails, a reload that is given up, or comes while the server ends,
// leaves ports open that nobody serves.
func TestChangeLeavesNoPortOpen(t *testing.T) {
	closed := func(at netip.AddrPort) {
		t.Helper()
		if c, err := net.DialTimeout("tcp", at.String(), time.Second); err == nil {
			c.Close()
			t.Errorf("%s is still open", at)
		}
	}
	prepared := func(s *Server) (*Change, netip.AddrPort) {
		t.Helper()
		cfg := lanConfig(t)
		cfg.Listen = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.2:0")}
		c, err := s.Prepare(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return c, c.added[0].addr
	}
	s := lanServer(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- s.Serve(ctx) }()
	c, at := prepared(s)
	c.Discard()
	closed(at)
	c, at = prepared(s)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	c.Commit()
	closed(at)
}
