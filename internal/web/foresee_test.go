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

// Where a pause holds a move back, clients get a node that does not answer: among many
// sites in trouble that one would have no place on the first page.
func TestAHeldMoveComesFirst(t *testing.T) {
	h := pagesOf(t, hostile(1))
	st := &api.Status{}
	for range maxCards {
		st.Sites = append(st.Sites, sites.SiteView{Name: "a", Pools: []sites.PoolView{{Name: sites.DefaultPool, Serves: "emergency:b"}}})
	}
	st.Sites = append(st.Sites, sites.SiteView{Name: "held", Pools: []sites.PoolView{{Name: sites.DefaultPool, Serves: "own", Paused: &sites.Hold{}, Held: true}}})
	cards, _ := h.cards(&visit{caller: &api.Caller{}}, st)
	if cards[0].Name != "held" {
		t.Errorf("%s comes first", cards[0].Name)
	}
}
