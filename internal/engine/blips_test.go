package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// healthy makes a world in which everything answers, by witnesses that can be
// cut off.
func healthy(c chooser, seed uint64, fail func(string, ...any)) (w *world, cut time.Duration) {
	cfg := drawConfig(c)
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		s.Windows, s.FailoverAfter = nil, 0
		if s.NoWitness {
			s.NoWitness = false
			s.Witnesses = []sites.Witness{{Name: "resolver 1", Addr: netip.AddrFrom4([4]byte{10, byte(i), 0, 1})}}
		}
		cut = max(cut, s.Timeout)
		for j := range s.Nodes {
			cut = max(cut, s.Nodes[j].Timeout)
		}
	}
	w = newWorld(cfg, seed, fail)
	w.ragged = c.pick("ragged", 2) == 1
	return w, 2 * cut
}

// P8, P9: a line that is cut for longer than two probe timeouts, a sleep and a
// restart, at whatever moment and however often, cost a user nothing: no node
// that is well is taken out, and no answer changes.
func TestHealthyNodesStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := uint64(rapid.IntRange(0, 1<<20).Draw(t, "seed"))
		w, cut := healthy(drawn{t}, seed, t.Fatalf)
		disturb(drawn{t}, w, cut, t.Fatalf)
	})
}

// The same from seeds, for more of them than rapid would make.
func TestHealthyNodesStayInManyWorlds(t *testing.T) {
	n := worlds(t, "DNSTEER_HEALTHY", 10)
	for seed := range n {
		fail := func(format string, args ...any) {
			t.Errorf("healthy world %d: "+format, append([]any{seed}, args...)...)
			panic(errStop)
		}
		guard(seed, func() {
			w, cut := healthy(roll(seed), seed, fail)
			disturb(roll(seed+1<<32), w, cut, fail)
		})
	}
}

// disturb cuts lines, sleeps and restarts for a while.
func disturb(c chooser, w *world, cut time.Duration, fail func(string, ...any)) {
	w.start(sites.Saved{})
	settled := c.pick("from the start", 3) == 0
	if settled {
		w.settle(fail)
	}
	w.watch.left = 0
	for range 1 + c.pick("cuts", 20) {
		w.until(w.now + pause(c)/2)
		switch among(c, "disturbance", 0, 0, 0, 0, 1, 2, 3) {
		case 1:
			w.say("restart")
			w.restart(among(c, "off", 0, time.Second, time.Minute))
		case 2:
			w.say("sleep")
			w.sleep(among(c, "sleep", 30*time.Second, 3*time.Second))
		case 3:
			w.suspect = !w.suspect
		default:
			w.cutFor(c, cut)
		}
		if w.watch.outages > 0 {
			fail("P8: a healthy node was taken out")
		}
	}
	w.ragged = false // two answers in a row that come late are told of too, where the threshold is short (N14)
	w.until(w.now + 2*time.Minute)
	if w.watch.outages > 0 || settled && w.watch.left > 0 {
		fail("P8: %d healthy nodes were taken out, and %d left an answer", w.watch.outages, w.watch.left)
	}
	for _, e := range w.watch.alerts.open {
		if e.Kind == sites.MovePutOff {
			continue // it may wait for longer
		}
		fail("nothing is wrong any more, and %s %s has not ended", e.Kind, e.Subject())
	}
}

// settle waits for a minute in which nothing is told and no move is put off: a
// node that came first serves until the guard lets it go, and each probe of the
// node to follow that comes late has the guard begin anew.
func (w *world) settle(fail func(string, ...any)) {
	w.until(w.now + 30*time.Second)
	for range 60 {
		told := w.watch.told
		w.until(w.now + time.Minute)
		if told == w.watch.told && !w.watch.putOff() {
			return
		}
	}
	fail("everything answers, and there was no minute of an hour in which nothing happened")
}

