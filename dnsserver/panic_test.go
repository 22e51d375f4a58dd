package dnsserver

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// If this fails, one packet that trips over a fault ends the service for all, or the
// fault is never heard of, or fills the disk with its log.
func TestPanicIsContained(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0).UTC()
	var log bytes.Buffer
	s, err := New(lanConfig(t), Options{Now: func() time.Time { return clock }, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if at := s.Stats().PanicAt; !at.IsZero() {
		t.Errorf("a panic at %s, and there was none", at)
	}
	wire, err := wireName("mail.example.lan")
	if err != nil {
		t.Fatal(err)
	}
	s.snap.Load().names.get([]byte(wire))[7] = 0xff // there is no such zone
	steps := []struct {
		tcp   bool
		clock time.Duration // before the panic
		told  int           // so far
	}{
		{false, 0, 1},
		{true, 0, 1},
		{false, 59 * time.Second, 1},
		{true, time.Second, 2},
		{false, -3 * 365 * 24 * time.Hour, 3}, // the clock was wrong before
	}
	for i, step := range steps {
		clock = clock.Add(step.clock)
		m := exchange(t, s, "10.1.0.1", ask("mail.example.lan.", dns.TypeMX, 1232), step.tcp)
		if m == nil || m.Rcode != dns.RcodeServerFailure || m.Id != 4711 || len(m.Answer)+len(m.Ns)+len(m.Extra) > 0 {
			t.Errorf("step %d: answer %v, want SERVFAIL", i, m)
		}
		if m := exchange(t, s, "10.1.0.1", ask("ns1.example.lan.", dns.TypeA), step.tcp); m == nil || len(m.Answer) != 1 {
			t.Errorf("step %d: afterwards %v", i, m)
		}
		if got := strings.Count(log.String(), "answering a query failed"); got != step.told {
			t.Errorf("step %d: told %d times, want %d", i, got, step.told)
		}
		if at := s.Stats().PanicAt; !at.Equal(clock) {
			t.Errorf("step %d: the last was at %s, want %s", i, at, clock)
		}
	}
	if st := s.Stats(); st.UDP.Panics != 3 || st.TCP.Panics != 2 {
		t.Errorf("%d and %d panics counted, want 3 and 2", st.UDP.Panics, st.TCP.Panics)
	}
	if !strings.Contains(log.String(), "dnsserver.(*worker)") {
		t.Errorf("the log does not say where: %s", log.String())
	}
}
