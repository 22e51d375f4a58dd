package cli

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// What a stranger's server says could run over the edge of the screen, or hide
// and forge what stands on it.
func TestProbeDetailFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z]{0,200}`))
		draw := func(label string) string { return text.Draw(t, label) }
		d := probes.Detail{
			Address: "[fd00:1::11]:443", EchoesSent: 3, Echoes: []probes.SeenEcho{{Sequence: 1, RTT: time.Millisecond, TTL: 64}},
			Steps:       []probes.Step{{Name: "first_byte", Took: time.Second, Error: draw("error")}},
			Certificate: &probes.SeenCertificate{Subject: draw("subject"), Issuer: draw("issuer"), Names: []string{draw("name")}, Version: "TLS 1.3", Fingerprint: "sha256:" + strings.Repeat("0", 64)},
			HTTP:        &probes.SeenHTTP{Status: draw("status"), Body: draw("body")},
			DNS:         &probes.SeenDNS{Rcode: "NOERROR", Answer: []string{draw("record")}},
			Command:     &probes.SeenCommand{Status: draw("ended"), Output: draw("output")},
		}
		r := &api.ProbeReport{Lines: []api.ProbedLine{{
			Address: "fd00:1::11", Checks: []api.ProbedCheck{{Checked: sites.Checked{Probe: "http", Outcome: "down"}, Detail: d}},
		}}}
		p := &printer{}
		probeReport(p, r, false)
		for line := range strings.Lines(p.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := len([]rune(line)); n > width {
				t.Fatalf("%d wide: %q", n, line)
			}
			if line != printable(line) {
				t.Fatalf("it steers the terminal: %q", line)
			}
		}
		brief := &printer{}
		if probeReport(brief, r, true); strings.Count(brief.String(), "\n") != 2 {
			t.Fatalf("brief: %q", brief)
		}
	})
}

// A certificate that ends tonight would look like a good one.
func TestValidity(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	c := &probes.SeenCertificate{NotBefore: day(2), NotAfter: day(5)}
	for now, want := range map[time.Time]string{
		day(1): "not for another 1d",
		day(3): "for 2d more",
		day(9): "ended 4d ago",
	} {
		if got := validity(c, now); got != "2026-03-02 00:00:00 to 2026-03-05 00:00:00 UTC, "+want {
			t.Errorf("at %s: %s", now, got)
		}
	}
}
