package web

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// Who takes the only node of a pool out would be promised one that is not in it.
func TestForeseenOfAPoolOfSomeNodes(t *testing.T) {
	a, b := netip.MustParseAddr("10.1.0.11"), netip.MustParseAddr("10.1.0.12")
	st := &api.Status{Sites: []sites.SiteView{{
		Name:  "berlin",
		Nodes: []sites.NodeView{{Name: "a", Answers: true, Addresses: []netip.Addr{a}}, {Name: "b", Answers: true, Addresses: []netip.Addr{b}}},
		Pools: []sites.PoolView{{Name: sites.DefaultPool, Mode: "active_passive", IPv4: []netip.Addr{b}}, {Name: "mail", Mode: "active_passive", IPv4: []netip.Addr{b}}},
	}}}
	want := []string{"berlin: 10.1.0.12 → 10.1.0.11", "berlin/mail: 10.1.0.12 now; what comes after is up to what its probes find."}
	if got := foreseen(st, &sites.Command{Verb: sites.Maintenance, Site: "berlin", Node: "b"}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
