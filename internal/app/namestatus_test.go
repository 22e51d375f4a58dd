package app

import (
	"slices"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/api"
)

// If this fails, what is wrong with the names beside their answers is known to the
// program alone.
func TestNamesProblems(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC)
	tests := []struct {
		name  string
		stats dnsserver.Stats
		want  []string
	}{
		{"all is well", dnsserver.Stats{}, nil},
		{
			"panics",
			dnsserver.Stats{UDP: dnsserver.Transport{Panics: 2}, TCP: dnsserver.Transport{Panics: 1}, PanicAt: at},
			[]string{"For a fault of dnsteer itself 3 DNS questions got SERVFAIL since the start, the last at 2026-03-01 12:00:05 UTC; all others are answered. The log says where the fault is."},
		},
		{
			"a clock that is behind",
			dnsserver.Stats{ClockBehind: true},
			[]string{"The clock is wrong: it says less than what has passed for sure. Signed answers are made as of then, and validators may refuse them until it is set."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var st api.DNSStatus
			namesStatus(&st, &tt.stats)
			if got := namesProblems(&st); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
