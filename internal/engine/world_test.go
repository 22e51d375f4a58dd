package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world is a controller's deciding part and all that it meets, in virtual time.
type world struct {
	cfg    *sites.Config
	engine *engine.Engine
	seed   uint64
	starts uint64
	count  uint64 // of probes, so that each has its own fate

	now       time.Duration // by the clock that counts sleep
	wallShift time.Duration
	suspect   bool
	ragged    bool // answers take their time, come late and out of order

	down, unknown, failing map[string]bool // of "site/node", and of "site/node probe"
	silent                 map[string]bool // of "site witness"
	cut                    map[string]bool // of sites
	loss                   int             // of a thousand probes, by chance
	work                   map[string]int  // of "site/node": none is known, quiet, busy

	pending []pending
	done    []engine.Finished
	watch   *watch
	turns   int
	tell    func(format string, args ...any) // nil, or what happens is told
	hear    func(t engine.Turn)              // nil, or hears every turn
}

// pending is a probe that is under way.
type pending struct {
	run     probes.Run
	at      time.Duration // when it ends
	handed  time.Duration // when that is handed in
	refused bool
	asked   []sites.Probe // of a node, as it was when the probe started
}

func newWorld(cfg *sites.Config, seed uint64, fail func(format string, args ...any)) *world {
	w := &world{
		cfg: cfg, seed: seed, now: time.Hour,
		down: map[string]bool{}, unknown: map[string]bool{}, failing: map[string]bool{},
		silent: map[string]bool{}, cut: map[string]bool{}, work: map[string]int{},
	}
	if fail != nil {
		w.watch = newWatch(w, fail)
	}
	return w
}

func (w *world) instant() sites.Instant {
	return sites.Instant{Boot: w.now, Wall: midnight.Add(w.now + w.wallShift), Suspect: w.suspect}
}

func (w *world) machine() *sites.Machine { return w.engine.Machine() }

