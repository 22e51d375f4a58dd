package publish

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
	"github.com/dnsteer/dnsteer/sites"
)

// refuse has the device refuse changes of some names.
func (w *world) refuse(class providers.Class, which ...string) {
	w.d.hand(func() {
		w.d.refuse = func(c providers.Change) error {
			if !slices.Contains(which, c.Name) {
				return nil
			}
			return &providers.Error{Class: class, Err: errors.New("no space left")}
		}
	})
}

// One record that a device does not take would keep the failover of all others
// back, for five minutes or for ever; or nobody would know which one it is.
func TestOneRecordIsRefused(t *testing.T) {
	for _, class := range []providers.Class{providers.Declined, providers.Permanent} {
		bubble(t, true, func(w *world) {
			w.p.Want("router", names("app", a1, "bad", a1, "www", a1))
			sleep(time.Minute)
			w.refuse(class, "bad")
			for i := range 5 { // each at once, though the one waits for its next try
				to := a1
				if i%2 == 0 {
					to = a2
				}
				w.p.Want("router", names("app", to, "bad", a2, "www", to))
				synctest.Wait()
				w.holds("app", to)
				w.holds("www", to)
				w.holds("bad", a1)
			}
			sleep(10 * time.Minute)
			w.told(sites.PublishFailed)
			e := w.last()
			if e.Severity != sites.Critical || !strings.Contains(e.Text, "bad A: no space left") || !strings.Contains(e.Text, "clients get 192.0.2.10 for bad.") {
				t.Errorf("%+v", e)
			}
			v := w.view()
			if v.State != Failing || v.Pending != 1 {
				t.Errorf("%+v", v)
			}
			for _, s := range v.Sets {
				if refused := s.Error != nil; refused != (s.Name == "bad") {
					t.Errorf("%s: %v", s.Key, s.Error)
				}
			}
			_, before := w.d.count()
			sleep(10 * time.Minute)
			if _, after := w.d.count(); after-before > 11 {
				t.Errorf("%d writes within ten minutes", after-before)
			}
			// What a hand does to another record is still seen and put right.
			w.d.hand(func() {
				w.d.entries = slices.DeleteFunc(w.d.entries, func(e providers.Entry) bool { return e.Name == "app" })
			})
			sleep(6 * time.Minute)
			w.holds("app", a2)
			w.told(sites.PublishFailed, sites.Drift, sites.DriftRepaired)
			w.refuse(class)
			sleep(6 * time.Minute)
			w.holds("bad", a2)
			w.told(sites.PublishFailed, sites.Drift, sites.DriftRepaired, sites.PublishRecovered)
		})
	}
}

// A record that a hand has changed and the device does not take back would be told
// to be put right.
func TestARepairIsRefused(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1, "bad", a1))
		sleep(time.Minute)
		w.refuse(providers.Permanent, "bad")
		w.d.hand(func() {
			w.d.entries = slices.DeleteFunc(w.d.entries, func(e providers.Entry) bool { return e.Name == "bad" })
		})
		sleep(30 * time.Minute)
		w.told(sites.PublishFailed)
		w.refuse(providers.Permanent)
		sleep(6 * time.Minute)
		w.holds("bad", a1)
		w.told(sites.PublishFailed, sites.PublishRecovered)
	})
}

var a3 = netip.MustParseAddr("192.0.2.12")

