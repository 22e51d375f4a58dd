package rehearsal

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/clock"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/sites"
)

// Options of a play.
type Options struct {
	// Seed spreads the probes over their intervals.
	Seed uint64
	// Trace, if not nil, is told every event and every change of an answer.
	Trace io.Writer
}

// Result is what came of a play.
type Result struct {
	// Differences between what the file expects and what happened.
	Differences []Difference
	// Elapsed is the virtual time that was played.
	Elapsed time.Duration
	Steps   int
}

// Difference is one expectation that did not hold.
type Difference struct {
	Pos  config.Pos
	At   time.Duration
	Text string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: at %s: %s", d.Pos, d.At, d.Text)
}

// play is a rehearsal under way.
type play struct {
	r     *Rehearsal
	opt   Options
	cfg   *config.Config
	world *world
	dns   *dnsserver.Server

	now       time.Duration // since the start
	wallShift time.Duration // what jumps of the wall clock have added
	believed  time.Time     // the last event while the clock was not suspect

	engine   *engine.Engine // nil while the controller is off
	saved    sites.Saved
	offUntil time.Duration
	asleep   bool
	starts   uint64
	pending  []pending
	done     []engine.Finished
	answers  map[sites.PoolID]sites.Answer

	events []sites.Event // since the last step that named events
	result Result
}

// Play plays the rehearsal from its start to its last step.
func (r *Rehearsal) Play(opt Options) (Result, error) {
	p := &play{r: r, opt: opt, cfg: r.config, world: newWorld(r.config), answers: map[sites.PoolID]sites.Answer{}}
	if err := p.names(r.config); err != nil {
		return Result{}, err
	}
	p.start()
	for i := range r.steps {
		s := &r.steps[i]
		p.until(s.At.V)
		for j := range s.Do {
			if err := p.act(&s.Do[j]); err != nil {
				return Result{}, err
			}
		}
		p.compare(s)
		p.result.Steps++
	}
	p.result.Elapsed = p.now
	return p.result, nil
}

// names puts the names of a configuration in place, to be looked up as a
// client would.
func (p *play) names(cfg *config.Config) error {
	s, err := dnsserver.New(lookedUp(cfg), dnsserver.Options{Now: p.r.startTime})
	if err != nil {
		return fmt.Errorf("prepare names: %w", err)
	}
	p.dns = s
	return nil
}

func (r *Rehearsal) startTime() time.Time { return r.start }

// instant is now on both clocks. The wall clock counts as right unless the
// rehearsal has set it back.
func (p *play) instant() sites.Instant {
	wall := p.r.start.Add(p.now + p.wallShift)
	suspect := clock.Suspect(clock.Evidence{Wall: wall, LastEvent: p.believed}) != ""
	return sites.Instant{Boot: p.now, Wall: wall, Suspect: suspect}
}

// start starts the controller with what it has stored.
func (p *play) start() {
	p.engine = engine.New(p.instant(), &p.cfg.Sites, p.saved, p.opt.Seed+p.starts)
	p.starts++
	p.pending = nil
	p.turn(nil)
}

// until plays all that is due before a time.
func (p *play) until(end time.Duration) {
	for {
		next := p.offUntil
		if p.engine != nil && !p.asleep {
			next = p.engine.Next()
			for i := range p.pending {
				next = min(next, p.pending[i].at)
			}
		}
		if next >= end {
			break
		}
		p.now = max(p.now, next)
		switch {
		case p.engine == nil:
			p.start()
		case p.asleep:
			p.asleep = false
			p.wake()
		default:
			p.turn(nil)
		}
	}
	p.now = end
}

// wake ends a sleep: what was under way has ended meanwhile.
func (p *play) wake() {
	for i := range p.pending {
		p.pending[i].at = p.now
		p.pending[i].res.Finish = p.now
	}
	p.turn(nil)
}

