package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// pair is two books that go through the same: one is asked as the engine does, the other
// looks at everything each time.
type pair struct {
	books [2]*Book
	rnd   *rand.Rand
	now   time.Time
	id    uint64
	// earlier is what one of them was encoded to, some time ago.
	earlier string
}

var (
	pairKinds  = sites.Kinds()
	pairRoutes = [][]Route{
		{{Name: "1", Match: Match{Least: sites.Warning}, To: []string{"mail", "team"}, Wait: 2 * time.Minute, Remind: 20 * time.Minute}},
		{
			{Name: "1", Match: Match{Least: sites.Critical}, To: []string{"phone"}, Wait: time.Minute, Remind: 7 * time.Minute},
			{Name: "2", To: []string{"mail"}},
		},
		{{Name: "3", Match: Match{Sites: []string{"berlin"}}, To: []string{"team"}, Remind: time.Hour}},
	}
)

// step does one thing to both books, and says what.
func (p *pair) step() string {
	both := func(f func(*Book)) { f(p.books[0]); f(p.books[1]) }
	open := sortedKeys(p.books[0].Open)
	switch n := p.rnd.IntN(100); {
	case n < 40:
		p.id++
		e := sites.Event{ID: p.id, Time: p.now, Kind: pairKinds[p.rnd.IntN(len(pairKinds))], Site: []string{"", "berlin", "hamburg"}[p.rnd.IntN(3)], Drill: p.rnd.IntN(8) == 0, Text: fmt.Sprint("event ", p.id)}
		e.Severity = e.Kind.Severity()
		if len(open) > 0 && p.rnd.IntN(2) == 0 {
			e.Resolves = open[p.rnd.IntN(len(open))]
		}
		both(func(b *Book) { b.Take(e, nil, p.now) })
		return "take " + string(e.Kind)
	case n < 90:
		p.now = p.now.Add(time.Duration(p.rnd.IntN(100_000)) * time.Millisecond)
		return "pass"
	case n < 93:
		routes, without := pairRoutes[p.rnd.IntN(len(pairRoutes))], p.rnd.IntN(3)
		both(func(b *Book) {
			b.Reload(routes, 10*time.Second, func(site, _ string) bool { return without > 0 || site != "hamburg" }, p.now)
		})
		return "reload"
	case n < 94:
		there := []string{"mail", "team", "phone"}[p.rnd.IntN(3)]
		both(func(b *Book) { b.Adopt(func(channel string) bool { return channel == there }, p.now) })
		return "adopt"
	case n < 96:
		by := time.Duration(p.rnd.IntN(7200)-3600) * time.Second
		p.now = p.now.Add(by)
		both(func(b *Book) { b.Shift(by) })
		return "shift"
	case n < 98 && len(p.books[0].Cases) > 0:
		c := p.rnd.IntN(len(p.books[0].Cases))
		if p.rnd.IntN(2) == 0 {
			both(func(b *Book) { b.Heard(b.Cases[c].id(1), []string{"spare"}) })
			return "heard"
		}
		both(func(b *Book) { b.Narrow(b.Cases[c].id(1), b.Cases[c].To[:1]) })
		return "narrow"
	case n < 99:
		both(func(b *Book) { b.Rewind(p.id - 1) })
		p.id = p.books[0].Last
		return "rewind"
	default:
		both(func(b *Book) { _ = b.Load([]byte(p.earlier), p.now) })
		return "load"
	}
}

