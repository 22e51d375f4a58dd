package engine_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/dnsteer/dnsteer/internal/engine"
)

// P7: were the same inputs to give other outputs, a rehearsal would not tell
// what the controller does.
func TestSameInputsSameOutputs(t *testing.T) {
	for seed := range uint64(2) {
		var first string
		for range 2 {
			sum := fnv.New128a()
			enc := json.NewEncoder(sum)
			c := roll(seed + 5000)
			w := newWorld(drawConfig(c), seed, t.Errorf)
			w.watch.every = 64
			w.hear = func(turn engine.Turn) {
				if err := enc.Encode(turn); err != nil {
					t.Fatal(err)
				}
			}
			live(c, w)
			if err := enc.Encode(w.saved()); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%x", sum.Sum(nil)); first == "" {
				first = got
			} else if got != first {
				t.Errorf("world %d: the same inputs gave other outputs", seed+5000)
			}
		}
	}
}
