package sites

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leastLoad has berlin answer by load, with three nodes.
func leastLoad(c *Config) {
	s := &c.Sites[0]
	s.Nodes = append(s.Nodes, usualNode("c", "10.1.0.13"))
	s.Pools[0].Nodes, s.Pools[0].Policy = []int{0, 1, 2}, PolicyLeastLoad
}

// shares writes what a pool answers as "policy a:10 b:20".
func (d *driver) shares(pool string) string {
	id, _ := d.m.FindPool(pool)
	a := d.m.Answer(id)
	list := []string{a.Policy.String()}
	for _, n := range a.Nodes {
		list = append(list, fmt.Sprintf("%s:%d", n.Name, n.Weight))
	}
	return strings.Join(list, " ")
}

// A node that is busy must get less than one that is idle, one that says nothing
// no more and no less than the others, and answers must not change with every
// report.
func TestA8LeastLoad(t *testing.T) {
	tests := []struct {
		name string
		cfg  func(*Config)
		in   string
		want string // what the pool answers in the end
	}{
		{"nothing is known", leastLoad, `60s tick`, "all"},
		{"in inverse proportion", leastLoad, `10s load berlin/a load=0.2
			10s load berlin/b load=0.4
			10s load berlin/c load=1
			20s tick`, "least_load a:5000 b:2500 c:1000"},
		{"idle is idle", leastLoad, `10s load berlin/a load=0
			10s load berlin/b load=0.05
			10s load berlin/c load=0.1
			20s tick`, "least_load a:20000 b:20000 c:10000"},
		{"one that says nothing is as the average", leastLoad, `10s load berlin/a load=0.2
			10s load berlin/b load=0.6
			20s tick`, "least_load a:5000 b:1667 c:2500"},
		{"weights count beside it", func(c *Config) {
			leastLoad(c)
			c.Sites[0].Nodes[0].Weight, c.Sites[0].Nodes[1].Weight = 3, 0
		}, `10s load berlin/a load=1
			10s load berlin/b load=1
			10s load berlin/c load=1
			20s tick`, "least_load a:3000 b:0 c:1000"},
		{"a small change changes nothing", leastLoad, `10s load berlin/a load=0.50
			20s load berlin/a load=0.59
			30s tick`, "least_load a:2000 b:2000 c:2000"},
		{"a large one does", leastLoad, `10s load berlin/a load=0.50
			10s load berlin/b load=1
			20s load berlin/a load=0.61
			30s tick`, "least_load a:1639 b:1000 c:1242"},
		{"many small ones do as well", leastLoad, `10s load berlin/a load=0.50
			10s load berlin/b load=1
			20s load berlin/a load=0.57
			30s load berlin/a load=0.62
			40s tick`, "least_load a:1613 b:1000 c:1235"},
		{"one without load any more", leastLoad, `10s load berlin/a load=0.50
			10s load berlin/b load=1
			20s load berlin/a sessions=1
			30s tick`, "least_load a:1000 b:1000 c:1000"},
		{"what could not be found out counts for a while", leastLoad, `10s load berlin/a load=0.50
			10s load berlin/b load=1
			20s unknown berlin/a
			27s tick`, "least_load a:2000 b:1000 c:1333"},
		{"and then no more", leastLoad, `10s load berlin/a load=0.50
			10s load berlin/b load=1
			20s unknown berlin/a
			34s tick`, "least_load a:1000 b:1000 c:1000"},
		{"a node that is out is in no answer", leastLoad, `10s load berlin/a load=0.50
			10s load berlin/b load=1
			20s down berlin/b
			60s tick`, "least_load a:2000 c:2000"},
		{"a last resort answers all", leastLoad, `10s load berlin/a load=0.50
			20s down berlin/a
			20s down berlin/b
			20s down berlin/c
			60s tick`, "all"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(t, usual(func(c *Config) {
				for i := range c.Sites[0].Nodes {
					c.Sites[0].Nodes[i].Weight = 1
				}
				tt.cfg(c)
				if n := &c.Sites[0].Nodes[2]; n.Weight == 0 {
					n.Weight = 1
				}
				c.Sites[0].Nodes[0].Weight = max(1, c.Sites[0].Nodes[0].Weight)
			}))
			d.play(tt.in)
			if diff := cmp.Diff(tt.want, d.shares("berlin")); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// The server must be told of loads that change an answer, in the site that an
// emergency site answers for as well, and of no others.
func TestA8LeastLoadIsTold(t *testing.T) {
	d := newDriver(t, usual(func(c *Config) {
		leastLoad(c)
		c.Sites[1].EmergencySite = "berlin"
		c.Sites[1].Pools[0].Mode = ActiveActive
	}))
	d.play(`10s down hamburg/a
		10s down hamburg/b
		60s see hamburg
		60s load berlin/a load=0.5`)
	touched := map[string]bool{}
	for d.now < 70e9 {
		d.at(d.now + 1e8)
		for _, id := range d.fx.Touched {
			touched[d.cfg.Sites[id.Site].Name] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{"berlin": true, "hamburg": true}, touched); diff != "" {
		t.Errorf("pools to publish (-want +got):\n%s", diff)
	}
	if got := d.shares("hamburg"); !strings.HasPrefix(got, "least_load a:") {
		t.Errorf("hamburg answers %s", got)
	}
}

// One word of a node must not be taken for two, and a word from before a line
// was cut is no proof that it works.
func TestO4Heartbeat(t *testing.T) {
	runRule(t, []ruleTest{{
		name: "a report counts once",
		in: `50s spoke berlin/a
			60s down berlin/a
			100s see berlin/a
			100s spoke berlin/a
			100s up berlin/a
			112s see berlin/a
			113s spoke berlin/a
			117s see berlin/a`,
		want: `berlin/a=out
			berlin/a=out
			berlin/a=recovering`,
	}, {
		name: "the end of grace is confirmed by a report from after it",
		in: `60s down berlin/a
			100s up berlin/a
			100s spoke berlin/a
			105s spoke berlin/a
			7m see berlin/a
			7m spoke berlin/a
			7m2s see berlin/a`,
		want: `berlin/a=recovering
			berlin/a=up`,
	}, {
		name: "what was said before the silence does not show that a site is there",
		in: `60s spoke berlin/a
			60s spoke berlin/b
			62s down berlin resolver 10.1.0.1
			90s see site berlin
			90s spoke berlin/b
			92s see site berlin`,
		want: `site berlin=up
			site berlin=resolver_down`,
	}, {
		name: "nor that the line works",
		cfg: func(c *Config) {
			c.Sites[0].Witnesses, c.Sites[0].WitnessNodes = nil, true
		},
		in: `10s spoke berlin/a
			10s spoke berlin/b
			60s down berlin/a
			2m see berlin/a
			2m spoke berlin/b
			2m2s see berlin/a
			2m10s spoke berlin/b
			2m12s see berlin/a`,
		want: `berlin/a=failing
			berlin/a=failing
			berlin/a=out`,
	}, {
		name: "the end of disabling asks for another",
		in: `10s spoke berlin/a
			60s disable berlin/a
			2m enable berlin/a
			3m see berlin/a
			3m spoke berlin/a
			3m2s see berlin/a`,
		want: `berlin/a=returning
			berlin/a=up`,
	}})
}
