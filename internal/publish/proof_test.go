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

// A site's resolver that gives something else would be said to give what was pushed,
// because it once did.
func TestWhatIsAnsweredOtherwiseIsNotSeen(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(10 * time.Second)
		if v := w.view().Sets[0].Visible; v == nil || !*v {
			t.Fatal("what was pushed was not seen")
		}
		w.mu.Lock()
		w.ask = func(string) []netip.Addr { return []netip.Addr{alien} }
		w.mu.Unlock()
		p, _ := w.p.Proof("berlin", resolver)
		p.Heard([]netip.Addr{alien})
		sleep(time.Second)
		if v := w.view().Sets[0].Visible; v == nil || *v {
			t.Error("it is said to be seen, and something else is answered")
		}
		w.mu.Lock()
		w.ask = nil
		w.mu.Unlock()
		sleep(20 * time.Second)
		if v := w.view().Sets[0].Visible; v == nil || !*v {
			t.Error("it is not said to be seen again")
		}
	})
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

// A hand that changes the record of the witness while its site cannot be seen
// would keep that site from ever being seen again, and the record as it is: what
// is held is never compared. It is read, and not written to (E8, O3).
func TestAHandInTheProofEndsWithTheHold(t *testing.T) {
	for _, marks := range []bool{true, false} {
		for _, drift := range []Drift{Repair, Report, Accept} {
			bubble(t, marks, func(w *world) {
				w.use(func(t *Target) { t.Drift = drift })
				w.p.Want("router", names("app", a1))
				sleep(10 * time.Second)
				p, ok := w.p.Proof("berlin", resolver)
				if !ok {
					t.Fatal("no proof")
				}
				w.p.Hold("berlin", true)
				w.p.Want("router", names("app", a2)) // and it waits
				calls, writes := w.d.count()
				p.Heard([]netip.Addr{a1})
				sleep(time.Minute)
				if c, _ := w.d.count(); c != calls || w.asks() != "app" {
					t.Errorf("%d calls for what was there before, and asked for %q", c-calls, w.asks())
				}
				w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
				p.Heard([]netip.Addr{alien})
				sleep(30 * time.Second)
				if w.asks() != "app" {
					t.Error("what cannot be read is no proof of a hand")
				}
				w.d.hand(func() { w.d.fail, w.d.entries[0].Addr = nil, alien })
				p.Heard([]netip.Addr{alien})
				sleep(time.Second)
				if got := w.asks(); got != "" {
					t.Errorf("asked for %q", got)
				}
				if _, n := w.d.count(); n != writes || w.view().State != OnHold {
					t.Errorf("%d writes while held, %s", n-writes, w.view().State)
				}
				w.told()
				w.p.Hold("berlin", false)
				sleep(2 * time.Minute)
				if marks {
					w.holds("app", a2)
				}
			})
		}
	}
}
