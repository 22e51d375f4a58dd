package realnet

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// onDisk is the usual world with the state on a disk of its own.
func onDisk(t *testing.T) *usual {
	t.Helper()
	return newUsual(t, page, (*World).StateDisk)
}

// maintain has hamburg/a in maintenance, or back from it, and says whether what was
// said is stored.
func (u *usual) maintain(on bool) (stored bool) {
	u.t.Helper()
	verb := sites.MaintenanceEnd
	if on {
		verb = sites.Maintenance
	}
	reply := u.Command(sites.Command{Verb: verb, Site: "hamburg", Node: "a", Reason: strings.Repeat("the disk is tested ", 40)})
	return !reply.Refused && !strings.Contains(reply.Text, "could not be stored")
}

// confirmed is maintain for an order that must be stored. It gives all events until
// then.
func (u *usual) confirmed(on bool) []sites.Event {
	u.t.Helper()
	Until(u.t, "an order is stored", func() string {
		if u.maintain(on) {
			return ""
		}
		return u.Status().Store.Error
	})
	return u.Events(0)
}

// answers waits until clients of both sites got many answers more, as they do where
// nothing of an answer waits for what is at fault.
func (u *usual) answers() {
	u.t.Helper()
	for _, x := range []*Watch{u.berlin, u.hamburg} {
		asked, silent := x.Counts()
		Until(u.t, x.question+" is answered on and on", func() string {
			if a, s := x.Counts(); a-s < asked-silent+50 {
				return fmt.Sprintf("of %d questions %d were not answered", a-asked, s-silent)
			}
			return ""
		})
	}
}

// unstored waits until nothing can be stored, and people were told of it with its
// reason.
func (u *usual) unstored(after uint64, reason string) {
	u.t.Helper()
	Until(u.t, "the status says "+reason, func() string {
		s := u.Status()
		if !strings.Contains(s.Store.Error, reason) || !strings.Contains(strings.Join(s.Problems, "\n"), reason) {
			u.maintain(len(u.Events(0))%2 == 0) // something to store
			return fmt.Sprintf("it says %q and %q", s.Store.Error, s.Problems)
		}
		return ""
	})
	failed := u.Await(after, "store_failed")
	u.told(&failed)
}

// killed kills the controller, starts it again, and holds that all that was stored is
// there: these events, and the maintenance of hamburg/a.
func (u *usual) killed(stored []sites.Event) {
	u.t.Helper()
	u.Kill()
	u.Start()
	u.kept(stored)
}

func (u *usual) kept(stored []sites.Event) {
	u.t.Helper()
	got := u.Events(0)
	if diff := cmp.Diff(stored, got[:min(len(stored), len(got))]); diff != "" {
		u.t.Errorf("what was stored is not what is there after a kill (-stored +there):\n%s", diff)
	}
	for i, e := range got {
		if e.ID != uint64(i+1) {
			u.t.Errorf("event %d stands at place %d", e.ID, i+1)
		}
	}
	s := u.Status()
	if i := slices.IndexFunc(s.Sites, func(v sites.SiteView) bool { return v.Name == "hamburg" }); s.Sites[i].Nodes[0].Word != sites.WordMaintenance {
		u.t.Errorf("hamburg/a is %s, and its maintenance was confirmed", s.Sites[i].Nodes[0].Word)
	}
}

