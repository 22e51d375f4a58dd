package engine_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/sites"
)

// chooser makes the choices of a random world: one of n, where 0 is the
// plainest.
type chooser interface {
	pick(what string, n int) int
}

// drawn has rapid choose, which then looks for the plainest world that fails.
type drawn struct{ t *rapid.T }

func (d drawn) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, what) }

// rolled chooses from a seed.
type rolled struct{ r *rand.Rand }

func roll(seed uint64) rolled { return rolled{rand.New(rand.NewPCG(seed, 1))} }

func (d rolled) pick(_ string, n int) int { return d.r.IntN(n) }

// among chooses one of several values, the first of which is the plainest.
func among[T any](c chooser, what string, values ...T) T { return values[c.pick(what, len(values))] }

// sometimes is true once in n times.
func sometimes(c chooser, what string, n int) bool { return c.pick(what, n) == n-1 }

// often is a window of maintenance every so often, by the wall clock.
type often time.Duration

func (o often) Next(t time.Time) time.Time {
	return t.Truncate(time.Duration(o)).Add(time.Duration(o))
}

// drawConfig makes a configuration with 1 to 4 sites.
func drawConfig(c chooser) *sites.Config {
	cfg := &sites.Config{}
	for i := range 1 + among(c, "sites", 0, 1, 1, 2, 3) {
		cfg.Sites = append(cfg.Sites, drawSite(c, i))
	}
	for i := range cfg.Sites {
		link(c, cfg, i)
	}
	cfg.Brake = drawBrake(c)
	if sometimes(c, "service", 4) {
		cfg.Services = []sites.Service{{Hosts: []string{"app"}, Pool: "default", Sites: []string{cfg.Sites[0].Name}, TTL: 45 * time.Second}}
	}
	return cfg
}

func drawBrake(c chooser) sites.Brake {
	return among(c, "brake", sites.Brake{}, sites.Brake{Percent: 50, Within: time.Minute}, sites.Brake{Percent: 30, Within: 20 * time.Second})
}

// link gives a site an emergency site, be it one that leads in a circle.
func link(c chooser, cfg *sites.Config, i int) {
	x := c.pick("emergency", len(cfg.Sites)+1) - 1
	if x < 0 || x == i {
		cfg.Sites[i].EmergencySite = ""
		return
	}
	cfg.Sites[i].EmergencySite = cfg.Sites[x].Name
}

func drawSite(c chooser, i int) sites.Site {
	s := sites.Site{
		Name: fmt.Sprintf("s%d", i),
		TTL:  30 * time.Second, TTLUnsettled: 5 * time.Second,
		Threshold: among(c, "site threshold", 10*time.Second, 5*time.Second, 30*time.Second),
		Interval:  among(c, "witness interval", 5*time.Second, time.Second, 10*time.Second),
		Timeout:   among(c, "witness timeout", 2*time.Second, time.Second),
	}
	s.Timeout = min(s.Timeout, s.Interval)
	both := sometimes(c, "both families", 3)
	drawWitnesses(c, &s, i, both)
	for j := range 1 + among(c, "nodes", 1, 0, 2, 4) {
		s.Nodes = append(s.Nodes, drawNode(c, i, j, both))
	}
	if len(s.Nodes) == 1 && s.WitnessNodes && len(s.Witnesses) == 0 {
		s.WitnessNodes, s.NoWitness = false, true
	}
	all := make([]int, len(s.Nodes))
	for j := range all {
		all[j] = j
	}
	s.Pools = []sites.Pool{{Name: sites.DefaultPool, Nodes: all, Mode: sites.Mode(c.pick("mode", 2)), MinHold: among(c, "min hold", 0, 0, 20*time.Second)}}
	if len(all) > 1 && sometimes(c, "second pool", 3) {
		some := slices.Clone(all[c.pick("pool from", len(all)):])
		slices.Reverse(some)
		s.Pools = append(s.Pools, sites.Pool{Name: "other", Nodes: some, Mode: sites.Mode(c.pick("mode", 2))})
	}
	for j := range s.Pools {
		spread(c, &s.Pools[j], both)
	}
	s.FailoverAfter = among(c, "failover after", 0, 0, 30*time.Second, 90*time.Second)
	s.Local = sometimes(c, "local", 6)
	if sometimes(c, "window", 8) {
		w := sites.Window{Schedule: often(7 * time.Minute), Text: "every 7 minutes", Duration: 90 * time.Second, Location: time.UTC}
		if len(all) > 1 {
			w.Nodes = []int{c.pick("window of", len(all))}
		}
		s.Windows = []sites.Window{w}
	}
	return s
}

