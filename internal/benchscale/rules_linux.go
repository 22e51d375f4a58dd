package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/engine"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// costs are what one result costs the rules and the schedule: where every node
// answers, where all fail and none has gone yet, and where all are out.
type costs struct{ up, failing, out time.Duration }

// turns measures them, each after a while in which nothing changes any more.
func turns(path string) (c costs, err error) {
	cfg, err := config.Load(path)
	if err != nil {
		return c, err
	}
	e := newVirtual(&cfg.Sites)
	count := len(e.engine.Machine().Targets())
	e.results(2*count, true)
	c.up = e.median(count, true)
	e.results(4*count, false)
	c.failing = e.median(count, false)
	if word := e.word(); word != sites.WordFailing {
		return c, fmt.Errorf("a node that has been down for a while is %s", word)
	}
	for i := range cfg.Sites.Sites {
		for j := range cfg.Sites.Sites[i].Nodes {
			cfg.Sites.Sites[i].Nodes[j].Threshold = time.Second
		}
	}
	e = newVirtual(&cfg.Sites)
	e.results(2*count, true)
	e.results(8*count, false)
	c.out = e.median(count, false)
	if word := e.word(); word != sites.WordOut {
		return c, fmt.Errorf("a node that has been down for long is %s", word)
	}
	if min(c.up, c.failing, c.out) == 0 {
		return c, errors.New("the rules take no time")
	}
	return c, nil
}

func newVirtual(cfg *sites.Config) *virtual {
	e := &virtual{now: time.Hour}
	e.engine = engine.New(e.instant(), cfg, sites.Saved{}, 1)
	return e
}

// word is the state of a node.
func (v *virtual) word() sites.Word {
	return v.engine.Machine().Saved(0).Nodes[0].Lines[sites.IPv4].Word
}

// virtual is an engine in a time of its own, where every probe has its result in
// the next turn.
type virtual struct {
	engine *engine.Engine
	now    time.Duration
	done   []engine.Finished
}

func (v *virtual) instant() sites.Instant {
	return sites.Instant{Boot: v.now, Wall: time.Unix(1_800_000_000, 0).Add(v.now)}
}

// median is of batches, since the machine may do something else during some.
func (v *virtual) median(count int, up bool) time.Duration {
	var took []time.Duration
	for range 11 {
		took = append(took, v.results(min(max(count, 2000), 5000), up))
	}
	return quantile(took, 0.5)
}

// results hands in so many results, and gives what one cost: the time that the thread
// had a processor, since others may want it too.
func (v *virtual) results(n int, up bool) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	for handed := 0; handed < n; handed += len(v.done) {
		t := v.engine.Turn(v.instant(), engine.Input{Done: v.done})
		next := v.engine.Next()
		v.done = v.done[:0]
		for _, run := range t.Runs {
			v.done = append(v.done, v.result(run, up))
		}
		if v.now++; len(v.done) == 0 {
			v.now = max(v.now, next)
		}
	}
	return (threadTime() - began) / time.Duration(n)
}

// threadTime is the time that this thread has had a processor.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func (v *virtual) result(run probes.Run, up bool) engine.Finished {
	c := sites.Check{Outcome: sites.Up, Duration: time.Millisecond}
	if !up && run.Subject.Node != "" {
		c = sites.Check{Outcome: sites.Down, Cause: string(probes.CauseRefused), Text: "connection refused", Duration: time.Millisecond}
	}
	return engine.Finished{Run: run, Result: sites.Result{Subject: run.Subject, Start: v.now, Finish: v.now, Checks: []sites.Check{c}}}
}