// A device that refuses the first records of a list would never be asked to take
// the others; one that refuses all would be asked a thousand times each minute.
func TestManyRecordsAreRefused(t *testing.T) {
	var all, bad []string
	to := func(a any) Desired {
		var pairs []any
		for _, n := range all {
			pairs = append(pairs, n, a)
		}
		return names(pairs...)
	}
	for i := range 100 {
		all = append(all, fmt.Sprintf("h%02d", i))
	}
	for _, tt := range []struct {
		name string
		bad  []string
	}{
		{"the first", all[:5]},
		{"three in the middle", all[50:53]},
		{"every second of the first half", nil},
	} {
		bad = tt.bad
		for i := 0; bad == nil && i < 50; i += 2 {
			tt.bad = append(tt.bad, all[i])
		}
		for _, class := range []providers.Class{providers.Declined, providers.Permanent} {
			bubble(t, true, func(w *world) {
				w.p.Want("router", to(a1))
				sleep(time.Minute)
				w.refuse(class, tt.bad...)
				w.p.Want("router", to(a2))
				sleep(5 * time.Second)
				for _, n := range all {
					if slices.Contains(tt.bad, n) {
						w.holds(n, a1)
					} else {
						w.holds(n, a2)
					}
				}
				// And at once from then on.
				w.p.Want("router", to(a3))
				synctest.Wait()
				w.holds("h99", a3)
				// Which they are is not forgotten when it cannot be reached.
				w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
				w.p.Want("router", to(a2))
				sleep(10 * time.Second)
				w.d.hand(func() { w.d.fail = nil })
				sleep(20 * time.Second)
				w.holds("h99", a2)
			})
		}
	}
	bubble(t, true, func(w *world) {
		w.p.Want("router", to(a1))
		sleep(time.Minute)
		w.refuse(providers.Permanent, all...)
		_, before := w.d.count()
		w.p.Want("router", to(a2))
		sleep(time.Hour)
		if _, after := w.d.count(); after-before > 3*(12+2) {
			t.Errorf("%d changes were tried within an hour", after-before)
		}
		w.told(sites.PublishFailed)
	})
	bubble(t, true, func(w *world) { // it could not be reached when the move began
		w.p.Want("router", to(a1))
		sleep(time.Minute)
		w.refuse(providers.Permanent, all[:5]...)
		w.d.hand(func() { w.d.fail = func(int) error { return errDown } })
		w.p.Want("router", to(a2))
		sleep(10 * time.Second)
		w.d.hand(func() { w.d.fail = nil })
		sleep(30 * time.Second)
		w.holds("h99", a2)
	})
}

// A name whose answer goes from one address family to the other would have no address
// at a target that does not take the new one, or takes it late (P10).
func TestARefusedFamilyLeavesTheOther(t *testing.T) {
	six := netip.MustParseAddr("2001:db8::1")
	for _, class := range []providers.Class{providers.Permanent, providers.Declined, providers.Changed} {
		bubble(t, true, func(w *world) {
			w.p.Want("router", names("app", six))
			sleep(time.Minute)
			var empty bool
			w.d.hand(func() {
				w.d.written = func() { empty = empty || len(w.d.entries) == 0 }
				w.d.refuse = func(c providers.Change) error {
					if c.Family == sites.IPv6 {
						return nil
					}
					return &providers.Error{Class: class, Err: errors.New("no space left")}
				}
			})
			w.p.Want("router", names("app", a1))
			sleep(time.Hour)
			w.holds("app", six)
			w.d.hand(func() { w.d.refuse = nil })
			sleep(time.Hour)
			w.holds("app", a1)
			if empty {
				t.Error("there was a moment without an address")
			}
		})
	}
}

// Where a target does not take one record, what a hand has done to another would stand for
// five minutes, though the site's resolver shows it.
func TestAHandIsSeenWhileARecordIsRefused(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1, "bad", a1))
		sleep(time.Minute)
		w.refuse(providers.Permanent, "bad")
		w.p.Want("router", names("app", a1, "bad", a2))
		sleep(time.Minute)
		proof, ok := w.p.Proof("berlin", netip.MustParseAddr("192.0.2.53"))
		if !ok || proof.Name != "app" {
			t.Fatal(proof, ok)
		}
		w.edit("app", alien)
		proof.Heard([]netip.Addr{alien})
		synctest.Wait()
		w.holds("app", a1)
		_, before := w.d.count()
		for range 10 { // what is refused is answered as it was, which is no news
			proof.key.Name = "bad"
			proof.Heard([]netip.Addr{a1})
			sleep(doubtPause)
		}
		if _, after := w.d.count(); after-before > 1 {
			t.Errorf("%d writes", after-before)
		}
	})
}

// What a hand changes a second time would stand for five minutes in place of one, where the
// target does not take another record.
func TestARepairWaitsForNoRefusal(t *testing.T) {
	bubble(t, true, func(w *world) {
		w.p.Want("router", names("app", a1, "bad", a1))
		sleep(time.Minute)
		w.refuse(providers.Permanent, "bad")
		w.p.Want("router", names("app", a1, "bad", a2))
		sleep(time.Minute)
		proof, ok := w.p.Proof("berlin", netip.MustParseAddr("192.0.2.53"))
		if !ok {
			t.Fatal("no proof")
		}
		edit := func() {
			w.edit("app", alien)
			proof.Heard([]netip.Addr{alien})
			synctest.Wait()
		}
		edit()
		w.holds("app", a1)
		sleep(doubtPause)
		edit()
		w.holds("app", alien) // it was put right a moment ago
		sleep(repairPause)
		w.holds("app", a1)
	})
}
