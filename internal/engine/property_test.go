package engine_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/sites"
)

// A world in which this fails is one in which a healthy node was taken out, a
// dead one answered, an alert lost, or DNS left empty: whatever happens, the
// promises hold at every step.
func TestPropertiesHoldAtAllTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := uint64(rapid.IntRange(0, 1<<20).Draw(t, "seed"))
		w := newWorld(drawConfig(drawn{t}), seed, t.Fatalf)
		if os.Getenv("DNSTEER_TELL") != "" {
			w.tell = t.Logf
		}
		live(drawn{t}, w)
	})
}

// The same from seeds, for more worlds than rapid would make: DNSTEER_WORLDS
// says how many, from DNSTEER_FROM on; DNSTEER_WORLD is one that is told of in
// full.
func TestManyWorlds(t *testing.T) {
	from, n := worlds(t, "DNSTEER_FROM", 0), worlds(t, "DNSTEER_WORLDS", 10)
	one := os.Getenv("DNSTEER_WORLD") != ""
	if one {
		from, n = worlds(t, "DNSTEER_WORLD", 0), 1
	}
	for seed := from; seed < from+n; seed++ {
		guard(seed, func() {
			c := roll(seed)
			w := newWorld(drawConfig(c), seed, func(format string, args ...any) {
				t.Errorf("world %d: "+format, append([]any{seed}, args...)...)
				panic(errStop)
			})
			if one {
				w.tell = t.Logf
				t.Logf("%+v", w.cfg)
			}
			live(c, w)
		})
	}
}

// live lets a random world run its course, and come to rest.
func live(c chooser, w *world) {
	w.ragged = c.pick("ragged", 2) == 1
	w.start(sites.Saved{})
	for range c.pick("events", 25) {
		w.until(w.now + pause(c))
		w.happen(c)
	}
	w.until(w.now + pause(c))
	w.rest()
	w.mend()
}

// pause is the time between two things that happen.
func pause(c chooser) time.Duration {
	d := among(c, "pause", 10*time.Second, 300*time.Millisecond, 2*time.Second, 5*time.Second, 40*time.Second, 2*time.Minute)
	return d + time.Duration(c.pick("and", 1000))*time.Millisecond
}

// rest: with nobody acting and the world unchanged the machine comes to rest
// (P5).
func (w *world) rest() {
	for i := range w.cfg.Sites {
		if len(w.cfg.Sites[i].Windows) > 0 {
			return
		}
	}
	w.ragged = false
	w.until(w.now + 5*time.Minute)
	x := w.watch
	told, moves, stored, turns := x.told, x.moves, x.stored, w.turns
	count := w.count
	w.until(w.now + 2*time.Minute)
	if x.told != told || x.moves != moves || x.stored != stored {
		x.fail("P5: nothing has happened, and there were %d events, %d changes of answers and %d of what is stored", x.told-told, x.moves-moves, x.stored-stored)
	}
	if n, most := w.turns-turns, 3*int(w.count-count)+2*120+60; n > most {
		x.fail("%d turns in two quiet minutes with %d probes", n, w.count-count)
	}
}

// mend: when all is well again and nobody holds anything back, every pool is
// served by its own nodes, and every alert has ended.
func (w *world) mend() {
	clear(w.down)
	clear(w.unknown)
	clear(w.failing)
	clear(w.silent)
	clear(w.cut)
	w.suspect, w.ragged = false, false
	w.say("all is well again")
	for i := range w.cfg.Sites {
		s := &w.cfg.Sites[i]
		s.Windows = nil
	}
	w.reload(clone(w.cfg))
	for i := range w.cfg.Sites {
		s := &w.cfg.Sites[i]
		w.turn(&sites.Command{Verb: sites.MaintenanceEnd, Site: s.Name})
		w.turn(&sites.Command{Verb: sites.Enable, Site: s.Name})
		w.turn(&sites.Command{Verb: sites.Resume, Site: s.Name})
		w.turn(&sites.Command{Verb: sites.DrillEnd, Site: s.Name})
	}
	w.until(w.now + 5*time.Minute)
	for i := range w.cfg.Sites {
		w.turn(&sites.Command{Verb: sites.FailbackNow, Site: w.cfg.Sites[i].Name})
	}
	w.until(w.now + time.Minute)
	x := w.watch
	for i := range w.cfg.Sites {
		s := &w.cfg.Sites[i]
		if word := w.machine().SiteWord(s.Name); word != "up" {
			x.fail("all is well, and site %s is %s", s.Name, word)
		}
		for j := range s.Nodes {
			name := s.Name + "/" + s.Nodes[j].Name
			if word, _ := w.machine().NodeWord(name); word != sites.WordUp {
				x.fail("all is well, and %s is %s: %s", name, word, w.machine().ExplainNode(name))
			}
		}
		for j := range s.Pools {
			id := sites.PoolID{Site: i, Pool: j}
			a := w.machine().Answer(id)
			if a.Source != sites.Own || a.Horizon != sites.Forever {
				x.fail("all is well, and %s: %v", x.name(id), a)
			}
		}
	}
	for _, e := range x.alerts.open {
		switch s := w.site(e.Site); {
		case e.Site != "" && s == nil:
		case e.Node != "" && w.node(e.Site, e.Node) == nil:
		case e.Pool != "" && !slices.ContainsFunc(s.Pools, func(p sites.Pool) bool { return p.Name == e.Pool }):
		default:
			x.fail("all is well, and %s %s [%d] has not ended", e.Kind, e.Subject(), e.ID)
		}
	}
}
