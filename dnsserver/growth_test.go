package dnsserver

import (
	"fmt"
	"slices"
	"testing"

	"github.com/miekg/dns"
)

// If this fails, a start and a reload with many sites and names take far more than twice
// as long as with half as many.
func TestPrepareGrowsWithItsSize(t *testing.T) {
	cost := func(n int) float64 {
		cfg := lanConfig(t)
		for i := range n {
			cfg.Services = append(cfg.Services, Service{
				Hosts: []string{fmt.Sprintf("grown%d.example.lan", i)}, Pool: fmt.Sprintf("p%d", i),
				Sites: []ServiceSite{{Site: fmt.Sprintf("s%d", i)}},
			})
		}
		s := lanServerOf(t, cfg)
		return testing.AllocsPerRun(1, func() {
			change, err := s.Prepare(cfg)
			if err != nil {
				t.Fatal(err)
			}
			change.Commit()
		})
	}
	base := cost(0)
	if few, many := cost(100)-base, cost(800)-base; many > 10*few {
		t.Errorf("%v allocations with 100 more names, %v with 800", few, many)
	}
}

// If this fails, a start and a reload with thousands of zones that are signed or given
// to secondaries go over all names once for each of them, and no answer comes for
// seconds.
func TestZonesAreWalkedApart(t *testing.T) {
	sn := lanServer(t).snap.Load()
	total := 0
	for _, z := range sn.zoneList {
		total += z.end - z.begin
		var names []string
		sn.names.walk(z, func(n node) bool {
			if sn.zoneOf(n) != z {
				t.Errorf("the walk over %s comes by %q", z.text, n.name())
			}
			names = append(names, textName(string(n.name())))
			return true
		})
		for _, rr := range lanConfig(t).Zones[z.index].Records {
			if name := dns.CanonicalName(rr.Header().Name); !slices.Contains(names, name) {
				t.Errorf("the walk over %s leaves %s out", z.text, name)
			}
		}
	}
	if total >= len(sn.names.arena) {
		t.Errorf("the walks take %d octets of %d", total, len(sn.names.arena))
	}
}