// turn is one turn of the loop, and those that follow at the same moment. It
// gives the reply to a command.
func (p *play) turn(cmd *sites.Command) (reply *sites.Reply) {
	for {
		p.done = p.done[:0]
		p.pending = slices.DeleteFunc(p.pending, func(x pending) bool {
			if x.at > p.now {
				return false
			}
			p.done = append(p.done, engine.Finished{Run: x.run, Result: x.res})
			return true
		})
		t := p.engine.Turn(p.instant(), engine.Input{Done: p.done, Command: cmd})
		if t.Reply != nil {
			r := *t.Reply
			reply = &r
		}
		cmd = nil
		if p.follow(t) == 0 {
			return reply
		}
	}
}

// follow carries out what a turn asks for, and says how many probes have ended
// at once.
func (p *play) follow(t engine.Turn) (ended int) {
	trusted := !p.instant().Suspect
	for _, e := range t.Events {
		p.events = append(p.events, e)
		if trusted && e.Time.After(p.believed) {
			p.believed = e.Time
		}
		p.trace("%-9s %-8s %s %s: %s", p.now, e.Severity, e.Kind, e.Subject(), e.Text)
	}
	if p.opt.Trace != nil {
		p.traceAnswers(t.Touched)
	}
	for _, run := range t.Runs {
		res := p.world.probe(run)
		if len(res.Checks) == 0 {
			continue
		}
		p.pending = append(p.pending, pending{run: run, res: res, at: res.Finish})
		if res.Finish <= p.now {
			ended++
		}
	}
	return ended
}

func (p *play) trace(format string, args ...any) {
	if p.opt.Trace != nil {
		fmt.Fprintf(p.opt.Trace, format+"\n", args...)
	}
}

func (p *play) traceAnswers(touched []sites.PoolID) {
	m := p.engine.Machine()
	for _, id := range touched {
		a := m.Answer(id)
		if old, ok := p.answers[id]; ok && old.SameRecords(a) && old.Source == a.Source && old.From == a.From {
			continue
		}
		p.answers[id] = a
		s := &p.cfg.Sites.Sites[id.Site]
		p.trace("%-9s answer   %s/%s (%s): %v", p.now, s.Name, s.Pools[id.Pool].Name, a, slices.Concat(a.IPv4, a.IPv6))
	}
}

// machine gives what expectations look at: the controller, or, while it is off,
// what it has stored.
func (p *play) machine() *sites.Machine {
	if p.engine != nil {
		return p.engine.Machine()
	}
	return sites.New(p.instant(), &p.cfg.Sites, p.saved)
}

// store gives what the controller would have stored.
func (p *play) store() sites.Saved {
	m := p.engine.Machine()
	saved := sites.Saved{Global: m.Global()}
	for i := range p.cfg.Sites.Sites {
		saved.Sites = append(saved.Sites, m.Saved(i))
	}
	return saved
}

// act carries out one action.
func (p *play) act(a *action) error {
	if a.Passes.Set {
		p.world.pass(a.Passes.V)
		return nil
	}
	for _, c := range a.changes() {
		if !c.value.Set {
			continue
		}
		marks := c.marks(p.world)
		for _, name := range p.world.sites(c.value.V) {
			if marks[name] = c.set; !c.set {
				delete(marks, name)
			}
		}
		return nil
	}
	switch {
	case a.Load != nil:
		p.world.work[a.Load.Node.V] = a.Load.figures()
	case a.Restart.Set:
		if p.engine != nil { // one that is off stays so for that long
			p.saved = p.store()
		}
		p.engine, p.asleep, p.offUntil = nil, false, p.now+a.Restart.V
	case a.Suspend.Set:
		p.asleep, p.offUntil = p.engine != nil, max(p.offUntil, p.now+a.Suspend.V)
	case a.Clock.Set:
		p.wallShift = a.Clock.V.Sub(p.r.start.Add(p.now))
	case !a.Config.IsZero():
		return p.reload(a)
	default:
		p.command(a)
	}
	return nil
}

func (p *play) differ(pos config.Pos, format string, args ...any) {
	p.result.Differences = append(p.result.Differences, Difference{Pos: pos, At: p.now, Text: fmt.Sprintf(format, args...)})
}
