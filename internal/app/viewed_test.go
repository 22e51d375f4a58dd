package app

import (
	"fmt"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// deciding gives a controller of a big world that runs nothing: it has the loop's
// part alone.
func deciding(t *testing.T, places, nodes int) *App {
	t.Helper()
	cfg, err := config.Load(big(t, places, nodes).opt.ConfigPath)
	if err != nil {
		t.Fatal(err)
	}
	a := &App{loop: (&loop{}).ready()}
	a.cfg.Store(cfg)
	a.loop.engine = engine.New(sites.Instant{}, &cfg.Sites, sites.Saved{}, 1)
	return a
}

// If this fails, a look at the status holds decisions up, for longer the more nodes
// there are.
func TestStatusTakesManySmallTurns(t *testing.T) {
	const places, nodes = 30, 100
	a := deciding(t, places, nodes)
	v := view{app: a}
	for !v.done {
		before := v.sites*2*nodes + len(v.st.Services)
		v.step()
		if looked := v.sites*2*nodes + len(v.st.Services) - before; looked > viewStep+2*nodes {
			t.Errorf("one turn has looked at %d nodes, pools and services", looked)
		}
	}
	whole := view{app: a, whole: true}
	whole.step()
	if !whole.done || len(v.st.Sites) != places || len(v.st.Services) != places*nodes ||
		len(whole.st.Sites) != places || len(whole.st.Services) != places*nodes {
		t.Errorf("in small turns %d sites and %d services, in one %d and %d (done: %v)",
			len(v.st.Sites), len(v.st.Services), len(whole.st.Sites), len(whole.st.Services), whole.done)
	}
	// A reload in between: what was seen belongs to another configuration.
	v = view{app: a}
	v.step()
	other := *a.cfg.Load()
	a.cfg.Store(&other)
	if v.step(); !v.done || !v.stale {
		t.Error("a view goes on over a reload")
	}
}

// If this fails, what is to be pushed to the targets takes the product of names and
// sites to prepare, at each start and reload.
func TestTargetsOfManySites(t *testing.T) {
	cost := func(places int) float64 {
		cfg := *deciding(t, places, 2).cfg.Load()
		cfg.Sites.Services = cfg.Sites.Services[:10]
		cfg.Targets = []config.Target{{Name: "t", Site: "s0"}}
		for i := range 200 { // names of one site
			s := cfg.Sites.Services[0]
			s.Hosts = []string{fmt.Sprintf("more%d.example.lan", i)}
			cfg.Sites.Services = append(cfg.Sites.Services, s)
		}
		base := testing.AllocsPerRun(1, func() { poolsOf(&cfg.Sites) })
		return testing.AllocsPerRun(1, func() { newPushed(&cfg) }) - base
	}
	if few, many := cost(10), cost(400); many > 2*few {
		t.Errorf("to prepare 210 names takes %v allocations with 10 sites, and %v with 400", few, many)
	}
}
