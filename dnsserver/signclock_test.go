package dnsserver

import (
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// If this fails, signatures end while they are still given out, or a clock that was
// wrong for a while leaves signatures that nobody can verify.
func TestSignaturesFollowTheClock(t *testing.T) {
	cfg := signedConfig(t)
	start := time.Unix(1_700_000_000, 0)
	now := start
	trusted := false
	s, err := New(cfg, Options{Now: func() time.Time { return now }, Earliest: start.Add(-time.Hour), Trust: func() bool { return trusted }})
	if err != nil {
		t.Fatal(err)
	}
	s.SetAnswer("berlin", "default", answer("10.1.0.11"))
	keys := keysOf(cfg)
	tests := []struct {
		name string
		at   time.Time // of the clock
		for_ time.Time // when the answers must count
		made bool      // anew
	}{
		{"first", start, start, true},
		{"an hour later", start.Add(time.Hour), start.Add(time.Hour), false},
		{"a week later", start.Add(7 * 24 * time.Hour), start.Add(7 * 24 * time.Hour), false},
		{"when a third is left", start.Add(10 * 24 * time.Hour), start.Add(10 * 24 * time.Hour), true},
		{"a clock a year ahead", start.Add(365 * 24 * time.Hour), start.Add(365 * 24 * time.Hour), true},
		{"set right again", start.Add(10 * 24 * time.Hour), start.Add(10 * 24 * time.Hour), true},
		{"a clock that cannot be right", time.Unix(0, 0), start, true},
		{"the same", time.Unix(100, 0), start, false},
		{"right again", start.Add(2 * time.Hour), start.Add(2 * time.Hour), false},
		{"the earlier run was wrong", start.Add(-365 * 24 * time.Hour), start.Add(-365 * 24 * time.Hour), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now, trusted = tt.at, strings.Contains(tt.name, "earlier run")
			before := s.snap.Load().zoneList[0].signer.count.Load()
			for _, name := range []string{"app.example.lan.", "mail.example.lan.", "nothing.example.lan."} {
				m := exchange(t, s, "10.1.0.1", askSigned(name, dns.TypeA, false), false)
				judge(t, keys, m, tt.for_)
			}
			if made := s.snap.Load().zoneList[0].signer.count.Load() > before; made != tt.made {
				t.Errorf("signed anew %v, want %v", made, tt.made)
			}
		})
	}
}

// If this fails, a clock that falls while the server runs, as by a wrong time source, has it
// sign as of its start, or as of the clock: no validator believes a word.
func TestClockThatFalls(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	const day = 24 * time.Hour
	for name, falls := range map[string]time.Duration{"by years": time.Duration(start.UnixNano()), "by weeks, not behind the start": 50 * day} {
		t.Run(name, func(t *testing.T) {
			cfg := signedConfig(t)
			now, run := start, time.Duration(0)
			s, err := New(cfg, Options{Now: func() time.Time { return now }, Earliest: start.Add(-day)})
			if err != nil {
				t.Fatal(err)
			}
			s.signing.run = func() time.Duration { return run }
			s.SetAnswer("berlin", "default", answer("10.1.0.11"))
			keys := keysOf(cfg)
			for _, passed := range []time.Duration{0, 60 * day, 75 * day, 90 * day} {
				run, now = passed, start.Add(passed)
				if passed >= 75*day {
					now = now.Add(-falls)
				}
				for _, name := range []string{"app.example.lan.", "mail.example.lan.", "nothing.example.lan."} {
					m := exchange(t, s, "10.1.0.1", askSigned(name, dns.TypeA, false), false)
					judge(t, keys, m, start.Add(passed))
				}
			}
		})
	}
}
