package sites

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stir has each site looked at with the next result, whatever that is.
func stir(m *Machine) {
	for _, s := range m.sites {
		s.busy = true
	}
}

// A result that changes nothing is not looked at, and while all nodes fail most are
// such. If this fails, one of them would have changed something: a node leaves late, or
// never.
func TestQuietResultsChangeNothing(t *testing.T) {
	quiet := 0
	for seed := range uint64(20) {
		cfg := smallWorld(1+int(seed%2), 2-int(seed%2), Mode(seed/2%2))
		for i := range cfg.Sites {
			for j := range cfg.Sites[i].Nodes {
				cfg.Sites[i].Nodes[j].Threshold = 16 * worldBeat // several failures fit in
			}
		}
		x := newSpace(t, cfg, 1)
		p, r := x.start(), rand.New(rand.NewPCG(seed, 5))
		for range 60 {
			stirred, same := p.fork(), r.Uint64()
			ra, rb := rand.New(rand.NewPCG(same, 6)), rand.New(rand.NewPCG(same, 6))
			for range 30 {
				stir(stirred.m)
				x.struggle(stirred, ra)
				x.struggle(p, rb)
				quiet += quietLines(p.m)
			}
			a, b := stirred.fork(), p.fork()
			stir(a.m)
			stir(b.m)
			if !reflect.DeepEqual(x.saved(a.m), x.saved(b.m)) || x.key(a) != x.key(b) {
				t.Fatalf("seed %d: looked at with each result it becomes something else (-looked at +not):\n%s", seed, orElse(cmp.Diff(x.saved(a.m), x.saved(b.m), plainly()), "in what is not stored"))
			}
		}
	}
	if quiet < 1000 {
		t.Errorf("a line failed and waited only %d times", quiet)
	}
}

// plainly has addresses compared and written as people do.
func plainly() cmp.Option { return cmp.Transformer("address", netip.Addr.String) }

// struggle makes a move in a world whose nodes fail for long, and whose witnesses
// mostly answer.
func (x *space) struggle(p *spot, r *rand.Rand) {
	next := x.subjects[p.next]
	if len(p.pending) > 0 {
		next = p.pending[0]
	}
	switch {
	case next.Node == "" && r.IntN(10) > 0:
		x.move(p, Up, nil)
	default:
		x.draw(p, r, Up, Down, Down, Down, Down, Down, Down, Unknown)
	}
}

// quietLines counts the lines that fail and wait for their deadline alone.
func quietLines(m *Machine) (n int) {
	for _, s := range m.sites {
		for _, node := range s.nodes {
			for _, l := range node.lines {
				if l != nil && !s.busy && m.patient(l) {
					n++
				}
			}
		}
	}
	return n
}