// If this fails, a disk that takes nothing, fails or hangs stops answers or decisions,
// is told to nobody, or leaves a state that loses what was confirmed.
func TestDiskFails(t *testing.T) {
	calls := func(inject string) func(*usual) func() {
		return func(u *usual) func() { u.t.Helper(); return u.CallsFail(inject) }
	}
	for _, f := range []struct {
		name   string
		begin  func(*usual) (end func())
		reason string
	}{
		{"full", func(u *usual) func() { return u.disk.fill() }, "free some space on that disk"},
		{"read-only", calls("pwrite64,fdatasync,fsync,ftruncate:error=EROFS"), "make that disk writable"},
		{"fails to sync", calls("fdatasync,fsync:error=EIO"), "the disk fails"},
		{"fails to write", calls("pwrite64:error=EIO"), "the disk fails"},
		{"hangs", calls("fdatasync:delay_enter=3600s"), "the disk has not taken the last commit"},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			u := onDisk(t)
			u.kept(u.confirmed(true))
			u.hamburg.Await("10.2.0.12")
			after := u.Last()
			end := f.begin(u)
			heal := u.Node("berlin/a").refuse()
			u.Await(after, "failover_outage berlin/a")
			u.berlin.Await("10.1.0.12")
			u.unstored(after, f.reason)
			u.answers()
			end()
			u.Await(after, "store_failed", "store_recovered")
			mark := u.berlin.Mark()
			u.killed(u.confirmed(true))
			u.answers()
			if sets := u.berlin.Sets(mark); !slices.Equal(sets, []string{"10.1.0.12"}) {
				t.Errorf("berlin was answered %q over the kill", sets)
			}
			heal()
			u.Await(after, "failover_outage berlin/a", "failover_failback berlin/a")
			u.berlin.Await("10.1.0.11", "10.1.0.12")
			u.always()
		})
	}
}

// If this fails, a start on a disk that takes nothing does not answer as before, does
// not fail over, says nothing of it, or does not store again once it can.
func TestStartOnADiskThatTakesNothing(t *testing.T) {
	for _, f := range []struct {
		name  string
		begin func(*disk) (end func())
		told  func(*testing.T, *usual, uint64)
	}{
		{"full", (*disk).fill, func(t *testing.T, u *usual, after uint64) {
			t.Helper()
			u.Asked()
			u.unstored(after, "free some space on that disk")
		}},
		{"read-only", (*disk).readOnly, func(t *testing.T, u *usual, _ uint64) {
			t.Helper() // it takes no socket to ask by either
			Until(t, "people are told", func() string {
				messages := u.Messages()
				for _, m := range messages {
					if slices.Contains(m.Events, "store_failed") {
						return ""
					}
				}
				return fmt.Sprintf("of %+v", messages)
			})
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			u := onDisk(t)
			heal := u.Node("berlin/a").refuse()
			u.Await(0, "failover_outage berlin/a")
			u.berlin.Await("10.1.0.12")
			stored := u.confirmed(true)
			u.hamburg.Await("10.2.0.12")
			after, mark := stored[len(stored)-1].ID, u.berlin.Mark()
			u.Kill()
			end := f.begin(u.disk)
			u.Launch()
			u.answers()
			heal()
			u.berlin.Await("10.1.0.11", "10.1.0.12") // a decision
			f.told(t, u, after)
			u.answers()
			if sets := u.berlin.Sets(mark); !slices.Equal(sets, []string{"10.1.0.12", "10.1.0.11 10.1.0.12"}) {
				t.Errorf("berlin was answered %q", sets)
			}
			end()
			u.Asked()
			u.Await(after, "store_failed", "store_recovered")
			u.killed(append(stored, u.confirmed(true)[len(stored):]...))
			u.always()
		})
	}
}

// If this fails, a controller that can open nothing more stops answering, takes what it
// cannot find out for an outage, or does not catch up when it can.
func TestNoDescriptorIsLeft(t *testing.T) {
	t.Parallel()
	u := onDisk(t)
	stored := u.confirmed(true)
	u.hamburg.Await("10.2.0.12")
	after, mark := u.Last(), u.berlin.Mark()
	end := u.NoDescriptors()
	heal := u.Node("berlin/a").refuse()
	Until(t, "the status says that nothing is found out", func() string {
		s := u.Status()
		if p := strings.Join(s.Problems, "\n"); !strings.Contains(p, syscall.EMFILE.Error()) {
			return fmt.Sprintf("it says %q", s.Problems)
		}
		return ""
	})
	u.answers()
	u.none(after, moves()...)
	if sets := u.berlin.Sets(mark); len(sets) != 1 {
		t.Errorf("berlin was answered %q", sets)
	}
	end()
	out := u.Await(after, "failover_outage berlin/a")
	u.berlin.Await("10.1.0.12")
	u.told(&out)
	u.kept(stored)
	u.killed(u.confirmed(true))
	heal()
	u.Await(after, "failover_outage berlin/a", "failover_failback berlin/a")
	u.always()
}
