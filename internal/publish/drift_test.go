package publish

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// Two who both mean well would fight over a record for ever, or a hand's slip
// would stay.
func TestDriftIsRepairedWithinLimits(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		remove := func() { w.d.hand(func() { w.d.entries = nil }) }
		remove()
		sleep(5 * time.Minute)
		w.holds("app", a1)
		w.told(sites.Drift, sites.DriftRepaired)
		// At once again: not before a minute has passed.
		remove()
		w.p.Compare("berlin")
		sleep(time.Second)
		if len(w.d.answers("app")) != 0 && time.Since(w.view().Changed) < time.Minute {
			t.Error("it is repaired twice within a minute")
		}
		sleep(time.Minute)
		w.holds("app", a1)
		remove()
		w.p.Compare("berlin")
		sleep(2 * time.Minute)
		w.holds("app", a1)
		remove() // the fourth time within the hour
		sleep(30 * time.Minute)
		w.holds("app")
		if w.last().Kind != sites.Drift || !strings.Contains(w.last().Text, "3 times an hour") {
			t.Errorf("%+v", w.last())
		}
		sleep(time.Hour)
		w.holds("app", a1)
		if k := w.kinds(); !slices.Contains(k[len(k)-2:], sites.DriftRepaired) {
			t.Errorf("%v", k)
		}
	})
}

// Between a second edit by hand and its repair a target would be called as it should
// be, which nobody believes who has just made the edit.
func TestATargetThatWaitsForItsRepairDiffers(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		edit := func() { w.d.hand(func() { w.d.entries[0].Addr = a2 }) }
		edit()
		w.p.Compare("berlin")
		sleep(time.Second)
		w.holds("app", a1)
		repaired := w.view().Changed
		edit()
		w.p.Compare("berlin")
		sleep(time.Second)
		v := w.view()
		if v.State != Differs || !v.Repair.Equal(repaired.Add(repairPause)) {
			t.Errorf("%s, repair at %s", v.State, v.Repair)
		}
		plan, err := w.p.Plan(context.Background(), "router")
		if err != nil || len(plan) != 1 || !plan[0].Repair.Equal(v.Repair) || len(plan[0].Plan.Changes) != 0 {
			t.Errorf("%+v, %v", plan, err)
		}
		sleep(time.Until(v.Repair) + 2*time.Second)
		w.holds("app", a1)
		if v := w.view(); v.State != Current || !v.Repair.IsZero() {
			t.Errorf("%s, repair at %s", v.State, v.Repair)
		}
	})
}

// What the configuration leaves to a hand would be called as it should be too, or
// a repair be promised that does not come.
func TestATargetThatIsLeftAsAHandMadeItDiffers(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.use(func(t *Target) { t.Drift = Report })
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.entries[0].Addr = a2 })
		sleep(6 * time.Minute)
		if v := w.view(); v.State != Differs || !v.Repair.IsZero() {
			t.Errorf("%s, repair at %s", v.State, v.Repair)
		}
	})
}

// What a hand has changed would be put back against the operator's word, or
// stand for ever.
func TestDriftThatStands(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.use(func(t *Target) { t.Drift = Accept })
		w.p.Want("router", names("app", a1))
		sleep(time.Second)
		w.d.hand(func() { w.d.entries[0].Addr = alien })
		sleep(12 * time.Hour)
		w.holds("app", alien)
		w.told(sites.Drift)
		w.p.Want("router", names("app", a2))
		sleep(time.Second)
		w.holds("app", a2)
		sleep(5 * time.Minute)
		w.told(sites.Drift, sites.DriftRepaired)
	})
}

// A name without failover would look like any other.
func TestAConflictIsTold(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: alien}})
		w.p.Want("router", names("app", a1, "www", a1))
		sleep(time.Hour)
		w.holds("app", alien)
		w.holds("www", a1)
		w.told(sites.Drift)
		if v := w.view(); len(v.Plan.Conflicts) != 1 || len(v.Problems) != 1 {
			t.Errorf("%+v", v)
		}
		w.d.hand(func() { w.d.entries = w.d.entries[1:] })
		sleep(5 * time.Minute)
		w.holds("app", a1)
		w.told(sites.Drift, sites.DriftRepaired)
	})
}

// What stands in the way of two names would be one sentence with a full stop in it.
func TestConflictsAreSentences(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: alien}})
		w.d.insert(providers.Entry{Record: providers.Record{Name: "www", Addr: alien}})
		w.p.Want("router", names("app", a1, "www", a1))
		sleep(time.Minute)
		text := w.last().Text
		if !strings.Contains(text, "\"dnsteer target adopt\". www A has no failover there") {
			t.Error(text)
		}
	})
}

// A conflict would be told to be over because our answer happens to be what
// somebody else has there, and come again with the next move.
func TestAConflictLastsAsLongAsTheRecord(t *testing.T) {
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) {
			w.p.Want("router", names("app", a1, "www", a1))
			sleep(time.Second)
			w.d.hand(func() {
				w.d.insert(providers.Entry{Record: providers.Record{Name: "app", Addr: a2}})
				w.d.insert(providers.Entry{Record: providers.Record{Name: "www", Addr: a1}})
			})
			sleep(5 * time.Minute)
			w.told(sites.Drift)
			w.p.Want("router", names("app", a2, "www", a1))
			sleep(time.Hour)
			w.told(sites.Drift, sites.Drift)
			if e := w.last(); e.Resolves != 1 || !strings.Contains(e.Text, "app A has no failover there: 192.0.2.11 stands there already") || strings.Contains(e.Text, "www") {
				t.Errorf("%+v", e)
			}
			w.p.Want("router", names("app", a1, "www", a1))
			sleep(time.Hour)
			w.told(sites.Drift, sites.Drift, sites.Drift)
			w.d.hand(func() {
				w.d.entries = slices.DeleteFunc(w.d.entries, func(e providers.Entry) bool { return e.Addr == a2 && e.Name == "app" })
			})
			sleep(time.Hour)
			w.told(sites.Drift, sites.Drift, sites.Drift, sites.DriftRepaired)
		})
	}
}

