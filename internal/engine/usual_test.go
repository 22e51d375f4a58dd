package engine_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// usual makes sites with the default settings.
func usual(n, nodes int, spare int) *sites.Config {
	cfg := &sites.Config{}
	for i := range n {
		s := sites.Site{
			Name:      fmt.Sprintf("s%d", i),
			Witnesses: []sites.Witness{{Name: "resolver", Addr: address4(i, 0)}},
			Threshold: 10 * time.Second, Interval: 5 * time.Second, Timeout: 2 * time.Second,
			TTL: 30 * time.Second, TTLUnsettled: 5 * time.Second,
		}
		if spare > 0 {
			s.EmergencySite = fmt.Sprintf("s%d", (i+1)%n)
		}
		var all []int
		for j := range nodes {
			s.Nodes = append(s.Nodes, sites.Node{
				Name: fmt.Sprintf("n%d", j), Addresses: []netip.Addr{address4(i, j+1)},
				Threshold: 30 * time.Second, Grace: 5 * time.Minute, Rise: 2, Interval: 5 * time.Second, Timeout: 2 * time.Second,
				Probes: []sites.Probe{{Name: "tcp", Key: "tcp 443", Steer: true}}, Failover: true,
			})
			all = append(all, j)
		}
		s.Pools = []sites.Pool{{Name: sites.DefaultPool, Nodes: all, Mode: sites.ActivePassive}}
		cfg.Sites = append(cfg.Sites, s)
	}
	return cfg
}

func address4(site, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10 + byte(site>>16), byte(site >> 8), byte(site), byte(host)}).Unmap()
}
