package rfc2136

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// One name that the zone cannot hold (it is an alias there, or was delegated) would keep
// the failover of all others back, or the same update would be sent for it in each round.
func TestNamesThatTheZoneCannotHold(t *testing.T) {
	for _, s := range servers() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			cfg := s.begin(t)
			for _, mark := range []string{"", "hq"} {
				cfg.Mark = mark
				for _, tc := range []struct{ name, want string }{
					{"alias.example.lan", "is a CNAME"},
					{"app.example.org", "lies outside"},
					{"cut.example.lan", "is delegated"},
					{"www.cut.example.lan", "is delegated"},
					{"x.moved.example.lan", "lies below the DNAME"},
				} {
					beside := fmt.Sprintf("beside%s-%s.example.lan", mark, strings.ReplaceAll(tc.name, ".", "-"))
					testHidden(t, New(cfg), tc.name, tc.want, beside)
				}
				// A wildcard's alias is one of no name in the zone.
				want := rec("x"+mark+".star.example.lan", "10.1.0.11", 30*time.Second)
				out, err := round(New(cfg), want).Sync(t.Context())
				if err != nil || len(out.Verified) != 1 || len(out.Listing.Shadows) > 0 || len(out.First.Conflicts) > 0 {
					t.Errorf("below a wildcard's alias: %v, %+v", err, out)
				}
			}
		})
	}
}

func testHidden(t *testing.T, p *Provider, name, want, beside string) {
	t.Helper()
	out, err := round(p, rec(name, "10.1.0.11", 30*time.Second), rec(beside, "10.1.0.11", 30*time.Second)).Sync(t.Context())
	if class, _ := providers.ClassOf(err); class != providers.Permanent || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: class %d: %v", name, class, err)
	}
	if len(out.Verified) != 1 || out.Verified[0].Name != beside || out.Writes != 2 {
		t.Errorf("%s: after %d writes verified %v", name, out.Writes, out.Verified)
	}
	if len(out.Refused) != 1 || out.Refused[0].Name != name || len(out.Listing.Shadows) != 1 {
		t.Errorf("%s: refused %v, shadows %v", name, out.Refused, out.Listing.Shadows)
	}
}

func round(p *Provider, desired ...providers.Record) *providers.Round {
	keep := func(context.Context, []providers.Record) error { return nil }
	return &providers.Round{Provider: p, Keep: keep, Input: providers.Input{Traits: Traits, Desired: desired}}
}
