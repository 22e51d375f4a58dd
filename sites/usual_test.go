package sites

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// usual gives the configuration of most tests: two sites with two nodes each,
// berlin active-active and hamburg active-passive, everything at its default.
func usual(change func(*Config)) *Config {
	cfg := &Config{Services: []Service{{Hosts: []string{"app.example.lan"}, Pool: DefaultPool, Sites: []string{"berlin", "hamburg"}}}}
	for i, name := range []string{"berlin", "hamburg"} {
		prefix := fmt.Sprintf("10.%d.0.", i+1)
		s := Site{
			Name: name, Threshold: 10 * time.Second, Interval: 5 * time.Second, Timeout: 2 * time.Second,
			TTL: 30 * time.Second, TTLUnsettled: 5 * time.Second,
			Witnesses: []Witness{{Name: "resolver " + prefix + "1", Addr: netip.MustParseAddr(prefix + "1")}},
			Nodes:     []Node{usualNode("a", prefix+"11"), usualNode("b", prefix+"12")},
			Pools:     []Pool{{Name: DefaultPool, Mode: Mode(i), Nodes: []int{0, 1}}},
		}
		cfg.Sites = append(cfg.Sites, s)
	}
	if change != nil {
		change(cfg)
	}
	return cfg
}

func usualNode(name string, addresses ...string) Node {
	return Node{
		Name: name, Addresses: addrs(addresses...), Threshold: 30 * time.Second, Grace: 5 * time.Minute, Rise: 2,
		Interval: 5 * time.Second, Timeout: 2 * time.Second, Failover: true,
		Probes: []Probe{{Name: "tcp", Key: "tcp 443", Steer: true}},
	}
}

func addrs(list ...string) (out []netip.Addr) {
	for _, x := range list {
		out = append(out, netip.MustParseAddr(x))
	}
	return out
}

// clone copies a configuration deep enough for a test to change.
func (c *Config) clone() *Config {
	out := *c
	out.Sites = slices.Clone(c.Sites)
	for i := range out.Sites {
		s := &out.Sites[i]
		s.Nodes, s.Pools, s.Witnesses, s.Windows = slices.Clone(s.Nodes), slices.Clone(s.Pools), slices.Clone(s.Witnesses), slices.Clone(s.Windows)
		for j := range s.Nodes {
			s.Nodes[j].Probes = slices.Clone(s.Nodes[j].Probes)
		}
	}
	return &out
}
