package realnet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/daemontest"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, a node that is dead in one of the ways in which real ones are stays
// in DNS, goes too early, or does not come back.
func TestNodesDie(t *testing.T) {
	t.Parallel()
	u := newUsual(t, page)
	nodes := u.Nodes()
	for i, f := range NodeFaults() {
		n := nodes[i%len(nodes)]
		site, name, _ := strings.Cut(n.Name, "/")
		other := nodes[i%len(nodes)^1] // of the same site
		after, began := u.Last(), time.Now()
		end := f.Begin(n)
		out := u.Await(after, "node_offline "+n.Name, "failover_outage "+n.Name)
		// It failed for its threshold, from a probe that began a timeout earlier at most.
		if lasted := out.Time.Sub(began); lasted < threshold-timeout {
			t.Errorf("%s, %s: taken out after %s", n.Name, f.Name, lasted)
		}
		u.watch(site).Await(other.Addr())
		if site == "hamburg" {
			u.pushed(other.Addr())
		}
		ended := time.Now()
		end() // a probe under way may succeed yet, and counts from its start
		back := u.Await(after, "failover_outage "+n.Name, "failover_failback "+n.Name)
		if lasted := back.Time.Sub(ended); lasted < grace-timeout {
			t.Errorf("%s, %s: back after %s", n.Name, f.Name, lasted)
		}
		u.watch(site).Await(n.Addr(), other.Addr())
		if site == "hamburg" {
			u.pushed("10.2.0.11", "10.2.0.12")
		}
		if i == 0 { // one a minute is told at once, and the others together after it
			u.told(&out)
		}
		for _, e := range u.Events(after) {
			if e.Node != "" && e.Node != name || e.Kind == sites.SiteDown || e.Kind == sites.ResolverDown {
				t.Errorf("%s, %s: %s", n.Name, f.Name, Told([]sites.Event{e})[0])
			}
		}
	}
	u.always()
}

// If this fails, a node that takes its time is taken out though it answers.
func TestSlowNodeStays(t *testing.T) {
	t.Parallel()
	u := newUsual(t, page)
	end := u.Node("hamburg/b").Slow()
	// It was away for the moment in which it was started anew.
	u.Acquainted()
	u.hamburg.Await("10.2.0.11", "10.2.0.12")
	u.holds("hamburg")
	end()
	u.always()
}

// If this fails, a node at the end of a line that loses three packets of ten is taken
// out though it answers.
func TestLossyNodeStays(t *testing.T) {
	t.Parallel()
	u := newUsual(t, "{type: icmp}")
	a, b, resolver := u.Node("hamburg/a").Lossy(), u.Node("hamburg/b").Lossy(), u.Site("hamburg").LossyResolver()
	u.holds("hamburg")
	a()
	b()
	resolver()
	u.always()
}

// holds holds that no node of a site goes out while one of the other site does, is
// dead for several thresholds, and comes back.
func (u *usual) holds(site string) {
	u.t.Helper()
	after, mark := u.Last(), u.watch(site).Mark()
	dead := u.Node("berlin/a").blackHole()
	u.Await(after, "failover_outage berlin/a")
	u.Failures("berlin", "a", 2*within)
	dead()
	u.Await(after, "failover_failback berlin/a")
	for _, e := range filter(u.Events(after), sites.FailoverOutage) {
		if e.Site == site {
			u.t.Errorf("%s", Told([]sites.Event{e})[0])
		}
	}
	if sets := u.watch(site).Sets(mark); len(sets) != 1 {
		u.t.Errorf("%s was answered %q", site, sets)
	}
}

