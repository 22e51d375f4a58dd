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
