package routeros

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
)

// watched calls back after each change.
type watched struct {
	*Provider
	after func()
}

func (w watched) Apply(ctx context.Context, c providers.Change) error {
	defer w.after()
	return w.Provider.Apply(ctx, c)
}

// A hand that has a row of ours stand for the names below it too would leave the name
// without an address for a moment, as the row is put right (P10).
func TestRowThatWasWidenedIsPutRight(t *testing.T) {
	single, wild := record("app.lan", "192.0.2.1", 30*time.Second), record("*.app.lan", "192.0.2.1", 30*time.Second)
	for name, want := range map[string][]providers.Record{"alone": {single}, "beside a wildcard": {single, wild}} {
		t.Run(name, func(t *testing.T) {
			r := router(t, routersim.Options{})
			p := open(t, plain(r))
			push(t, p, want...)
			before := rows(r)
			for _, rec := range r.Records() {
				if rec.Fields["name"] == single.Name {
					do(t, r, "set", ".id="+rec.ID, "match-subdomain=yes")
				}
			}
			round := providers.Round{
				Provider: watched{p, func() {
					if d := cmp.Diff(before, rows(r)); d != "" {
						t.Error(d)
					}
				}},
				Input: providers.Input{Desired: want, Last: want, Traits: Traits, Policy: providers.Policy{DeleteGuard: 100}},
			}
			out, err := round.Sync(within(t))
			if err != nil || out.Writes != 1 || len(out.First.Drifts) != 1 {
				t.Errorf("%v after %d writes, drifts %+v", err, out.Writes, out.First.Drifts)
			}
		})
	}
}