// If this fails, the loss of a whole site moves its names, though nothing proves that
// its clients lost it, or people are told too often or not at all.
func TestCutSite(t *testing.T) {
	t.Parallel()
	u := newUsual(t, page)
	after, mark := u.Last(), u.hamburg.Mark()
	heal := u.Site("hamburg").Cut()
	down := u.Await(after, "site_down hamburg")
	u.told(&down)
	// A node of it dies unseen.
	dead := u.Node("hamburg/a").refuse()
	u.Failures("hamburg", "a", within)
	dead()
	heal()
	u.Await(after, "site_down hamburg", "site_up hamburg")
	u.Acquainted()
	u.none(after, append(moves(), sites.ControllerIsolated)...)
	if sets := u.hamburg.Sets(mark); len(sets) != 1 {
		t.Errorf("hamburg was answered %q", sets)
	}
	u.pushed("10.2.0.11", "10.2.0.12")
	u.always()
}

// If this fails, a controller whose own line is cut moves everything, tells of each
// site, or says nothing when it is back.
func TestCutController(t *testing.T) {
	t.Parallel()
	u := newUsual(t, page)
	after, berlin, hamburg := u.Last(), u.berlin.Mark(), u.hamburg.Mark()
	told := len(u.Messages())
	heal := u.CutOff()
	isolated := u.Await(after, "controller_isolated")
	u.Failures("hamburg", "a", within)
	u.Failures("berlin", "a", 1)
	if n := len(u.Messages()); n != told {
		t.Errorf("%d messages came through the line that is cut", n-told)
	}
	heal()
	u.Await(after, "controller_isolated", "controller_reconnected")
	u.Acquainted()
	u.told(&isolated)
	u.none(after, append(moves(), sites.SiteDown, sites.SiteUp)...)
	if b, h := u.berlin.Sets(berlin), u.hamburg.Sets(hamburg); len(b) != 1 || len(h) != 1 {
		t.Errorf("berlin was answered %q, hamburg %q", b, h)
	}
	u.always()
}

// If this fails, the rule that everything rests on is broken: while the site's own
// resolver is silent no node of it leaves DNS, and once it answers dead ones do.
func TestSilentResolverHolds(t *testing.T) {
	for _, site := range []string{"berlin", "hamburg"} {
		t.Run(site, func(t *testing.T) {
			t.Parallel()
			u := newUsual(t, page)
			after, mark := u.Last(), u.watch(site).Mark()
			answer := u.Site(site).Silence()
			u.Await(after, "resolver_down "+site)
			heal := u.Node(site + "/a").blackHole()
			u.Failures(site, "a", within)
			u.none(after, moves()...)
			if sets := u.watch(site).Sets(mark); len(sets) != 1 {
				t.Errorf("%s was answered %q", site, sets)
			}
			answer()
			u.Await(after, "resolver_up "+site, "failover_outage "+site+"/a")
			u.watch(site).Await(u.Node(site + "/b").Addr())
			heal()
			u.Await(after, "failover_outage "+site+"/a", "failover_failback "+site+"/a")
			u.always()
		})
	}
}

// If this fails, a controller that was stopped for a while takes what it missed for
// an outage.
func TestControllerStandsStill(t *testing.T) {
	t.Parallel()
	u := newUsual(t, page)
	after, berlin, hamburg := u.Last(), u.berlin.Mark(), u.hamburg.Mark()
	for range 2 {
		thaw := u.Freeze()
		asked, silent := u.berlin.Counts()
		// It is silent for longer than a threshold: each question waits for a second.
		Until(t, "it stands still", func() string {
			if _, s := u.berlin.Counts(); s < silent+4 {
				return "it has answered"
			}
			return ""
		})
		thaw()
		Until(t, "it answers again", func() string {
			if a, s := u.berlin.Counts(); a-s <= asked-silent {
				return "it is silent"
			}
			return ""
		})
		u.Acquainted()
	}
	u.none(after, append(moves(), sites.SiteDown, sites.ControllerIsolated)...)
	if b, h := u.berlin.Sets(berlin), u.hamburg.Sets(hamburg); len(b) != 1 || len(h) != 1 {
		t.Errorf("berlin was answered %q, hamburg %q", b, h)
	}
	u.always()
}

