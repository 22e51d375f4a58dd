package dnsserver

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/sites"
)

// policyServer has app.example.lan answered in berlin by a policy.
func policyServer(t testing.TB, policy sites.Policy, nodes ...string) *Server {
	t.Helper()
	s := newServer(t, lanConfig(t))
	s.SetAnswer("berlin", "default", byNode(policy, nodes...))
	return s
}

// If this fails, nodes get another share of the clients than their weights say,
// or clients get half of a node's addresses, or those of two.
func TestWeighted(t *testing.T) {
	tests := []struct {
		name  string
		nodes []string
		qtype uint16
		want  map[string]float64 // shares of whole answers
	}{
		{"in proportion", []string{"a 3 10.1.0.1 10.1.0.2", "b 1 10.1.0.3"}, dns.TypeA, map[string]float64{"10.1.0.1 10.1.0.2": 0.75, "10.1.0.3": 0.25}},
		{"alone", []string{"a 3 10.1.0.1"}, dns.TypeA, map[string]float64{"10.1.0.1": 1}},
		{"without weight while another has one", []string{"a 0 10.1.0.1", "b 1 10.1.0.2", "c 1 10.1.0.3"}, dns.TypeA, map[string]float64{"10.1.0.2": 0.5, "10.1.0.3": 0.5}},
		{"none has weight", []string{"a 0 10.1.0.1", "b 0 10.1.0.2"}, dns.TypeA, map[string]float64{"10.1.0.1": 0.5, "10.1.0.2": 0.5}},
		{"others have no such address", []string{"a 5 10.1.0.1", "b 0 10.1.0.2 fd00::2", "c 0 fd00::3"}, dns.TypeAAAA, map[string]float64{"fd00::2": 0.5, "fd00::3": 0.5}},
		{"large weights", []string{fmt.Sprint("a ", math.MaxInt32, " 10.1.0.1"), fmt.Sprint("b ", math.MaxInt32, " 10.1.0.2")}, dns.TypeA, map[string]float64{"10.1.0.1": 0.5, "10.1.0.2": 0.5}},
	}
	const asked = 20_000
	for i := range 2 * len(tests) {
		tt, policy := tests[i/2], [...]sites.Policy{sites.PolicyWeighted, sites.PolicyLeastLoad}[i%2]
		t.Run(tt.name+" "+policy.String(), func(t *testing.T) {
			s := policyServer(t, policy, tt.nodes...)
			got := map[string]int{}
			for range asked {
				list := addressesOf(exchange(t, s, "10.1.0.1", ask("app.example.lan.", tt.qtype), false))
				slices.Sort(list)
				got[strings.Join(list, " ")]++
			}
			if len(got) != len(tt.want) {
				t.Errorf("answers %v, want those of %v", got, tt.want)
			}
			for a, want := range tt.want {
				if share := float64(got[a]) / asked; math.Abs(share-want) > 0.02 {
					t.Errorf("%s: %.3f of the answers, want %.3f", a, share, want)
				}
			}
		})
	}
}

// If this fails, a pool in which no node has an address of a family fails, in
// place of saying that there is none.
func TestPolicyWithoutFamily(t *testing.T) {
	for _, p := range []sites.Policy{sites.PolicyWeighted, sites.PolicyIPHash, sites.PolicyLeastLoad} {
		s := policyServer(t, p, "a 1 10.1.0.1", "b 1 10.1.0.2")
		if m := exchange(t, s, "10.1.0.1", ask("app.example.lan.", dns.TypeAAAA), false); m.Rcode != 0 || len(m.Answer) != 0 || len(m.Ns) != 1 {
			t.Errorf("%s: %v", p, m)
		}
	}
}

// If this fails, answers of a node with many addresses outgrow a packet, or show
// the same ones only; or explanations show a part of what a pool gives.
func TestPolicyWithManyAddresses(t *testing.T) {
	node := "a 1"
	for i := range 11 {
		node += fmt.Sprintf(" 10.1.1.%d", i)
	}
	for _, p := range []sites.Policy{sites.PolicyWeighted, sites.PolicyIPHash} {
		s := policyServer(t, p, node, "b 0 10.1.2.1")
		seen := map[string]bool{}
		for range 100 {
			got := addressesOf(exchange(t, s, "10.1.0.1", ask("app.example.lan.", dns.TypeA), false))
			if len(got) != maxAddresses {
				t.Fatalf("%s: %d addresses in an answer", p, len(got))
			}
			for _, a := range got {
				seen[a] = true
			}
		}
		if len(seen) != 11 {
			t.Errorf("%s: %d addresses seen, want 11", p, len(seen))
		}
		if got := s.Lookup("berlin", "app.example.lan", dns.TypeA).Addresses; len(got) != 12 {
			t.Errorf("%s: Lookup gives %d addresses, want all 12", p, len(got))
		}
	}
}

// choices gives the node that each of n client networks gets, by its first
// address.
func choices(a sites.Answer, n int) []netip.Addr {
	b := newBody(a)
	out := make([]netip.Addr, n)
	for i := range out {
		out[i] = b.v4.give(clientOf(i), uint32(i)).list[0]
	}
	return out
}

