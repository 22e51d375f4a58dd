package sites_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// crowd is a machine with many nodes whose results come in one after the other,
// as those of a spread schedule do.
type crowd struct {
	m       *sites.Machine
	cfg     *sites.Config
	targets []sites.Target
	at      int
	now     time.Duration
	step    time.Duration
	results [1]sites.Result
	up      []sites.Check // of a node's probes
	down    []sites.Check
}

func newCrowd(perSite, siteCount int, threshold time.Duration, more ...sites.Probe) *crowd {
	const interval = 5 * time.Second
	cfg := &sites.Config{}
	for i := range siteCount {
		s := sites.Site{
			Name:      fmt.Sprintf("site%d", i),
			Witnesses: []sites.Witness{{Name: "resolver", Addr: netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0})}},
			Threshold: 10 * time.Second, Interval: interval, Timeout: 2 * time.Second,
			TTL: 30 * time.Second, TTLUnsettled: 5 * time.Second,
		}
		var all []int
		for j := range perSite {
			s.Nodes = append(s.Nodes, sites.Node{
				Name: fmt.Sprintf("n%d", j), Addresses: []netip.Addr{netip.AddrFrom4([4]byte{20 + byte(j>>8), byte(i >> 8), byte(i), byte(j)})},
				Threshold: threshold, Grace: 5 * time.Minute, Rise: 2, Interval: interval, Timeout: 2 * time.Second,
				Probes: append([]sites.Probe{{Name: "tcp", Key: "tcp 443", Steer: true}}, more...), Failover: true,
			})
			all = append(all, j)
		}
		s.Pools = []sites.Pool{{Name: sites.DefaultPool, Nodes: all}}
		cfg.Sites = append(cfg.Sites, s)
	}
	c := &crowd{cfg: cfg, now: time.Hour}
	for range 1 + len(more) {
		c.up = append(c.up, sites.Check{Outcome: sites.Up, Duration: time.Millisecond})
		c.down = append(c.down, sites.Check{Outcome: sites.Down, Cause: "timeout", Text: "no answer within 2s", Duration: time.Millisecond})
	}
	c.m = sites.New(c.instant(), cfg, sites.Saved{})
	c.targets = c.m.Targets()
	c.step = interval / time.Duration(len(c.targets))
	return c
}

func (c *crowd) instant() sites.Instant {
	return sites.Instant{Boot: c.now, Wall: time.Unix(1_800_000_000, 0).UTC().Add(c.now)}
}

// next hands in the next subject's result.
func (c *crowd) next(nodes, witnesses bool) sites.Effects {
	c.now += c.step
	t := &c.targets[c.at]
	c.at = (c.at + 1) % len(c.targets)
	up := nodes
	if t.Subject.Node == "" {
		up = witnesses
	}
	r := &c.results[0]
	r.Subject, r.Start, r.Finish = t.Subject, c.now-time.Millisecond, c.now
	if r.Checks = c.down; up {
		r.Checks = c.up
	}
	if t.Subject.Node == "" {
		r.Checks = r.Checks[:1]
	}
	return c.m.Step(c.instant(), sites.Input{Results: c.results[:]})
}

// rounds hands in every subject's result so many times.
func (c *crowd) rounds(n int, nodes, witnesses bool) {
	for range n * len(c.targets) {
		c.next(nodes, witnesses)
	}
}

// The cost of one result decides how many nodes a small machine can watch, and
// it must not grow with how many fail, or how many other sites there are.
func BenchmarkStep(b *testing.B) {
	states := []struct {
		name             string
		threshold        time.Duration
		before           int
		nodes, witnesses bool
	}{
		{"quiet", 30 * time.Second, 1, true, true},
		{"failing", 10_000 * time.Hour, 2, false, true},
		{"out", 5 * time.Second, 8, false, true},
		{"silent", 30 * time.Second, 8, false, false},
	}
	for _, size := range []struct{ sites, nodes int }{{1, 10}, {100, 10}, {1000, 10}, {1, 1000}} {
		for _, s := range states {
			b.Run(fmt.Sprintf("%dx%d/%s", size.sites, size.nodes, s.name), func(b *testing.B) {
				c := newCrowd(size.nodes, size.sites, s.threshold)
				c.rounds(2, true, true)
				c.rounds(s.before, s.nodes, s.witnesses)
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					c.next(s.nodes, s.witnesses)
				}
			})
		}
	}
}
