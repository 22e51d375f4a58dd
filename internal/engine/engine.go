// Package engine joins the decision rules to the schedule of probes. It is the
// part that the running controller and the rehearsals share: both tell it the
// time and what came of probes, and carry out what it asks for. It has no
// goroutine and no clock.
package engine

import (
	"time"

	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// Engine is one controller's deciding part. It is not safe for concurrent use.
type Engine struct {
	machine  *sites.Machine
	schedule *probes.Schedule
	next     time.Duration
	// reloaded is when the configuration in place was put there.
	reloaded time.Duration
	results  []sites.Result
	runs     []probes.Run
}

// Finished is a run that has ended, with what came of it.
type Finished struct {
	Run    probes.Run
	Result sites.Result
}

// Turn is what follows from one turn of the loop. Its slices are valid until
// the next one.
type Turn struct {
	sites.Effects
	// Runs are to be started now.
	Runs []probes.Run
}

// New makes an engine with what the last one has stored. The seed spreads the
// probes: the same seed gives the same schedule.
func New(now sites.Instant, cfg *sites.Config, saved sites.Saved, seed uint64) *Engine {
	e := &Engine{machine: sites.New(now, cfg, saved), schedule: probes.NewSchedule(seed), next: now.Boot}
	e.schedule.Set(e.tasks(), now.Boot)
	return e
}

// Machine gives the rules' part, for reading.
func (e *Engine) Machine() *sites.Machine { return e.machine }

// Input is what has happened since the last turn.
type Input struct {
	Done    []Finished
	Command *sites.Command
	// Events are those that happened around the rules; see [sites.Input].
	Events []sites.Event
}

// Turn hands in what has happened until now.
func (e *Engine) Turn(now sites.Instant, in Input) Turn {
	e.results = e.results[:0]
	for i := range in.Done {
		run, res := in.Done[i].Run, in.Done[i].Result
		e.schedule.Done(run)
		if run.Start < e.reloaded {
			// It asks by the definitions before the reload, however late its
			// first packet left (O2).
			res.Start = min(res.Start, run.Start)
		}
		e.results = append(e.results, res)
	}
	return e.follow(now, e.machine.Step(now, sites.Input{Results: e.results, Command: in.Command, Events: in.Events}))
}

// Reload puts another configuration in place.
func (e *Engine) Reload(now sites.Instant, cfg *sites.Config) Turn {
	e.reloaded = now.Boot
	return e.follow(now, e.machine.Reload(now, cfg))
}

// follow keeps the schedule with what the rules have said.
func (e *Engine) follow(now sites.Instant, fx sites.Effects) Turn {
	e.runs = e.runs[:0]
	if fx.Subjects {
		e.schedule.Set(e.tasks(), now.Boot)
	}
	if fx.Blind {
		e.schedule.Restart(now.Boot)
	}
	for _, s := range fx.Probe {
		if run, ok := e.schedule.Ask(s, now.Boot); ok {
			e.runs = append(e.runs, run)
		}
	}
	e.runs = append(e.runs, e.schedule.Due(now.Boot)...)
	e.next = fx.Next
	return Turn{Effects: fx, Runs: e.runs}
}

// Next is when the next Turn is due at the latest, on the clock of
// [sites.Instant.Boot].
func (e *Engine) Next() time.Duration {
	if at, ok := e.schedule.Next(); ok && at < e.next {
		return at
	}
	return e.next
}

func (e *Engine) tasks() []probes.Task {
	targets := e.machine.Targets()
	tasks := make([]probes.Task, len(targets))
	for i, t := range targets {
		tasks[i] = probes.Task{Subject: t.Subject, Interval: t.Interval, Timeout: t.Timeout}
	}
	return tasks
}
