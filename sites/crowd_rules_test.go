package sites

import (
	"fmt"
	"strings"
	"testing"
)

// chainOf has so many sites with one node each, every one of which has the next for
// its emergency site, and the last the first.
func chainOf(n int) func(*Config) {
	return func(c *Config) {
		for i := len(c.Sites); i < n; i++ {
			s := c.clone().Sites[0]
			s.Name = fmt.Sprintf("s%d", i)
			s.Witnesses[0] = Witness{Name: "resolver", Addr: addrs(fmt.Sprintf("10.%d.0.1", i+1))[0]}
			s.Nodes = []Node{usualNode("a", fmt.Sprintf("10.%d.0.11", i+1))}
			s.Pools[0].Nodes = []int{0}
			c.Sites = append(c.Sites, s)
		}
		for i := range c.Sites {
			c.Sites[i].EmergencySite = c.Sites[(i+1)%n].Name
		}
	}
}

// Emergency sites that lead in a circle, however long, must find the one that lives,
// and must not be followed for ever where none does.
func TestA4LongChain(t *testing.T) {
	const n = 20
	var most, all strings.Builder
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		if i < 2 {
			name = []string{"berlin", "hamburg"}[i]
		}
		nodes := []string{name + "/a"}
		if i < 2 {
			nodes = append(nodes, name+"/b")
		}
		for _, node := range nodes {
			at := "60s"
			if i == n-1 {
				at = "5m"
			}
			line := fmt.Sprintf("%s down %s\n", at, node)
			all.WriteString(line)
			if i < n-1 {
				most.WriteString(line)
			}
		}
	}
	runRule(t, []ruleTest{
		{
			name: "the last of twenty is found",
			cfg:  chainOf(n),
			in:   most.String() + "3m see berlin, hamburg, s10, s18, s19",
			want: `berlin=emergency:s19 10.20.0.11
				hamburg=emergency:s19 10.20.0.11
				s10=emergency:s19 10.20.0.11
				s18=emergency:s19 10.20.0.11
				s19=own 10.20.0.11`,
		}, {
			name: "none lives: each keeps its own",
			cfg:  chainOf(n),
			in:   all.String() + "8m see berlin, hamburg, s10, s19",
			want: `berlin=last_resort 10.1.0.11, 10.1.0.12
				hamburg=last_resort 10.2.0.11
				s10=last_resort 10.11.0.11
				s19=last_resort 10.20.0.11`,
		},
	})
}

// After a power cut everything comes back within seconds: each node must come back
// once, after its grace, and nobody be told twice.
func TestN6EverythingReturns(t *testing.T) {
	runRule(t, []ruleTest{
		{
			name: "within ten seconds",
			cfg:  several(more(0, "cde"), emergencies("berlin>hamburg")),
			in: `60s down berlin/a
				60s down berlin/b
				60s down berlin/c
				60s down berlin/d
				60s down berlin/e
				10m up berlin/a
				10m2s up berlin/b
				10m4s up berlin/c
				10m6s up berlin/d
				10m10s up berlin/e
				15m see berlin
				15m20s see berlin
				2h events`,
			want: `berlin=emergency:hamburg 10.2.0.11
				berlin=own 10.1.0.11, 10.1.0.12, 10.1.0.13, 10.1.0.14, 10.1.0.15
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				node_offline berlin/c
				failover_outage berlin/c
				node_offline berlin/d
				failover_outage berlin/d
				node_offline berlin/e
				failover_outage berlin/e
				failover_switch berlin
				node_online berlin/a
				node_online berlin/b
				node_online berlin/c
				node_online berlin/d
				node_online berlin/e
				failover_failback berlin/a
				failover_switch berlin
				failover_failback berlin/b
				failover_failback berlin/c
				failover_failback berlin/d
				failover_failback berlin/e`,
		}, {
			name: "a second cut is told as the first, and so is its end",
			in: `60s down berlin/a
				60s down berlin/b
				10m up berlin/a
				10m up berlin/b
				20m events
				60m down berlin/a
				60m down berlin/b
				70m up berlin/a
				70m up berlin/b
				2h events`,
			want: `node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				pool_outage_started berlin
				node_online berlin/a
				node_online berlin/b
				failover_failback berlin/a
				failover_failback berlin/b
				pool_outage_resolved berlin
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				pool_outage_started berlin
				node_online berlin/a
				node_online berlin/b
				failover_failback berlin/a
				failover_failback berlin/b
				pool_outage_resolved berlin`,
		}, {
			name: "with no emergency site the first that answers replaces the last resort at once, the others after their grace",
			cfg:  more(0, "c"),
			in: `60s down berlin/a
				60s down berlin/b
				60s down berlin/c
				10m up berlin/c
				10m2s up berlin/a
				10m4s up berlin/b
				10m30s see berlin
				15m see berlin
				15m20s see berlin
				2h events`,
			want: `berlin=own 10.1.0.13
				berlin=own 10.1.0.13
				berlin=own 10.1.0.11, 10.1.0.12, 10.1.0.13
				node_offline berlin/a
				failover_outage berlin/a
				node_offline berlin/b
				failover_outage berlin/b
				node_offline berlin/c
				failover_outage berlin/c
				pool_outage_started berlin
				node_online berlin/c
				failover_failback berlin/c
				pool_outage_resolved berlin
				node_online berlin/a
				node_online berlin/b
				failover_failback berlin/a
				failover_failback berlin/b`,
		},
	})
}
