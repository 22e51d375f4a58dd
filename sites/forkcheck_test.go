package sites

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// draw makes a move by chance.
func (x *space) draw(p *spot, r *rand.Rand, outcomes ...Outcome) {
	if len(p.pending) == 0 && r.IntN(12) == 0 {
		x.move(p, None, &x.commands[r.IntN(len(x.commands))])
		return
	}
	x.move(p, outcomes[r.IntN(len(outcomes))], nil)
}

var (
	wild = []Outcome{Up, Up, Down, Down, Unknown}
	// calm comes back to where it was.
	calm = []Outcome{Up, Up, Up, Up, Up, Up, Up, Up, Up, Up, Up, Down}
)

// A fork that forgets something would have the exploration look at a machine that
// does not exist, and say that all is well.
func TestForkDoesTheSame(t *testing.T) {
	for seed := range uint64(20) {
		x := newSpace(t, smallWorld(1+int(seed%2), 2-int(seed%2), Mode(seed/2%2)), 1)
		p, r := x.start(), rand.New(rand.NewPCG(seed, 1))
		for range 100 {
			forked, same := p.fork(), r.Uint64()
			for range 6 {
				x.draw(forked, rand.New(rand.NewPCG(same, 2)), wild...)
			}
			for range 6 {
				x.draw(p, rand.New(rand.NewPCG(same, 2)), wild...)
			}
			if !reflect.DeepEqual(x.saved(p.m), x.saved(forked.m)) || x.key(p) != x.key(forked) {
				t.Fatalf("seed %d: a fork does something else", seed)
			}
		}
	}
}

// Two states that are taken for one and behave otherwise would leave the second
// unexplored.
func TestStatesOfOneKeyDoTheSame(t *testing.T) {
	met := 0
	for seed := range uint64(4) {
		x := newSpace(t, smallWorld(1+int(seed%2), 2-int(seed%2), Mode(seed/2%2)), 1)
		r := rand.New(rand.NewPCG(seed, 3))
		at := map[uint64]*spot{}
		for range 12 {
			p := x.start()
			for range 120 {
				x.draw(p, r, calm...)
				key := x.key(p)
				other := at[key]
				if other == nil {
					at[key] = p.fork()
					continue
				}
				if other.now == p.now {
					continue
				}
				met++
				a, b, same := p.fork(), other.fork(), r.Uint64()
				ra, rb := rand.New(rand.NewPCG(same, 4)), rand.New(rand.NewPCG(same, 4))
				for range 30 {
					x.draw(a, ra, wild...)
					x.draw(b, rb, wild...)
					if va, vb := x.look(a.m), x.look(b.m); !reflect.DeepEqual(va.words, vb.words) || !sameRecords(va.answers, vb.answers) {
						t.Fatalf("seed %d: two states of one key become %v and %v", seed, va, vb)
					}
				}
			}
		}
	}
	if met < 20 {
		t.Errorf("only %d pairs of one key were met at different times", met)
	}
}

func sameRecords(a, b []Answer) bool {
	for i := range a {
		if !a[i].SameRecords(b[i]) {
			return false
		}
	}
	return true
}
