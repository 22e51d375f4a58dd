package app

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, probes take the files that DNS and the store need, nodes that
// answer are unknown for want of files and nobody says why, or an installation
// that has enough of them is warned.
func TestCapacityOf(t *testing.T) {
	node := sites.Node{
		Addresses: []netip.Addr{netip.MustParseAddr("10.1.0.11"), netip.MustParseAddr("10.1.0.12"), netip.MustParseAddr("fd00:1::11")},
		Probes:    make([]sites.Probe, 1), Interval: 10 * time.Second, Timeout: 500 * time.Millisecond,
	}
	of := func(nodes int) *sites.Config {
		s := sites.Site{Witnesses: make([]sites.Witness, 1), Interval: 10 * time.Second, Timeout: 500 * time.Millisecond}
		for range nodes {
			s.Nodes = append(s.Nodes, node)
		}
		return &sites.Config{Sites: []sites.Site{s}}
	}
	const short = "At worst 1096 probes are under way at once, and this process may have 1024 files open, of which 256 are kept for the rest: " +
		"where that is not enough, probes end as unknown (local_busy). Let it open 1352 files (LimitNOFILE= of its service, or ulimit -n), or probe less often."
	tests := []struct {
		name  string
		nodes int
		files int
		want  capacity
	}{
		{"two lines each", 500, noBound, capacity{probes: 1096}},
		{"just enough", 500, 1096 + 256, capacity{probes: 1096}},
		{"too few", 500, 1024, capacity{768, short}},
		{"few, and enough", 5, 64, capacity{probes: 14}},
		{"no node", 0, 8, capacity{probes: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, capacityOf(of(tt.nodes), tt.files), cmp.AllowUnexported(capacity{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	if openFiles() < 8 {
		t.Errorf("this process may have %d files open", openFiles())
	}
}