// spread gives a pool a policy, a guard, and what it answers when nothing is left.
func spread(c chooser, p *sites.Pool, both bool) {
	p.Policy = among(c, "policy", sites.PolicyAll, sites.PolicyAll, sites.PolicyWeighted, sites.PolicyIPHash, sites.PolicyLeastLoad)
	p.Guard = among(c, "guard", sites.Guard{}, sites.Guard{}, sites.Guard{BytesPerSecond: 1000, Quiet: 10 * time.Second, AtMost: 40 * time.Second}, sites.Guard{BytesPerSecond: 1000, AtMost: 30 * time.Second})
	p.OnEmpty = among(c, "on empty", sites.OnEmptyKeep, sites.OnEmptyKeep, sites.OnEmptyAnswer, sites.OnEmptyRemove)
	p.Sorry = nil
	if p.OnEmpty == sites.OnEmptyAnswer {
		p.Sorry = []netip.Addr{netip.MustParseAddr("192.0.2.10")}
		if both {
			p.Sorry = []netip.Addr{netip.MustParseAddr("2001:db8::10")}
		}
	}
}

func drawWitnesses(c chooser, s *sites.Site, i int, both bool) {
	witness := func(name, format string) {
		s.Witnesses = append(s.Witnesses, sites.Witness{Name: name, Addr: netip.MustParseAddr(fmt.Sprintf(format, i))})
	}
	kind := c.pick("witnesses", 9)
	if kind < 6 || kind == 7 {
		witness("resolver 1", "10.%d.0.1")
	}
	switch kind {
	case 2:
		witness("resolver 2", "10.%d.0.2")
	case 3:
		witness("resolver 2", "10.%d.0.2")
		s.WitnessAll = true
	case 4:
		s.WitnessNodes = true
	case 5:
		s.WitnessNodes, s.WitnessAll = true, true
	case 6:
		s.WitnessNodes = true
	case 8:
		s.NoWitness = true
	}
	if both && kind < 4 && sometimes(c, "IPv6 witness", 2) {
		witness("resolver 6", "fd00:%d::1")
	}
}

func drawNode(c chooser, site, i int, both bool) sites.Node {
	n := sites.Node{
		Name:      fmt.Sprintf("n%d", i),
		Threshold: among(c, "threshold", 30*time.Second, 0, time.Second, 5*time.Second, 10*time.Second, 60*time.Second),
		Grace:     among(c, "grace", 60*time.Second, 0, 10*time.Second, 90*time.Second),
		Rise:      among(c, "rise", 2, 1, 3),
		Interval:  among(c, "interval", 5*time.Second, time.Second, 10*time.Second),
		Timeout:   among(c, "timeout", 2*time.Second, 500*time.Millisecond),
		Failover:  !sometimes(c, "failover false", 10),
		Failback:  among(c, "failback", sites.FailbackAuto, sites.FailbackAuto, sites.FailbackManual),
		Probes:    []sites.Probe{{Name: "tcp", Key: "tcp 443", Steer: true}},
		Weight:    among(c, "weight", 1, 0, 5),
	}
	n.Quarantine = drawQuarantine(c)
	n.Timeout = min(n.Timeout, n.Interval)
	address(c, &n, site, i, both)
	switch c.pick("probes", 6) {
	case 3:
		n.Probes = append(n.Probes, sites.Probe{Name: "http", Key: "http /", Steer: true})
	case 4:
		n.Probes = append(n.Probes, sites.Probe{Name: "http", Key: "http /", Steer: true})
		n.Require = 1
	case 5:
		n.Probes = append(n.Probes, sites.Probe{Name: "cert", Key: "cert", Steer: false})
	}
	return n
}

