package sites

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// explained are the states that people ask about at three in the morning.
var explained = []ruleTest{
	{name: "pending, not yet probed", in: `0s explain berlin/a`},
	{name: "pending, no answer", in: `0s down berlin/a
		10s explain berlin/a`},
	{name: "pending, unknown", in: `0s unknown berlin/a
		10s explain berlin/a`},
	{name: "pending, answers, the site not yet seen", in: `0s down berlin resolver 10.1.0.1
		10s explain berlin/a`},
	{name: "up", in: `10s explain berlin/a`},
	{name: "up, active", in: `10s explain hamburg/a`},
	{name: "up, stands by", in: `10s explain hamburg/b`},
	{name: "up, unknown", in: `60s unknown berlin/a
		70s explain berlin/a`},
	{name: "up after a start, not yet probed", in: `60s restart 10s
		70s explain berlin/a`},
	{name: "up, stale", in: `60s mute berlin/a
		2m explain berlin/a`},
	{name: "up, not judged", cfg: func(c *Config) { c.Sites[0].Nodes[0].Addresses = addrs("fd00:1::11") }, in: `10s explain berlin/a`},
	{name: "failing", in: `60s down berlin/a
		73s tick
		73s explain berlin/a`},
	{name: "failing, has answered once", in: `60s down berlin/a
		70s up berlin/a
		73s tick
		73s explain berlin/a`},
	{name: "failing, unknown since", in: `60s down berlin/a
		65s unknown berlin/a
		73s explain berlin/a`},
	{name: "failing, the resolver silent", in: `60s down berlin/a
		60s down berlin resolver 10.1.0.1
		70s explain berlin/a
		90s explain berlin/a`},
	{name: "failing, the site down", in: `60s down berlin
		90s explain berlin/a`},
	{name: "failing, its time over", in: `60s down berlin/a
		90s hold
		92s tick
		92s explain berlin/a`},
	{name: "failing, paused", in: `60s down berlin/a
		70s pause berlin
		2m explain berlin/a`},
	{name: "failing, without failover", cfg: func(c *Config) { c.Sites[0].Nodes[0].Failover = false }, in: `60s down berlin/a
		2m explain berlin/a`},
	{name: "failing, without failover, stands by", cfg: func(c *Config) { c.Sites[1].Nodes[1].Failover = false }, in: `60s down hamburg/b
		2m explain hamburg/b`},
	{name: "failing, no witness", cfg: func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].NoWitness = nil, true }, in: `60s down berlin/a
		73s tick
		73s explain berlin/a`},
	{name: "failing, two witnesses", cfg: twoWitnesses(true), in: `60s down berlin/a
		73s tick
		73s explain berlin/a`},
	{name: "failing in one family", cfg: func(c *Config) {
		c.Sites[0].Nodes[0].Addresses = addrs("10.1.0.11", "fd00:1::11")
		c.Sites[0].Witnesses = append(c.Sites[0].Witnesses, Witness{Name: "resolver fd00:1::1", Addr: addrs("fd00:1::1")[0]})
	}, in: `60s down fd00:1::11
		73s tick
		73s explain berlin/a`},
	{name: "out", in: `60s down berlin/a
		5m explain berlin/a`},
	{name: "out, answers once", in: `60s down berlin/a
		5m up berlin/a
		5m2s explain berlin/a`},
	{name: "recovering", in: `60s down berlin/a
		5m up berlin/a
		6m explain berlin/a`},
	{name: "recovering, failed once", in: `60s down berlin/a
		5m up berlin/a
		6m down berlin/a
		6m2s explain berlin/a`},
	{name: "recovering, ready", cfg: func(c *Config) { c.Sites[0].Nodes[0].Failback = FailbackManual }, in: `60s down berlin/a
		5m up berlin/a
		6m explain berlin/a
		20m explain berlin/a`},
	{name: "recovering, paused", in: `60s down berlin/a
		5m up berlin/a
		6m pause berlin
		7m explain berlin/a`},
	{name: "out in quarantine", cfg: quarantined, in: twice + `20m down berlin/a
		21m explain berlin/a`},
	{name: "recovering in quarantine", cfg: quarantined, in: twice + `20m explain berlin/a`},
	{name: "failing, held by the brake", cfg: braked, in: allFail + `5m explain berlin/a
		5m explain hamburg`},
	{name: "failing in a drill", in: `60s drill hamburg/a for=5m
		73s tick
		73s explain hamburg/a`},
	{name: "out in a drill", in: `60s drill hamburg/a for=5m
		2m explain hamburg/a
		2m down hamburg/a
		2m2s explain hamburg/a`},
	{name: "returning", in: `60s maintenance berlin/a
		60s down berlin/a
		2m maintenance_end berlin/a
		3m explain berlin/a`},
	{name: "maintenance", in: `60s maintenance berlin/a for=2h
		2m explain berlin/a
		2m down berlin/a
		3m explain berlin/a`},
	{name: "maintenance by a window", cfg: window("1 12 * * *", time.Hour, 0), in: `2m explain berlin/a`},
	{name: "disabled", in: `60s disable berlin/a
		2m explain berlin/a`},
	{name: "changed address", reload: []func(*Config){address(0, "10.1.0.99")}, in: `60s down 10.1.0.99
		60s reload 0
		70s explain berlin/a`},
	{name: "site seen", in: `10s explain site berlin`},
	{name: "site silent for a while", in: `60s down berlin
		70s tick
		70s explain site berlin`},
	{name: "site down", in: `60s down berlin
		2m explain site berlin`},
	{name: "site down, with a node that was taken before", in: `50s maintenance berlin/a
		60s down berlin
		2m explain site berlin`},
	{name: "site down, then a node is taken", in: `60s down berlin
		2m maintenance berlin/a
		3m explain site berlin
		4m disable berlin/b force
		4m explain site berlin`},
	{name: "site down, then all is taken", cfg: emergencies("berlin>hamburg"), in: `60s down berlin
		2m maintenance berlin
		3m explain site berlin
		3m explain berlin`},
	{name: "site down, and served by another before", cfg: emergencies("berlin>hamburg"), in: `60s down berlin/a
		60s down berlin/b
		2m down berlin
		3m explain site berlin`},
	{name: "site down, to be given up", cfg: after, in: `60s down berlin
		2m explain site berlin
		12m explain site berlin
		12m explain berlin/a`},
	{name: "site down, to be given up, without proof", cfg: several(after, func(c *Config) { c.Sites[1].Local = true }), in: `60s down berlin
		2m explain site berlin`},
	{name: "site down, to be given up, lost with another", cfg: several(third, after), in: `60s down berlin
		60s down munich
		2m explain site berlin`},
	{name: "site down, to be given up, after a start", cfg: after, in: `60s down berlin
		2m restart 10s
		3m explain site berlin`},
	{name: "site with a silent resolver", in: `60s down berlin resolver 10.1.0.1
		2m explain site berlin`},
	{name: "site after a start", in: `60s down berlin
		2m restart 10s
		2m12s explain site hamburg`},
	{name: "site down, nodes are the witnesses", cfg: func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].WitnessNodes = nil, true }, in: berlinDies + `2m explain site berlin`},
	{name: "site's witness silent, no resolver", cfg: func(c *Config) { c.Sites[0].Witnesses[0].Name = "icmp 10.1.0.1" }, in: `60s down berlin icmp 10.1.0.1
		2m explain site berlin
		3m down berlin/a
		3m down berlin/b
		4m explain site berlin
		5m up berlin/a
		6m explain site berlin`},
	{name: "controller isolated", in: `60s down berlin
		60s down hamburg
		2m explain site berlin`},
	{name: "no witness", cfg: func(c *Config) { c.Sites[0].Witnesses, c.Sites[0].NoWitness = nil, true }, in: `10s explain site berlin`},
	{name: "pool of its own", in: `10s explain berlin
		10s explain hamburg`},
	{name: "pool with one node out", in: `60s down hamburg/a
		2m explain hamburg`},
	{name: "pool by an emergency site", cfg: emergencies("berlin>hamburg"), in: `60s down berlin/a
		60s down berlin/b
		2m explain berlin
		2m down hamburg
		3m explain berlin`},
	{name: "pool with a last resort", in: `60s down berlin/a
		60s down berlin/b
		2m explain berlin`},
	{name: "pool with a last resort of nodes that are taken", in: `60s disable berlin/a
		60s maintenance berlin/b force
		61s explain berlin
		70s maintenance_end berlin/b
		80s maintenance berlin force
		81s enable berlin/a
		82s explain berlin
		90s disable berlin/a force
		90s disable berlin/b force
		91s explain berlin`},
	{name: "pool without records, all taken", cfg: onEmpty(OnEmptyRemove), in: `60s maintenance berlin force
		61s explain berlin`},
	{name: "pool that says sorry", cfg: onEmpty(OnEmptyAnswer, "192.0.2.10"), in: berlinDies + `2m explain berlin`},
	{name: "pool without records", cfg: onEmpty(OnEmptyRemove), in: berlinDies + `2m explain berlin`},
	{name: "pool switched", in: `60s switch hamburg b for=1h
		2m explain hamburg
		2m down hamburg/b
		3m explain hamburg`},
	{name: "pool paused", in: `60s pause berlin for=1h
		2m explain berlin`},
	{name: "pool with a change near", in: `60s down berlin/a
		80s explain berlin`},
	{name: "pool, restarted, not yet seen", in: `60s restart 10s
		70s explain berlin`},
}

// The sentences are what people act on when it matters: a wrong one costs an
// hour. (Run with -update and read the difference.)
func TestExplanations(t *testing.T) {
	var b strings.Builder
	for _, tt := range explained {
		d := newDriver(t, usual(tt.cfg))
		d.reloads = tt.reload
		d.play(tt.in)
		b.WriteString(tt.name + ":\n")
		for _, text := range d.seen {
			b.WriteString("    " + text + "\n")
		}
	}
	const name = "testdata/explanations.txt"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("explanations (-want +got):\n%s", diff)
	}
}
