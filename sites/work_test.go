package sites_test

import (
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// looked counts the sites that a round of results has looked at.
func (c *crowd) looked(nodes bool) (n int) {
	for range c.targets {
		if fx := c.next(nodes, true); len(fx.Touched) > 0 {
			n++
		}
	}
	return n
}

// If this fails, the work grows with what is down: each result of an outage that lasts
// has the whole site looked at, although it is no news.
func TestLastingOutageIsNoWork(t *testing.T) {
	for _, tt := range []struct {
		name      string
		threshold time.Duration
		word      sites.Word
	}{
		{"all wait for their deadline", time.Hour, sites.WordFailing},
		{"all are out", 20 * time.Second, sites.WordOut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCrowd(40, 3, tt.threshold)
			for range 3 {
				c.looked(true)
			}
			up := c.looked(true)
			if first := c.looked(false); first < 120 {
				t.Fatalf("when 120 nodes fail, sites are looked at %d times", first)
			}
			for range 20 {
				c.looked(false)
			}
			if word := c.m.Saved(0).Nodes[0].Lines[sites.IPv4].Word; word != tt.word {
				t.Fatalf("a node is %s", word)
			}
			if down := c.looked(false); down > up+3 {
				t.Errorf("in a round of 123 results sites are looked at %d times with all nodes up, and %d times with all down", up, down)
			}
		})
	}
}

// If this fails, a start or a reload with many sites takes many times as long as with
// few.
func TestBuildGrowsWithItsSize(t *testing.T) {
	cost := func(places int) float64 {
		c := newCrowd(10, places, time.Minute)
		cfg := c.cfg
		return testing.AllocsPerRun(1, func() {
			sites.New(c.instant(), cfg, sites.Saved{})
			c.m.Reload(c.instant(), cfg)
		})
	}
	if few, many := cost(50), cost(400); many > 10*few {
		t.Errorf("%v allocations with 50 sites, %v with 400", few, many)
	}
}
