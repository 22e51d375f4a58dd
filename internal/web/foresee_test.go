package web

import (
	"fmt"
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

// If this fails, what a command will change cannot be found among the addresses of a large
// site, or is behind those that are shown.
func TestForeseenOfALargePool(t *testing.T) {
	for _, tt := range []struct {
		nodes int
		node  string
		want  string
	}{
		{16, "n15", "berlin: 10.1.0.1, 10.1.0.2, 10.1.0.3, 10.1.0.4, 10.1.0.5, 10.1.0.6, 10.1.0.7, 10.1.0.8, 10.1.0.9, 10.1.0.10, 10.1.0.11, 10.1.0.12, 10.1.0.13, 10.1.0.14, 10.1.0.15, 10.1.0.16" +
			" → 10.1.0.1, 10.1.0.2, 10.1.0.3, 10.1.0.4, 10.1.0.5, 10.1.0.6, 10.1.0.7, 10.1.0.8, 10.1.0.9, 10.1.0.10, 10.1.0.11, 10.1.0.12, 10.1.0.13, 10.1.0.14, 10.1.0.15"},
		{200, "n150", "berlin: without 10.1.0.151; 199 others stay"},
		{200, "", "berlin: 10.1.0.1, 10.1.0.2, 10.1.0.3, 10.1.0.4, 10.1.0.5, 10.1.0.6, 10.1.0.7, 10.1.0.8, 10.1.0.9, 10.1.0.10, 10.1.0.11, 10.1.0.12, 10.1.0.13, 10.1.0.14, 10.1.0.15, 10.1.0.16 and 184 more" +
			" goes, and no other node of the site serves: its emergency site steps in, if it has one."},
	} {
		s := sites.SiteView{Name: "berlin", Pools: []sites.PoolView{{Name: sites.DefaultPool, Mode: "active_active"}}}
		for i := range tt.nodes {
			a := netip.AddrFrom4([4]byte{10, 1, 0, byte(i + 1)})
			s.Nodes = append(s.Nodes, sites.NodeView{Name: fmt.Sprintf("n%d", i), Answers: true, Addresses: []netip.Addr{a}})
			s.Pools[0].IPv4 = append(s.Pools[0].IPv4, a)
		}
		got := foreseen(&api.Status{Sites: []sites.SiteView{s}}, &sites.Command{Verb: sites.Maintenance, Site: "berlin", Node: tt.node})
		if !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%d nodes, %q: %q", tt.nodes, tt.node, got)
		}
	}
}

// If this fails, one large site in trouble hides on the first page what is wrong with all
// others.
func TestALargeSiteInTroubleHidesNoOther(t *testing.T) {
	st := &api.Status{}
	for i, nodes := range []int{2, maxRows + 1, 3, maxRows - 4, 1, 2} {
		s := sites.SiteView{Name: fmt.Sprintf("%d", i), Condition: sites.SiteIsUp, Nodes: make([]sites.NodeView, nodes), Pools: []sites.PoolView{{Name: sites.DefaultPool, Serves: "empty"}}}
		if i == 5 {
			s.Pools = nil // it is well
		}
		st.Sites = append(st.Sites, s)
	}
	cards, rest := pagesOf(t, &fake{}).cards(&visit{caller: &api.Caller{}}, st)
	var got []string
	for i := range cards {
		got = append(got, cards[i].Name)
	}
	got = append(got, "and")
	for i := range rest {
		got = append(got, rest[i].Name)
	}
	if want := []string{"0", "2", "4", "and", "1", "3", "5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
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
