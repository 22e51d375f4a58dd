package sites_test

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// explorer plays every sequence of outcomes in a small world: one site with two
// nodes and one witness. Whatever the order in which things fail and come back,
// nobody may be left without an answer, and no node be taken out without a
// witness before and after.
type explorer struct {
	t              *testing.T
	cfg            *sites.Config
	subjects       []sites.Subject // witness, a, b
	seen           map[string]bool
	played, handed int
}

// path is how a state was reached, as far as the evidence needs it.
type path struct {
	m       *sites.Machine
	now     time.Duration
	results []outcome // in order
}

type outcome struct {
	subject int
	start   time.Duration
	up      bool
}

const beat = 5 * time.Second

// Whatever order outcomes come in, a node must not leave DNS without a whole
// round, nor a pool be left without an answer: a sequence that nobody thought of
// would be somebody's outage.
func TestEverySequenceOfOutcomes(t *testing.T) {
	for _, mode := range []sites.Mode{sites.ActiveActive, sites.ActivePassive} {
		for _, threshold := range []time.Duration{0, beat, 2 * beat} {
			name := fmt.Sprintf("%s threshold %s", mode, threshold)
			t.Run(name, func(t *testing.T) {
				x := newExplorer(t, mode, threshold)
				x.explore(nil, exploreDepth(t))
				t.Logf("%d sequences of rounds, %d results; %d states as people see them", x.played, x.handed, len(x.seen))
			})
		}
	}
}

// exploreDepth is how many rounds follow each other: every one more takes
// sixteen times as long.
func exploreDepth(t *testing.T) int {
	text := os.Getenv("DNSTEER_EXPLORE")
	if text == "" {
		return 3
	}
	depth, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal("DNSTEER_EXPLORE:", err)
	}
	return depth
}

func newExplorer(t *testing.T, mode sites.Mode, threshold time.Duration) *explorer {
	node := func(name string, last byte) sites.Node {
		return sites.Node{
			Name: name, Addresses: []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, last})},
			Threshold: threshold, Grace: beat, Rise: 2, Interval: beat, Timeout: time.Second,
			Probes: []sites.Probe{{Name: "tcp", Key: "tcp", Steer: true}}, Failover: true,
		}
	}
	s := sites.Site{
		Name: "s", Nodes: []sites.Node{node("a", 11), node("b", 12)},
		Pools:     []sites.Pool{{Name: sites.DefaultPool, Nodes: []int{0, 1}, Mode: mode}},
		Witnesses: []sites.Witness{{Name: "w", Addr: netip.AddrFrom4([4]byte{10, 0, 0, 1})}},
		Threshold: beat, Interval: beat, Timeout: time.Second, TTL: 30 * time.Second, TTLUnsettled: 5 * time.Second,
	}
	x := &explorer{t: t, cfg: &sites.Config{Sites: []sites.Site{s}}, seen: map[string]bool{}}
	x.subjects = []sites.Subject{
		{Site: "s", Witness: "w", Addr: s.Witnesses[0].Addr},
		{Site: "s", Node: "a", Addr: s.Nodes[0].Addresses[0]},
		{Site: "s", Node: "b", Addr: s.Nodes[1].Addresses[0]},
	}
	return x
}

// explore plays all sequences of so many rounds. In a round the witness, a and
// b are each asked once in the schedule, and once more where the rules ask;
// each answer is free: 2^3 for the scheduled, and what the rules ask for is
// answered once as the schedule was and once the other way round.
func (x *explorer) explore(rounds []byte, depth int) {
	if len(rounds) == depth {
		x.play(rounds)
		return
	}
	for o := range byte(16) {
		x.explore(append(rounds[:len(rounds):len(rounds)], o), depth)
	}
}

// play plays one sequence from the start.
func (x *explorer) play(rounds []byte) {
	x.played++
	p := &path{now: time.Hour}
	p.m = sites.New(p.instant(), x.cfg, sites.Saved{})
	x.round(p, 0b111, false)
	x.round(p, 0b111, false)
	for _, o := range rounds {
		x.round(p, o&0b111, o&0b1000 != 0)
	}
}

func (p *path) instant() sites.Instant {
	return sites.Instant{Boot: p.now, Wall: time.Unix(1_800_000_000, 0).UTC().Add(p.now)}
}

// round is one beat: the three subjects answer as the bits say; what the rules
// ask for answers likewise, or otherwise.
func (x *explorer) round(p *path, up byte, otherwise bool) {
	for i := range x.subjects {
		p.now += beat / 3
		ask := x.hand(p, i, up>>i&1 == 1)
		for again := 0; len(ask) > 0 && again < 4; again++ {
			var next []sites.Subject
			for _, s := range ask {
				for j := range x.subjects {
					if x.subjects[j] == s {
						p.now += 10 * time.Millisecond
						next = append(next, x.hand(p, j, (up>>j&1 == 1) != otherwise)...)
					}
				}
			}
			ask = next
		}
	}
}

// hand hands in one result, holds what follows against the rules, and gives
// what is to be asked.
func (x *explorer) hand(p *path, i int, up bool) []sites.Subject {
	o := sites.Down
	if up {
		o = sites.Up
	}
	r := sites.Result{Subject: x.subjects[i], Start: p.now - 5*time.Millisecond, Finish: p.now, Checks: []sites.Check{{Outcome: o}}}
	before := x.words(p)
	fx := p.m.Step(p.instant(), sites.Input{Results: []sites.Result{r}})
	x.handed++
	p.results = append(p.results, outcome{i, r.Start, up})
	after := x.words(p)
	for k := range after {
		if after[k] == sites.WordOut && before[k] != sites.WordOut && before[k] != sites.WordRecovering && !p.proven(k+1) {
			x.t.Fatalf("node %d went from %s to out without a whole round: %v", k, before[k], p.results)
		}
	}
	a := p.m.Answer(sites.PoolID{})
	if len(a.IPv4) == 0 {
		x.t.Fatalf("the answer is empty after %v", p.results)
	}
	x.seen[x.state(p, a)] = true
	return append([]sites.Subject(nil), fx.Probe...)
}

func (x *explorer) words(p *path) (w [2]sites.Word) {
	w[0], _ = p.m.NodeWord("s/a")
	w[1], _ = p.m.NodeWord("s/b")
	return w
}

// proven says whether the results so far end with witness up, node down,
// witness up, and the node failed twice in a row.
func (p *path) proven(node int) bool {
	last, row := -1, 0
	for i, r := range slices.Backward(p.results) {

		if r.subject != node {
			continue
		}
		if r.up {
			break
		}
		row++
		last = max(last, i)
	}
	if row < 2 {
		return false
	}
	for n := last; n >= 0; n-- {
		if r := p.results[n]; r.subject == node && !r.up && p.witness(n+1, len(p.results)) && p.witness(0, n) {
			return true
		}
	}
	return false
}

// witness says whether the witness has answered among some results.
func (p *path) witness(from, to int) bool {
	for _, r := range p.results[from:to] {
		if r.subject == 0 && r.up {
			return true
		}
	}
	return false
}

// state names what people see of a machine.
func (x *explorer) state(p *path, a sites.Answer) string {
	var b strings.Builder
	w := x.words(p)
	fmt.Fprint(&b, w, p.m.SiteWord("s"), a.IPv4, a.String())
	return b.String()
}