// fate is a number of its own for every probe.
func (w *world) fate() uint64 {
	w.count++
	x := w.seed + w.count*0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// start starts the controller with what was stored.
func (w *world) start(saved sites.Saved) {
	w.engine = engine.New(w.instant(), w.cfg, saved, w.seed+w.starts)
	w.starts++
	w.pending = w.pending[:0]
	if w.watch != nil {
		w.watch.started()
	}
	w.turn(nil)
}

// restart stops the controller and starts it again after a while, with what
// was stored passing through JSON as it does through a store.
func (w *world) restart(off time.Duration) {
	text, err := json.Marshal(w.saved())
	if err != nil {
		panic(err)
	}
	var saved sites.Saved
	if err := json.Unmarshal(text, &saved); err != nil {
		panic(err)
	}
	w.now += off
	w.start(saved)
}

func (w *world) saved() sites.Saved {
	saved := sites.Saved{Global: w.machine().Global()}
	for i := range w.cfg.Sites {
		saved.Sites = append(saved.Sites, w.machine().Saved(i))
	}
	return saved
}

// until lets all happen that is due before a time.
func (w *world) until(end time.Duration) {
	for {
		next := w.engine.Next()
		for i := range w.pending {
			next = min(next, w.pending[i].handed)
		}
		if next >= end {
			break
		}
		w.now = max(w.now, next)
		w.turn(nil)
	}
	w.now = max(w.now, end)
}

// sleep suspends the machine.
func (w *world) sleep(d time.Duration) {
	w.now += d
	w.turn(nil)
}

// turn is one turn of the loop and those that follow at the same moment.
func (w *world) turn(cmd *sites.Command) (reply sites.Reply) {
	for again := 0; ; again++ {
		w.finish()
		if w.watch != nil {
			w.watch.before(w.done, cmd)
		}
		t := w.engine.Turn(w.instant(), engine.Input{Done: w.done, Command: cmd})
		w.turns++
		if t.Reply != nil {
			reply = *t.Reply
		}
		w.follow(t)
		cmd = nil
		if !slices.ContainsFunc(w.pending, func(p pending) bool { return p.handed <= w.now }) {
			return reply
		}
		if again > 100 {
			panic(fmt.Sprintf("at %s: a hundred turns at one moment, and no end", w.now))
		}
	}
}

// reload puts another configuration in place.
func (w *world) reload(cfg *sites.Config) {
	w.cfg = cfg
	if w.watch != nil {
		w.watch.reloading()
	}
	t := w.engine.Reload(w.instant(), cfg)
	w.turns++
	w.follow(t)
	w.turn(nil)
}

// follow carries out what a turn asks for.
func (w *world) follow(t engine.Turn) {
	if w.hear != nil {
		w.hear(t)
	}
	if w.tell != nil {
		for i := range t.Events {
			e := &t.Events[i]
			w.tell("%-10s %3d %s %s: %s [%d]", w.now-time.Hour, e.ID, e.Kind, e.Subject(), e.Text, e.Resolves)
		}
	}
	if w.watch != nil {
		w.watch.after(t)
	}
	for _, run := range t.Runs {
		w.launch(run)
	}
}

// launch starts a probe: how long its answer takes is its fate.
func (w *world) launch(run probes.Run) {
	fate := w.fate()
	p := pending{run: run, at: run.Start}
	if n := w.node(run.Subject.Site, run.Subject.Node); n != nil {
		p.asked = n.Probes
	}
	if w.ragged {
		switch fate % 16 {
		case 0:
			p.at += (run.Deadline - run.Start) * 9 / 10
		case 1:
			p.at = run.Deadline + time.Duration(fate>>32%3000)*time.Millisecond // late
		default:
			p.at += time.Duration(fate >> 32 % 30_000_000)
		}
	}
	if int(fate>>20%1000) < w.loss {
		p.at = max(p.at, run.Deadline)
	}
	if s := run.Subject; s.Node != "" && !w.reached(s) {
		if w.down[s.Site+"/"+s.Node] && !w.cut[s.Site] && fate>>8%3 == 0 {
			p.refused = true
		} else {
			p.at = max(p.at, run.Deadline)
		}
	} else if !w.reached(s) {
		p.at = max(p.at, run.Deadline)
	}
	p.handed = p.at
	if w.ragged && fate>>16%32 == 0 {
		p.handed += time.Duration(fate>>40%500) * time.Millisecond
	}
	w.pending = append(w.pending, p)
}

// reached says whether what is asked would answer now.
func (w *world) reached(s sites.Subject) bool {
	if w.cut[s.Site] || w.cut[s.Site+" "+sites.FamilyOf(s.Addr).String()] {
		return false
	}
	if s.Node == "" {
		return !w.silent[s.Site+" "+s.Witness]
	}
	return !w.down[s.Site+"/"+s.Node]
}

// finish gathers the probes whose results are handed in now. One whose answer
// was on its way when the line was cut runs into its timeout.
func (w *world) finish() {
	w.done = w.done[:0]
	kept := w.pending[:0]
	for _, p := range w.pending {
		if p.handed > w.now {
			kept = append(kept, p)
			continue
		}
		if !p.refused && p.at < p.run.Deadline && p.at > p.run.Start && !w.reached(p.run.Subject) {
			p.at, p.handed = p.run.Deadline, p.run.Deadline
			if p.handed > w.now {
				kept = append(kept, p)
				continue
			}
		}
		if res := w.result(p); len(res.Checks) > 0 {
			w.done = append(w.done, engine.Finished{Run: p.run, Result: res})
		}
	}
	w.pending = kept
}

// result is what came of a probe.
func (w *world) result(p pending) sites.Result {
	s := p.run.Subject
	res := sites.Result{Subject: s, Start: p.run.Start, Finish: p.at}
	check := sites.Check{Outcome: sites.Up, Duration: p.at - p.run.Start}
	switch {
	case p.refused:
		check.Outcome, check.Cause = sites.Down, string(probes.CauseRefused)
	case p.at > p.run.Deadline:
		check.Outcome, check.Cause = sites.Unknown, string(probes.CauseLocalBusy)
	case p.at == p.run.Deadline:
		check.Outcome, check.Cause = sites.Down, string(probes.CauseTimeout)
	}
	if s.Node == "" {
		res.Checks = []sites.Check{check}
		return res
	}
	for _, probe := range p.asked {
		c := check
		switch name := s.Site + "/" + s.Node; {
		case w.unknown[name]:
			c.Outcome, c.Cause = sites.Unknown, string(probes.CauseLocalBusy)
		case c.Outcome == sites.Up && w.failing[name+" "+probe.Name]:
			c.Outcome, c.Cause = sites.Down, string(probes.CauseRefused)
		}
		if busy := w.work[s.Site+"/"+s.Node]; busy > 0 && c.Outcome == sites.Up {
			c.Figures = figures[busy-1]
		}
		res.Checks = append(res.Checks, c)
	}
	return res
}

// figures are those of a quiet and of a busy node.
var figures = func() (list []*sites.Figures) {
	for _, x := range []float64{0.1, 0.9} {
		load, bytes := x, x*5000
		list = append(list, &sites.Figures{Load: &load, BytesPerSecond: &bytes})
	}
	return list
}()

func (w *world) site(name string) *sites.Site {
	for i := range w.cfg.Sites {
		if s := &w.cfg.Sites[i]; s.Name == name {
			return s
		}
	}
	return nil
}

func (w *world) node(site, name string) *sites.Node {
	s := w.site(site)
	if s == nil {
		return nil
	}
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i]
		}
	}
	return nil
}

func (w *world) say(format string, args ...any) {
	if w.tell != nil {
		w.tell("%-10s --- %s", w.now-time.Hour, strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}
