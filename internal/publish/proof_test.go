package publish

import (
	"net/netip"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

var resolver = netip.MustParseAddr("192.0.2.53")

// asks says what the witness is to ask for; "" for nothing of ours.
func (w *world) asks() string {
	p, _ := w.p.Proof("berlin", resolver)
	return p.Name
}

// A name that somebody else has his hand in would be taken for proof of a line:
// the site's failover would stop with each change by hand (O3).
func TestWhatAHandHasChangedIsNoProof(t *testing.T) {
	for _, marks := range []bool{true, false} {
		for _, drift := range []Drift{Repair, Report, Accept} {
			bubble(t, marks, func(w *world) {
				w.use(func(t *Target) { t.Drift = drift })
				w.p.Want("router", names("app", a1, "www", a1))
				sleep(10 * time.Second)
				if got := w.asks(); got != "app" {
					t.Fatalf("asked for %q", got)
				}
				p, _ := w.p.Proof("berlin", resolver)
				w.d.hand(func() { w.d.entries[0].Addr = alien })
				p.Heard([]netip.Addr{alien})
				sleep(time.Second)
				p.Heard([]netip.Addr{alien}) // one that was on its way
				sleep(10 * time.Second)
				switch got := w.asks(); {
				case drift == Repair && marks:
					w.holds("app", a1)
					if got != "app" {
						t.Errorf("put right, and asked for %q", got)
					}
				case got != "www":
					t.Errorf("%v %d: asked for %q", marks, drift, got)
				}
				w.d.hand(func() { w.d.entries[1].Addr = alien })
				w.p.Compare("berlin")
				sleep(time.Second)
				if got := w.asks(); drift != Repair && got != "" {
					t.Errorf("%v %d: asked for %q", marks, drift, got)
				}
				w.p.Want("router", names("app", a2, "new", a1))
				sleep(time.Minute)
				if got, want := w.asks(), map[bool]string{true: "app", false: "new"}[marks]; got != want {
					t.Errorf("%v %d: moved, and asked for %q", marks, drift, got)
				}
			})
		}
	}
}

// Answers that are not what should be there would be noticed minutes later, or
// have the target read without end.
func TestAnswersLeadToAComparison(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(10 * time.Second)
		p, ok := w.p.Proof("berlin", resolver)
		if !ok {
			t.Fatal("no proof")
		}
		before, _ := w.d.count()
		for range 60 {
			p.Heard([]netip.Addr{a1})
			sleep(time.Second)
		}
		if calls, _ := w.d.count(); calls != before {
			t.Errorf("%d calls for right answers", calls-before)
		}
		for range 60 {
			p.Heard([]netip.Addr{a2}) // ours, and not what should be there
			sleep(time.Second)
		}
		if calls, _ := w.d.count(); calls-before != 3 {
			t.Errorf("%d calls for wrong answers within a minute", calls-before)
		}
		w.told()
	})
}

// A row that hides our record would make the site's resolver look broken for as
// long as it is there.
func TestAShadowThatHidesIsNoProof(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(10 * time.Second)
		p, _ := w.p.Proof("berlin", resolver)
		w.d.hand(func() { w.d.shadows = []providers.Shadow{{Name: "app", Text: "a regular expression"}} })
		w.p.Compare("berlin")
		sleep(time.Second)
		if w.asks() != "app" {
			t.Error("what hides nothing counts")
		}
		w.mu.Lock()
		w.ask = func(string) []netip.Addr { return []netip.Addr{alien} }
		w.mu.Unlock()
		p.Heard([]netip.Addr{alien})
		sleep(10 * time.Second)
		if got := w.asks(); got != "" {
			t.Errorf("asked for %q", got)
		}
		w.mu.Lock()
		w.ask = nil
		w.mu.Unlock()
		sleep(20 * time.Second)
		if w.asks() != "app" {
			t.Error("it is answered right again, and not asked for")
		}
	})
}
