package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
)

// thousands is a configuration of n nodes in sites of ten, with probes of
// their own behind an alias.
func thousands(n int) []byte {
	var b strings.Builder
	b.WriteString("x-probes: &probes [{type: tcp, port: 443}, {type: icmp}]\nsites:\n")
	for s := range n / 10 {
		fmt.Fprintf(&b, "- {name: s%d, resolver: 10.0.0.1, nodes: [", s)
		for i := range 10 {
			fmt.Fprintf(&b, "{name: n%d, addresses: [10.%d.%d.%d], probes: *probes}, ", i, 1+s>>8, s&255, 10+i)
		}
		b.WriteString("]}\n")
	}
	return []byte(b.String())
}

// If this fails, the largest installations that are meant to run cannot be
// written into one file.
func TestTenThousandNodes(t *testing.T) {
	cfg, err := config.Parse("x.yaml", thousands(10_000), fixed())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(cfg.Sites.Sites); got != 1000 {
		t.Errorf("%d sites", got)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := thousands(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := config.Parse("x.yaml", data, fixed()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// many is a configuration of so many sites with pools, services, targets and emergency
// sites of their own, and services that all of them have.
func many(places int) []byte {
	var b strings.Builder
	b.WriteString("dns: {listen: [\"127.0.0.1:5353\"], zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: [\"ns1 300 IN A 10.0.0.1\"]}]}\ntargets:\n")
	at := func(net, i int) string { return fmt.Sprintf("10.%d.%d.%d", net, i>>7, 1+i&127) }
	for i := range places {
		fmt.Fprintf(&b, "- {name: t%d, type: rfc2136, server: %q, zone: example.lan}\n", i, at(200, i))
	}
	b.WriteString("sites:\n")
	for i := range places {
		fmt.Fprintf(&b, "- {name: s%d, resolver: %s, emergency_site: s%d, targets: [builtin, t%d], nodes: [{name: a, addresses: [%s]}, {name: b, addresses: [%s]}], pools: [{name: p%d, nodes: [b, a]}]}\n",
			i, at(1, i), i^1, i, at(20, i), at(30, i), i)
	}
	b.WriteString("services:\n")
	for i := range places {
		fmt.Fprintf(&b, "- {hosts: [h%d.example.lan, \"*.w%d.example.lan\"], sites: [s%d], pool: p%d, ttl: %ds}\n", i, i, i, i, 20+i%9)
	}
	b.WriteString("- {hosts: [all.example.lan]}\n")
	return []byte(b.String())
}

// A check of a thousand sites with ten thousand services took five seconds once. If this
// fails, it takes far more than twice as long with twice the sites.
func TestCheckGrowsWithItsSize(t *testing.T) {
	cost := func(places int) float64 {
		data := many(places)
		return testing.AllocsPerRun(1, func() {
			cfg, err := config.Parse("x.yaml", data, fixed())
			if err != nil {
				t.Fatal(err)
			}
			if len(cfg.WorstCases()) < 100*places {
				t.Fatal("the sums are missing")
			}
			if _, err := config.Restore(cfg.Raw); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := cost(40), cost(320); many > 10*few {
		t.Errorf("%v allocations with 40 sites, %v with 320", few, many)
	}
}