// clientOf gives a client of the i-th network, of both families in turn.
func clientOf(i int) netip.Addr {
	if i%2 == 0 {
		return netip.AddrFrom4([4]byte{10, byte(i >> 9), byte(i >> 1), byte(i * 7)})
	}
	return netip.AddrFrom16([16]byte{0xfd, 4: byte(i >> 9), 5: byte(i >> 1), 7: byte(i), 15: byte(i * 7)})
}

// If this fails, a node that leaves or comes also moves clients between the
// others, whose sessions break.
func TestIPHashMovesOnlyClientsOfTheLeaver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}[0-9]?`), 2, 12, rapid.ID[string]).Draw(t, "names")
		most := rapid.SampledFrom([]int{1, 1, 5}).Draw(t, "heaviest")
		var nodes []string
		for i, n := range names {
			nodes = append(nodes, fmt.Sprintf("%s %d 10.9.0.%d", n, rapid.IntRange(1, most).Draw(t, "weight"), i))
		}
		leaver := rapid.IntRange(0, len(nodes)-1).Draw(t, "leaver")
		gone := netip.AddrFrom4([4]byte{10, 9, 0, byte(leaver)})
		before := choices(byNode(sites.PolicyIPHash, nodes...), 500)
		after := choices(byNode(sites.PolicyIPHash, slices.Delete(slices.Clone(nodes), leaver, leaver+1)...), 500)
		for i := range before {
			if moved := before[i] != after[i]; moved != (before[i] == gone) {
				t.Fatalf("without %s client %s goes from %s to %s", nodes[leaver], clientOf(i), before[i], after[i])
			}
		}
	})
}

// If this fails, one node gets more of the clients than its weight says.
func TestIPHashSpreads(t *testing.T) {
	tests := []struct {
		name    string
		weights []int
	}{
		{"two", []int{1, 1}},
		{"three", []int{1, 1, 1}},
		{"ten", []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"by weight", []int{3, 1, 2}},
		{"one without weight", []int{2, 0, 2}},
		{"all without weight", []int{0, 0, 0}},
	}
	const clients = 60_000
	for _, tt := range tests {
		var nodes []string
		sum := 0
		for i, w := range tt.weights {
			nodes = append(nodes, fmt.Sprintf("node%d %d 10.9.0.%d", i, w, i))
			sum += w
		}
		got := map[netip.Addr]int{}
		for _, a := range choices(byNode(sites.PolicyIPHash, nodes...), clients) {
			got[a]++
		}
		for i, w := range tt.weights {
			want := float64(w) / float64(max(1, sum))
			if sum == 0 {
				want = 1 / float64(len(tt.weights))
			}
			share := float64(got[netip.AddrFrom4([4]byte{10, 9, 0, byte(i)})]) / clients
			if math.Abs(share-want) > 0.03*max(want, 0.2) {
				t.Errorf("%s: node %d has %.3f of the clients, want %.3f", tt.name, i, share, want)
			}
		}
	}
}

// If this fails, clients change their node with the socket that takes their
// query, with a restart, or with an update of this program.
func TestIPHashKeepsClients(t *testing.T) {
	nodes := []string{"alpha 1 10.1.0.11 fd00:1::11", "beta 1 10.1.0.12 fd00:1::12", "gamma 1 10.1.0.13 fd00:1::13"}
	tests := []struct {
		name string
		from []string // of one network
		want string   // as always
	}{
		{"IPv4", []string{"10.1.7.1", "10.1.7.254", "::ffff:10.1.7.9"}, "13"},
		{"another network", []string{"10.1.9.1"}, "11"},
		{"IPv6", []string{"fd00:1:0:1000::1", "fd00:1:0:10ff::ffff"}, "12"},
	}
	for _, tt := range tests {
		for range 2 { // servers
			s := policyServer(t, sites.PolicyIPHash, nodes...)
			for _, from := range tt.from {
				for range 3 {
					for qtype, prefix := range map[uint16]string{dns.TypeA: "10.1.0.", dns.TypeAAAA: "fd00:1::"} {
						got := addressesOf(exchange(t, s, from, ask("app.example.lan.", qtype), false))
						if d := cmp.Diff([]string{prefix + tt.want}, got); d != "" {
							t.Errorf("%s from %s: -want +got\n%s", tt.name, from, d)
						}
					}
				}
			}
		}
	}
}

// If this fails, a change of weights or of the policy alone is not carried out
// until the addresses change too.
func TestPolicyChanges(t *testing.T) {
	s := policyServer(t, sites.PolicyWeighted, "a 1 10.1.0.1", "b 0 10.1.0.2")
	got := func() string {
		return strings.Join(addressesOf(exchange(t, s, "10.1.0.1", ask("app.example.lan.", dns.TypeA), false)), " ")
	}
	if a := got(); a != "10.1.0.1" {
		t.Errorf("got %s", a)
	}
	serial := s.Serials()["example.lan"]
	next := byNode(sites.PolicyWeighted, "a 0 10.1.0.1", "b 1 10.1.0.2")
	s.SetAnswer("berlin", "default", next)
	next.Nodes[1].IPv4[0] = netip.MustParseAddr("10.1.0.99") // the caller's
	if a := got(); a != "10.1.0.2" {
		t.Errorf("after a change of weights %s", a)
	}
	if after := s.Serials()["example.lan"]; after != serial {
		t.Errorf("serial %d, was %d: the same records", after, serial)
	}
}