// A name of both families whose IPv4 record a hand has taken away, where that is to
// stand, would be left without any address once its IPv6 one leaves.
func TestDriftThatStandsLeavesNoNameWithoutAnAddress(t *testing.T) {
	v6 := netip.MustParseAddr("2001:db8::10")
	stands := map[string]func(w *world){
		"report": func(w *world) { w.use(func(t *Target) { t.Drift = Report }) },
		"adopt":  func(w *world) { w.use(func(t *Target) { t.Drift = Accept }) },
		"repaired a moment ago": func(w *world) {
			w.d.hand(func() { w.d.entries = w.d.entries[1:] })
			w.p.Compare("berlin")
			sleep(time.Second)
			w.holds("app", a1, v6)
			w.d.hand(func() { w.d.entries[0], w.d.entries[1] = w.d.entries[1], w.d.entries[0] })
		},
	}
	for name, how := range stands {
		for _, marks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, marks %t", name, marks), func(t *testing.T) {
				bubble(t, marks, func(w *world) {
					w.p.Want("router", names("app", a1, "app", v6))
					sleep(time.Second)
					how(w)
					w.d.hand(func() { w.d.entries = w.d.entries[1:] })
					w.p.Compare("berlin")
					sleep(time.Second)
					w.holds("app", v6)
					w.d.written = func() {
						if len(w.d.entries) == 0 {
							t.Error("there is a moment without an address")
						}
					}
					w.p.Want("router", names("app", a1))
					sleep(5 * time.Second)
					w.holds("app", a1)
				})
			})
		}
	}
}

// Who takes the mark away from a record, which makes it his, would be told that it was put
// right, and not that it has no failover any more.
func TestARecordThatIsTakenFromUs(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1, "www", a1))
		sleep(time.Minute)
		w.d.hand(func() { w.d.at(w.d.entries[0], func(e *providers.Entry) { e.Marked = false }) })
		sleep(6 * time.Minute)
		w.told(sites.Drift)
		if e := w.last(); !strings.Contains(e.Text, "app A has no failover there") {
			t.Error(e.Text)
		}
		if v := w.view(); v.Drifts != 0 {
			t.Errorf("%d were put right", v.Drifts)
		}
		w.d.hand(func() { w.d.at(w.d.entries[0], func(e *providers.Entry) { e.Marked = true }) })
		sleep(6 * time.Minute)
		w.told(sites.Drift, sites.DriftRepaired)
	})
}

// Where nothing is ever changed (create_only) people would wait for a repair.
func TestDriftWhereNothingIsChanged(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.use(func(target *Target) { target.CreateOnly = true })
		w.p.Want("router", names("app", a1))
		sleep(time.Minute)
		w.d.hand(func() { w.d.at(w.d.entries[0], func(e *providers.Entry) { e.Disabled = true }) })
		sleep(6 * time.Minute)
		w.told(sites.Drift)
		if e := w.last(); !strings.Contains(e.Text, "create_only") || strings.Contains(e.Text, "put right") {
			t.Error(e.Text)
		}
	})
}

// What the guard holds at a target would be told as records that another controller with
// the same name has put there.
func TestWhatIsHeldIsNoDrift(t *testing.T) {
	for _, marks := range []bool{true, false} {
		bubble(t, marks, func(w *world) {
			w.p.Want("router", names("app", a1, "n1", a1, "n2", a1, "n3", a1))
			sleep(time.Minute)
			w.p.Want("router", names("app", a1))
			sleep(time.Hour)
			w.holds("n3", a1) // the guard holds it
			w.told()
			w.p.Want("router", names("app", a1, "n1", a1, "n2", a1, "n3", a1))
			sleep(time.Hour)
			w.told()
			if !marks {
				return // what a hand changes there is not ours any more
			}
			w.p.Want("router", names("app", a1))
			sleep(time.Minute)
			w.d.hand(func() { w.d.at(w.d.entries[3], func(e *providers.Entry) { e.Addr = alien }) })
			sleep(6 * time.Minute)
			w.told(sites.Drift)
			if e := w.last(); !strings.Contains(e.Text, "n3 A 192.0.2.10 was changed (now n3 192.0.2.10). It is left so (delete_guard).") {
				t.Error(e.Text)
			}
		})
	}
}

// A person would read that drift is left for another reason than it is.
func TestDriftIsLeftForItsOwnReason(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.use(func(t *Target) { t.Drift = Report })
		w.p.Want("router", names("app", a1, "one", a1, "two", a1, "three", a1))
		sleep(time.Minute)
		w.d.hand(func() { w.d.entries[0].Addr = alien })
		w.p.Want("router", names("app", a1)) // the guard holds the others
		sleep(time.Minute)
		if e := w.last(); e.Kind != sites.Drift || !strings.Contains(e.Text, "(drift: report)") {
			t.Errorf("%+v", e)
		}
	})
}
