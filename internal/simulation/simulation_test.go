// Package simulation plays whole days of a faulty world against the real
// controller, in virtual time: internal/app with its rules, schedule, loop,
// publishing, alerts and store, between simulated nodes, lines, resolvers,
// targets, disks, clocks, operators and people. All that happens comes from a
// seed. A ledger that shares no code with the controller holds what was decided,
// published, stored and told against the world's truth and against P1 to P10.
//
// A run replays: each probe, call and act has a moment of its own, derived from
// the seed, so what the goroutines do at one moment does not depend on their
// order. What remains free is the order within one moment, of two targets that
// are compared by the clock say, and the jitter of the alerts' tries.
package simulation

import (
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// number reads a number from the environment.
func number(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// If this fails, there is a day on which somebody is sent to a dead node, loses
// an answer, or is not told. The script that it leaves is the shortest found.
//
// DNSTEER_DAYS is how many days are played, DNSTEER_SEED the first seed.
func TestDays(t *testing.T) {
	days, first := number(t, "DNSTEER_DAYS", usualDays), number(t, "DNSTEER_SEED", 1)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a day leaves much behind and holds little
	var next, lives, turns, moves, outages, commits, messages atomic.Int64
	t.Run("days", func(t *testing.T) {
		for worker := range 2 {
			t.Run(strconv.Itoa(worker), func(t *testing.T) {
				t.Parallel()
				for {
					n := int(next.Add(1)) - 1
					if n >= days || t.Failed() {
						return
					}
					p := newPlan(uint64(first + n))
					out := play(t, p)
					if len(out.faults) > 0 {
						report(t, p, &out)
					}
					lives.Add(int64(out.lives))
					turns.Add(int64(out.turns))
					moves.Add(int64(out.moves))
					outages.Add(int64(out.outages))
					commits.Add(int64(out.commits))
					messages.Add(int64(out.messages))
				}
			})
		}
	})
	t.Logf("%d days, %d starts, %d turns, %d moves of answers, %d outages, %d commits, %d messages",
		days, lives.Load(), turns.Load(), moves.Load(), outages.Load(), commits.Load(), messages.Load())
}

// report shrinks the plan of a run that failed, and tells of it.
func report(t *testing.T, p *plan, out *outcome) {
	t.Helper()
	short, end := shrink(p, *out, number(t, "DNSTEER_SHRINK", 60), func(p *plan) outcome { return play(t, p) })
	var script strings.Builder
	for _, a := range short.script {
		fmt.Fprintln(&script, a)
	}
	t.Errorf("seed %d (DNSTEER_SEED=%d DNSTEER_DAYS=1 plays it again): %s\n\nthe shortest script that fails, of %d acts %d:\n%s\n%s\n\nits end:\n%s",
		p.seed, p.seed, out.faults[0], len(p.script), len(short.script), script.String(), end.faults[0], end.tail(50))
}

// shrink leaves acts out of a script as long as it still fails: halves first,
// then quarters, down to single ones, in so many runs at most.
func shrink(p *plan, out outcome, most int, play func(*plan) outcome) (*plan, outcome) {
	runs := 0
	for size := (len(p.script) + 1) / 2; size > 0; {
		left := false
		for at := 0; at < len(p.script) && runs < most; {
			less := *p
			less.script = slices.Delete(slices.Clone(p.script), at, min(at+size, len(p.script)))
			runs++
			if o := play(&less); len(o.faults) > 0 {
				p, out, left = &less, o, true
			} else {
				at += size
			}
		}
		if size == 1 && !left || runs >= most {
			break
		}
		size = max(size/2, 1)
	}
	return p, out
}

// A failing day would be shown with hundreds of acts that have nothing to do
// with it, or shrunk to one that does not fail.
func TestShrink(t *testing.T) {
	p := &plan{}
	for i := range 100 {
		p.script = append(p.script, act{node: i})
	}
	fails := func(p *plan) (out outcome) {
		has := func(n int) bool { return slices.ContainsFunc(p.script, func(a act) bool { return a.node == n }) }
		if has(17) && has(71) {
			out.faults = []string{"17 and 71"}
		}
		return out
	}
	short, out := shrink(p, fails(p), 100, fails)
	if len(short.script) > 4 || len(out.faults) != 1 || len(fails(short).faults) == 0 {
		t.Errorf("%d acts are left: %v, %v", len(short.script), short.script, out.faults)
	}
}

// A seed that fails would be a riddle: played again, something else would happen.
func TestSeedsReplay(t *testing.T) {
	for seed := range uint64(number(t, "DNSTEER_REPLAYS", usualReplays)) {
		p := newPlan(100 + seed)
		first, second := play(t, p), play(t, newPlan(100+seed))
		if d := cmp.Diff(first.decisions(), second.decisions()); d != "" {
			t.Errorf("seed %d decides otherwise when it is played again:\n%s", p.seed, d)
		}
	}
}

// free is what chance outside of the seed may move: how alerts are tried again,
// the number that an event has then, and which of two calls to a target at one
// moment comes first.
var free = regexp.MustCompile(` (message|target) | alert_(failed|recovered) `)

// eventNumber is that of an event in the transcript.
var eventNumber = regexp.MustCompile(`event \d+ `)

// decisions are the lines of the transcript that a run must give again.
func (o *outcome) decisions() (list []string) {
	for _, line := range o.lines {
		if !free.MatchString(line) {
			list = append(list, eventNumber.ReplaceAllString(line, "event "))
		}
	}
	return list
}