// A change that a book does not know of would not be stored, so that a restart tells
// of it twice or never; and what it does not look at would be told late.
func TestABookKnowsWhetherItHasChanged(t *testing.T) {
	for seed := range uint64(60) {
		p := &pair{rnd: rand.New(rand.NewPCG(seed, 1)), now: noon}
		for i := range p.books {
			p.books[i] = NewBook(pairRoutes[0], 10*time.Second, 0)
		}
		b, whole := p.books[0], p.books[1]
		changes, kept := b.Changes(), encoded(t, b)
		p.earlier = kept
		told := 0
		for n := range 400 {
			if n%50 == 0 {
				p.earlier = kept
			}
			what := p.step()
			for range 2 { // what was done, and what is told then
				now := encoded(t, b)
				if b.Changes() == changes && now != kept {
					t.Fatalf("seed %d, step %d (%s) has changed what is kept:\n%s", seed, n, what, cmp.Diff(kept, now))
				}
				changes, kept = b.Changes(), now
				whole.changes++
				got, at := b.Due(p.now)
				want, wantAt := whole.Due(p.now)
				if d := cmp.Diff(want, got); d != "" || !at.Equal(wantAt) {
					t.Fatalf("seed %d, step %d (%s): to be asked at %v, want %v; told (-want +got):\n%s", seed, n, what, at, wantAt, d)
				}
				told += len(got)
				what += ", told"
			}
			if d := cmp.Diff(encoded(t, whole), encoded(t, b)); d != "" {
				t.Fatalf("seed %d, step %d: they differ (-want +got):\n%s", seed, n, d)
			}
		}
		if told < 20 {
			t.Errorf("seed %d tells %d messages: that proves little", seed, told)
		}
	}
}

func encoded(t *testing.T, b *Book) string {
	t.Helper()
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// While nothing happens, the alerts would keep a small machine busy, the more so the more
// is wrong.
func TestNothingIsLookedAtWhileNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		world := w.world()
		var looks, kept atomic.Int64
		world.Wall = func() time.Time { looks.Add(1); return w.wall() }
		world.Keep = func(v map[string][]byte) { kept.Add(1); w.keep(v) }
		e := New(config(map[string]*peer{"well": {}}), world, nil, 0)
		done := make(chan struct{})
		go func() { defer close(done); e.Run(t.Context()) }()
		t.Cleanup(func() { <-done })
		w.happen("failover_outage berlin/a", 0)
		time.Sleep(time.Minute)
		before, stored := looks.Load(), kept.Load()
		time.Sleep(time.Hour)
		if n := looks.Load() - before; n > 61 {
			t.Errorf("looked %d times within an hour", n)
		}
		if n := kept.Load() - stored; n != 0 {
			t.Errorf("stored %d times within an hour", n)
		}
		if open := e.Status().Open; len(open) != 1 || !slices.Equal(open[0].To, []string{"well"}) {
			t.Errorf("open: %+v", open)
		}
	})
}

// While thousands of things are wrong, each event would have megabytes encoded and written;
// and what was put off would be forgotten by a stop.
func TestWhatIsNotUrgentIsStoredNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		e := New(config(map[string]*peer{"well": {}}), w.world(), nil, 0)
		e.keepAt = time.Now().Add(5 * time.Second) // what it takes to encode takes no time here
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); e.Run(ctx) }()
		last := func() (last uint64) {
			w.mu.Lock()
			defer w.mu.Unlock()
			var kept saved
			if json.Unmarshal(w.values[bookKey], &kept) == nil {
				last = kept.Last
			}
			return last
		}
		w.happen("paused berlin", 0)
		time.Sleep(4 * time.Second)
		if n := last(); n != 0 {
			t.Errorf("stored at once up to %d", n)
		}
		time.Sleep(2 * time.Second)
		if n := last(); n != 1 {
			t.Errorf("stored up to %d, want 1", n)
		}
		synctest.Wait()
		e.keepAt = time.Now().Add(5 * time.Second)
		w.happen("paused hamburg", 0)
		w.happen("failover_outage berlin/a", 0)
		synctest.Wait()
		time.Sleep(time.Second)
		if n := last(); n != 1 {
			t.Errorf("stored at once up to %d", n)
		}
		stop()
		<-done
		if n := last(); n != 3 {
			t.Errorf("stored up to %d at the stop, want 3", n)
		}
	})
}

// An incident that is over in the moment in which people were to be reminded of it would
// be looked at a hundred times a second until its end is told.
func TestNobodyIsRemindedOfAnEnd(t *testing.T) {
	d := newDesk()
	out := d.happen("failover_outage berlin/a", 0)
	d.pass(4*time.Hour + 5*time.Second)
	d.happen("failover_failback berlin/a", out)
	for range 3 {
		_, next := d.Due(d.now)
		if wait := next.Sub(d.now); wait <= 0 {
			t.Fatalf("to be asked again in %v", wait)
		}
		d.now = d.now.Add(3 * time.Second)
	}
}