// putOff says whether the guard puts off a move.
func (x *watch) putOff() bool {
	for _, e := range x.alerts.open {
		if e.Kind == sites.MovePutOff {
			return true
		}
	}
	return false
}

// cutFor cuts a site, all sites or one line for longer than two probe timeouts.
func (w *world) cutFor(c chooser, least time.Duration) {
	s := &w.cfg.Sites[c.pick("site", len(w.cfg.Sites))]
	d := least + time.Millisecond + among(c, "longer", 0, time.Second, 20*time.Second, 2*time.Minute) + time.Duration(c.pick("and", 1000))*time.Millisecond
	var cut []string
	switch among(c, "cut", 0, 1, 2, 3) {
	case 0:
		cut = []string{s.Name}
	case 1:
		for i := range w.cfg.Sites {
			cut = append(cut, w.cfg.Sites[i].Name)
		}
	case 2:
		cut = []string{s.Name + " IPv4"}
	case 3:
		cut = []string{s.Name + " IPv6"}
	}
	for _, name := range cut {
		w.cut[name] = true
	}
	w.say("cut %v for %s", cut, d)
	w.until(w.now + d)
	for _, name := range cut {
		w.cut[name] = false
	}
	w.say("heal %v", cut)
}

// P8: short blips of the line, of 0.3 to 10 s at random moments, take a healthy
// node out in fewer than one of ten thousand ten-minute runs. DNSTEER_BLIPS
// says how many runs are made.
func TestBlips(t *testing.T) {
	runs := worlds(t, "DNSTEER_BLIPS", 150)
	out, cuts := 0, 0
	for seed := range runs {
		n, k := blips(seed, 30*time.Second)
		out, cuts = out+n, cuts+k
	}
	t.Logf("%d healthy nodes taken out in %d ten-minute runs with %d cuts of 0.3 to 10 s", out, runs, cuts)
	if limit := int(runs / 10_000); out > limit {
		t.Errorf("%d healthy nodes were taken out in %d runs", out, runs)
	}
}

// blips plays ten minutes of two sites with the default settings while lines
// are cut at random.
func blips(seed uint64, threshold time.Duration) (out, cuts int) {
	r := rand.New(rand.NewPCG(seed, 2))
	cfg := usual(2, 2, 0)
	for i := range cfg.Sites {
		for j := range cfg.Sites[i].Nodes {
			cfg.Sites[i].Nodes[j].Threshold = threshold
		}
	}
	w := newWorld(cfg, seed, nil)
	w.hear = func(t engine.Turn) {
		for i := range t.Events {
			if t.Events[i].Kind == sites.FailoverOutage {
				out++
			}
		}
	}
	w.start(sites.Saved{})
	end := w.now + 10*time.Minute
	w.until(w.now + 10*time.Second)
	for w.now < end {
		w.until(w.now + time.Duration(r.Int64N(int64(20*time.Second))))
		var cut []string
		if r.IntN(2) == 0 {
			cut = []string{"s0", "s1"}
		} else {
			cut = []string{cfg.Sites[r.IntN(2)].Name}
		}
		for _, name := range cut {
			w.cut[name] = true
		}
		cuts++
		w.until(w.now + 300*time.Millisecond + time.Duration(r.Int64N(int64(9700*time.Millisecond))))
		clear(w.cut)
	}
	w.until(w.now + time.Minute)
	return out, cuts
}

// worlds is how many worlds are made: more by an environment variable.
func worlds(t *testing.T, variable string, n uint64) uint64 {
	if many := os.Getenv(variable); many != "" {
		var err error
		if n, err = strconv.ParseUint(many, 10, 64); err != nil {
			t.Fatal(variable, err)
		}
	}
	return n
}

// errStop ends a world in which something was wrong.
var errStop = errors.New("stop")

// guard goes on with the next world after one that has failed.
func guard(seed uint64, f func()) {
	defer func() {
		if r := recover(); r != nil && r != errStop {
			panic(fmt.Sprintf("world %d: %v", seed, r))
		}
	}()
	f()
}
