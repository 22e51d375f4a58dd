package simulation

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// outcome is what came of a run.
type outcome struct {
	faults, lines                []string
	lives, turns, moves, outages int
	commits, messages            int
}

// play runs a plan in a bubble of its own.
func play(t *testing.T, p *plan) (out outcome) {
	t.Helper()
	dir := folder(t)
	synctest.Test(t, func(*testing.T) {
		w := newWorld(p, dir)
		w.write(usual)
		w.start()
		if !w.failed() {
			w.follow()
		}
		if w.life.app != nil {
			w.end(false)
			w.heal() // what a shorter script has not ended
			time.Sleep(time.Minute)
		}
		g := w.ledger
		out = outcome{w.faults, w.lines, w.lives, g.turns, g.moves, g.outages, g.commits, len(w.people.seen)}
	})
	return out
}

// folder is one in memory where the system has such a place: what is tried here
// is not the disk.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "dnsteer-sim-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// follow carries the script out, until something does not hold.
func (w *world) follow() {
	for _, a := range w.plan.script {
		if d := a.at - w.since(); d > 0 {
			time.Sleep(d)
		}
		if w.failed() {
			return
		}
		w.say("--- %s", a)
		w.do(a)
	}
}

// do carries out one act.
func (w *world) do(a act) {
	until := w.since() + a.span
	pl := w.places[a.site]
	n := pl.nodes[a.node]
	set := func(at *time.Duration) {
		w.mu.Lock()
		*at = max(*at, until)
		w.mu.Unlock()
	}
	switch a.what {
	case nodeDies:
		w.mu.Lock()
		n.silent = a.chance%2 == 0
		w.mu.Unlock()
		set(&n.dead)
	case nodeLies:
		set(&n.lying)
	case nodeLoses:
		set(&n.lossy)
	case nodeSlows:
		set(&n.slow)
	case lineCut:
		set(&pl.cut)
	case allCut:
		set(&w.cut)
	case resolverMute:
		set(&pl.mute)
	case resolverLies:
		set(&pl.lying)
	case resolverStale:
		set(&pl.stale)
	case starved:
		set(&w.starved)
	case diskFails:
		set(&w.diskBad)
	case diskHangs:
		set(&w.diskStuck)
	case mailFails:
		w.mu.Lock()
		w.mailMode = a.chance
		w.mu.Unlock()
		set(&w.mailBad)
	case targetFails:
		if pl.device != nil {
			pl.device.fail(mode(a.chance%uint64(modeCount)), until)
		}
	case targetEdited:
		if pl.device != nil {
			pl.device.edit(a.chance)
		}
	default:
		w.happen(a)
	}
}

// happen is for what is no state of the world.
func (w *world) happen(a act) {
	switch a.what {
	case restarted, killed:
		w.end(a.what == killed)
		time.Sleep(a.span)
		w.start()
	case killedInPush:
		w.killInPush(a)
	case suspended:
		w.mu.Lock()
		w.slept += a.span
		w.mu.Unlock()
	case clockSet:
		w.mu.Lock()
		w.set = time.Duration(int64(a.chance%uint64(4*time.Hour))) - 2*time.Hour
		if a.chance%3 == 0 {
			w.suspect = time.Since(w.began) + a.span
		}
		w.mu.Unlock()
	case commanded:
		w.operate(a)
	case reloaded:
		w.reload(variant(a.chance % uint64(variants)))
	case calm:
		w.calm(a.chance)
	default:
		panic(fmt.Sprintf("%q is not carried out", a.what))
	}
}

// killInPush has a node fail until it is out and its site's target is written to,
// and kills the controller at that moment.
func (w *world) killInPush(a act) {
	if w.places[a.site].device == nil {
		return
	}
	select {
	case <-w.written: // of earlier
	default:
	}
	w.mu.Lock()
	n := w.places[a.site].nodes[a.node]
	n.dead = time.Since(w.began) + w.plan.decideTime()
	w.mu.Unlock()
	select {
	case <-w.written:
	case <-time.After(w.plan.decideTime()):
	}
	w.end(true)
	time.Sleep(a.span)
	w.start()
}

// operate gives a command of an operator.
func (w *world) operate(a act) {
	c := sites.Command{Site: siteName(a.site), Node: nodeName(a.node)}
	verbs := []sites.Verb{
		sites.Maintenance, sites.Maintenance, sites.MaintenanceEnd, sites.Disable, sites.Disable, sites.Enable, sites.FailbackNow,
		sites.Pause, sites.Resume, sites.Switch, sites.Drill, sites.DrillEnd, sites.Release,
	}
	c.Verb = verbs[a.chance%uint64(len(verbs))]
	switch c.Verb {
	case sites.Maintenance, sites.Disable, sites.Pause, sites.Switch, sites.Drill:
		if a.chance>>16%2 == 0 || c.Verb == sites.Drill {
			c.For = max(a.span, time.Second)
		}
	}
	if c.Verb == sites.Switch && !w.plan.sites[a.site].passive {
		return
	}
	switch c.Verb {
	case sites.Pause, sites.Resume, sites.FailbackNow:
		c.Node = ""
	}
	w.command(c)
}

func (o *outcome) tail(n int) string {
	return strings.Join(o.lines[max(0, len(o.lines)-n):], "\n")
}
