package dnsserver

import (
	"fmt"
	"testing"
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