// If this fails, a crash in the middle of an outage gives clients a dead node again,
// or puts a dead node's recovery off for good.
func TestControllerIsKilled(t *testing.T) {
	t.Parallel()
	u := newUsual(t, page)
	after := u.Last()
	heal := u.Node("berlin/a").blackHole()
	out := u.Await(after, "failover_outage berlin/a")
	u.berlin.Await("10.1.0.12")
	// DNS does not wait for the disk. What people are told of is on it.
	u.told(&out)
	mark := u.berlin.Mark()
	u.Kill()
	// No probe can end before the first answers are given: all of them are lost.
	cut := u.CutOff()
	u.Start()
	asked, silent := u.berlin.Counts()
	Until(t, "it answers", func() string {
		if a, s := u.berlin.Counts(); a-s <= asked-silent {
			return "it is silent"
		}
		return ""
	})
	cut()
	Until(t, "hamburg is seen", func() string {
		for _, s := range u.Status().Sites {
			if s.Condition != sites.SiteIsUp {
				return s.Explain
			}
		}
		return ""
	})
	u.Failures("berlin", "a", within)
	if sets := u.berlin.Sets(mark); len(sets) != 1 {
		t.Errorf("berlin was answered %q over the crash", sets)
	}
	heal()
	u.Await(after, "failover_outage berlin/a", "failover_failback berlin/a")
	u.berlin.Await("10.1.0.11", "10.1.0.12")
	if n := len(filter(u.Events(after), sites.FailoverOutage)); n != 1 {
		t.Errorf("%d outages", n)
	}
	u.always()
}

// If this fails, a target that does not answer during a failover holds up the
// built-in server, is left with the dead node, or loses what others wrote there.
func TestTargetIsABlackHole(t *testing.T) {
	t.Parallel()
	u := newUsual(t, page)
	after := u.Last()
	open := u.Site("hamburg").HoldTarget()
	heal := u.Node("hamburg/a").refuse()
	u.Await(after, "failover_outage hamburg/a")
	u.hamburg.Await("10.2.0.12")
	failed := u.Await(after, "publish_failed hamburg")
	if failed.Severity != sites.Critical {
		t.Errorf("a push that fails in a move is %s", failed.Severity)
	}
	if held := u.held(); held != "10.2.0.11 10.2.0.12" {
		t.Errorf("the router holds [%s]", held)
	}
	open()
	u.pushed("10.2.0.12")
	u.Await(after, "publish_failed hamburg", "publish_recovered hamburg")
	heal()
	u.Await(after, "failover_failback hamburg/a")
	u.pushed("10.2.0.11", "10.2.0.12")
	u.always()
}

// If this fails, the site's clients, who ask their own resolver, do not get what the
// controller decides.
func TestResolverPassesItOn(t *testing.T) {
	t.Parallel()
	u := newUsual(t, page)
	asks := func(want string) {
		t.Helper()
		Until(t, "the resolver of berlin answers "+want, func() string {
			out := u.Site("berlin").resolver.Run(t, daemontest.Path(t, "dig"), "+short", "+time=2", "@10.1.0.1", host, "A")
			got := strings.Fields(out)
			if slices.Sort(got); strings.Join(got, " ") != want {
				return "it answers " + out
			}
			return ""
		})
	}
	after := u.Last()
	heal := u.Node("berlin/a").unplug()
	u.Await(after, "failover_outage berlin/a")
	asks("10.1.0.12")
	end := u.Node("berlin/b").refuse()
	u.Await(after, "failover_outage berlin/b", "failover_switch berlin")
	asks("10.2.0.11 10.2.0.12")
	heal()
	end()
	u.Await(after, "failover_switch berlin", "failover_switch berlin")
	u.berlin.Await("10.1.0.11", "10.1.0.12")
	u.always()
}

func filter(list []sites.Event, kind sites.Kind) (some []sites.Event) {
	for _, e := range list {
		if e.Kind == kind {
			some = append(some, e)
		}
	}
	return some
}