func drawQuarantine(c chooser) sites.Quarantine {
	return among(c, "quarantine", sites.Quarantine{}, sites.Quarantine{},
		sites.Quarantine{Outages: 1, Within: time.Minute, Hold: 2 * time.Minute},
		sites.Quarantine{Outages: 2, Within: 10 * time.Minute, Hold: 3 * time.Minute})
}

// address gives a node addresses; the third group of the first tells one
// choice from another.
func address(c chooser, n *sites.Node, site, i int, both bool) {
	v := c.pick("address", 3)
	n.Addresses = []netip.Addr{netip.MustParseAddr(fmt.Sprintf("10.%d.%d.%d", site, v, 10+i))}
	n.Secondary = nil
	if both {
		n.Addresses = append(n.Addresses, netip.MustParseAddr(fmt.Sprintf("fd00:%d:%d::%d", site, v, 10+i)))
		if c.pick("families", 6) == 5 {
			n.Addresses = n.Addresses[1:]
		}
	}
	if !n.Failover {
		n.Secondary = []netip.Addr{netip.MustParseAddr(fmt.Sprintf("10.%d.%d.%d", site, v, 110+i))}
	}
}

// another gives a configuration that differs from the last by one thing, or by
// all.
func another(c chooser, old *sites.Config) *sites.Config {
	cfg := clone(old)
	i := c.pick("site", len(cfg.Sites))
	s := &cfg.Sites[i]
	j := c.pick("node", len(s.Nodes))
	n := &s.Nodes[j]
	both := slices.ContainsFunc(s.Nodes, func(n sites.Node) bool { return len(n.Addresses) > 1 })
	switch c.pick("reload", 14) {
	case 1:
		address(c, n, i, j, both)
	case 2:
		*n = drawNode(c, i, j, both)
	case 3:
		n.Probes = slices.Clone(n.Probes)
		n.Probes[0].Key = among(c, "key", "tcp 443", "tcp 444")
	case 4:
		s.Nodes = append(s.Nodes, drawNode(c, i, len(s.Nodes), both))
		s.Nodes[len(s.Nodes)-1].Name = among(c, "name", "x", "y", "z")
		s.Pools[0].Nodes = append(s.Pools[0].Nodes, len(s.Nodes)-1)
	case 5:
		n.Name = among(c, "name", "x", "y", "z")
	case 6:
		s.Pools[0].Mode = 1 - s.Pools[0].Mode
	case 7:
		link(c, cfg, i)
	case 8:
		cfg.Sites[i] = drawSite(c, i)
		link(c, cfg, i)
	case 9:
		return drawConfig(c)
	case 10:
		cfg.Brake = drawBrake(c)
	case 11:
		spread(c, &s.Pools[0], both)
	case 12:
		s.FailoverAfter = among(c, "failover after", 0, 30*time.Second)
	case 13:
		n.Quarantine = drawQuarantine(c)
	}
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		names := map[string]bool{}
		for j := range s.Nodes {
			if names[s.Nodes[j].Name] {
				s.Nodes[j].Name = fmt.Sprintf("m%d", j)
			}
			names[s.Nodes[j].Name] = true
		}
	}
	return cfg
}

func clone(old *sites.Config) *sites.Config {
	cfg := &sites.Config{Sites: slices.Clone(old.Sites), Services: old.Services, Brake: old.Brake}
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		s.Nodes, s.Pools = slices.Clone(s.Nodes), slices.Clone(s.Pools)
		for j := range s.Pools {
			s.Pools[j].Nodes = slices.Clone(s.Pools[j].Nodes)
		}
	}
	return cfg
}
