package routeros

import (
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/routersim"
	"github.com/dnsteer/dnsteer/providers"
)

// loaded gives a provider on a router with so many rows of somebody.
func loaded(b *testing.B, n int) *Provider {
	b.Helper()
	r, err := routersim.New(routersim.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	large(b, r, n)
	p, err := New(plain(r))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close(); _ = r.Close() })
	return p
}

// BenchmarkListing reads a table whole, and searches a large one.
func BenchmarkListing(b *testing.B) {
	for _, bb := range []struct {
		name  string
		rows  int
		whole bool
	}{{"1000", 1000, true}, {"30000 whole", 30000, true}, {"30000 searched", 30000, false}} {
		b.Run(bb.name, func(b *testing.B) {
			p := loaded(b, bb.rows)
			if _, err := p.List(b.Context(), []string{"app.lan"}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if bb.whole {
					p.full = fullPrint{}
				}
				if _, err := p.List(b.Context(), []string{"app.lan"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkChange swaps one record, with the look at it before.
func BenchmarkChange(b *testing.B) {
	p := loaded(b, 100)
	names := []string{"app.lan"}
	r := record("app.lan", "192.0.2.1", time.Minute)
	if err := p.Apply(b.Context(), providers.Change{Key: r.Key(), Add: []providers.Record{r}}); err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		b.StopTimer()
		l, err := p.List(b.Context(), names)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		i++
		to := record("app.lan", []string{"192.0.2.1", "192.0.2.2"}[i%2], time.Minute)
		if err := p.Apply(b.Context(), providers.Change{Key: r.Key(), Swap: []providers.Swap{{From: l.Entries[0], To: to}}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPush is a whole round that moves one record: list, change, list.
func BenchmarkPush(b *testing.B) {
	p := loaded(b, 1000)
	i := 0
	for b.Loop() {
		i++
		round := providers.Round{Provider: p, Deadline: soon, Input: providers.Input{
			Desired: []providers.Record{record("app.lan", []string{"192.0.2.1", "192.0.2.2"}[i%2], time.Minute)}, Traits: Traits,
		}}
		if _, err := round.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
