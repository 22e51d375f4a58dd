package alert

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// How long the engine waits for others.
const (
	explainWithin = time.Second
	followAgain   = time.Second
	// fresh is how old an event may be whose subject is explained as it is now.
	fresh = time.Minute
	// maxExplained bounds how many subjects are explained at a time.
	maxExplained = 10
	// maxTaken bounds how many events one turn takes.
	maxTaken = 512
)

// World is what the engine needs of the controller.
type World struct {
	// Follow gives the events after one, as they come; the channel is closed
	// when the engine was too slow, and it then follows anew.
	Follow func(ctx context.Context, after uint64) (<-chan sites.Event, error)
	// Explain says why SITE or SITE/NODE is as it is.
	Explain func(ctx context.Context, subject string) []string
	// Raise enters an event; it does not wait.
	Raise func(sites.Event)
	// Keep stores values soon, KeepNow returns when they last; nil removes one.
	Keep    func(map[string][]byte)
	KeepNow func(context.Context, map[string][]byte) error
	// Exists says whether a site or one of its nodes is configured.
	Exists func(site, node string) bool
	// Wake has a target wake a machine up.
	Wake func(ctx context.Context, via *Via, mac net.HardwareAddr) error
	// Healthy gives nil while the controller decides.
	Healthy func(context.Context) error
	// Wall is the wall clock; nil for the machine's.
	Wall func() time.Time
	Log  *slog.Logger
}

// Engine follows the events and tells of them. Its goroutines end with the
// context that [Engine.Run] is given.
type Engine struct {
	world World
	turns chan struct{} // holds one: something is to be looked at

	mu    sync.Mutex
	cfg   *Config
	fresh bool // another configuration has come
	boxes map[string]*outbox
	// notes are what is to be stored of channels by key, and what of them has
	// left.
	left map[string][]byte
	// spares are messages that take their fallback.
	spares []spared
	// failed are the events of channels that fail, by name; 0 where the event
	// was raised and has not come back.
	failed map[string]uint64
	// droppedAt is when dropping was last told, by channel.
	droppedAt map[string]time.Time
	// past is what became of the last messages, by channel, the newest first.
	past map[string][]Delivered
	beat beat
	// open and waiting are what people may ask for of the book.
	open    []Incident
	waiting int

	// What follows belongs to Run's goroutine.
	book    *Book
	active  bool
	deaf    bool // the events cannot be followed
	actions *actions
	stops   map[string]context.CancelFunc
	running sync.WaitGroup
	clock   clock
	todo    []action
	// kept and shown are the book's changes that are stored and published.
	kept, shown uint64
	// keepAt is when the book may be stored again, where nothing is urgent.
	keepAt time.Time
}

// New makes an engine with what an earlier one has stored. last is the event
// that came last before this start: a book that is not there yet begins after
// it, and none is further.
func New(cfg *Config, world World, stored map[string][]byte, last uint64) *Engine {
	e := &Engine{
		world: world, cfg: cfg, turns: make(chan struct{}, 1), boxes: make(map[string]*outbox),
		left: make(map[string][]byte), failed: make(map[string]uint64), droppedAt: make(map[string]time.Time),
		stops: make(map[string]context.CancelFunc), past: make(map[string][]Delivered), book: NewBook(cfg.Routes, cfg.Group, last),
	}
	e.actions, e.clock = newActions(world), newClock(world.Wall)
	e.active = cfg.active()
	e.restore(stored)
	return e
}

func (c *Config) active() bool { return len(c.Channels) > 0 || len(c.Actions) > 0 }

func (c *Config) has(channel string) bool {
	return slices.ContainsFunc(c.Channels, func(x Channel) bool { return x.Name == channel })
}

// Run works until ctx ends, and returns when all goroutines have.
func (e *Engine) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer e.settle()
	defer cancel()
	e.begin(ctx)
	events, again := e.follow(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case ev, ok := <-events:
			if !ok { // it was too slow
				events, again = nil, time.After(followAgain)
				continue
			}
			e.take(ctx, ev, events)
		case <-again:
			events, again = e.follow(ctx)
			continue
		case <-timer.C:
		case <-e.turns:
		case <-ctx.Done():
			return
		}
		timer.Reset(e.turn(ctx))
	}
}

// settle ends the goroutines, and stores what they did last.
func (e *Engine) settle() {
	e.running.Wait()
	e.mu.Lock()
	left := e.left
	e.left = make(map[string][]byte)
	e.mu.Unlock()
	e.encode(left)
	if len(left) > 0 {
		e.world.Keep(left)
	}
}

// follow begins to follow the events. Where that cannot be done now it gives when to
// try again: what is known is told meanwhile, that the store fails above all.
func (e *Engine) follow(ctx context.Context) (<-chan sites.Event, <-chan time.Time) {
	events, err := e.world.Follow(ctx, e.book.Last)
	if err == nil {
		e.deaf = false
		return events, nil
	}
	if !e.deaf {
		e.world.Log.Warn("follow the events for alerts", "error", err)
	}
	e.deaf = true
	return nil, time.After(followAgain)
}

// take enters an event and those that wait behind it.
func (e *Engine) take(ctx context.Context, ev sites.Event, events <-chan sites.Event) {
	said := make(map[string][]string)
	for n := 0; ; n++ {
		e.enter(ctx, ev, said)
		if n >= maxTaken {
			return
		}
		select {
		case more, ok := <-events:
			if !ok {
				return // it is closed: the next look at it says so
			}
			ev = more
		default:
			return
		}
	}
}

func (e *Engine) enter(ctx context.Context, ev sites.Event, said map[string][]string) {
	if ev.ID <= e.book.Last {
		return
	}
	now := time.Now()
	if !e.active {
		e.book.Take(ev, nil, e.look()) // nobody is told; what lasts is known once somebody is
		return
	}
	if ev.Kind == sites.AlertFailed && ev.Part != "" {
		e.mu.Lock()
		if e.boxes[ev.Part] == nil {
			e.forget(ev.Part, ev.ID)
		} else {
			e.failed[ev.Part] = ev.ID
			e.left[failedKey+ev.Part] = fmt.Appendf(nil, "%d", ev.ID)
		}
		e.mu.Unlock()
	}
	subject := ev.Subject()
	if _, done := said[subject]; !done && subject != "" && rank(ev.Severity) > 0 && len(said) < maxExplained && now.Sub(ev.Time) < fresh {
		within, cancel := context.WithTimeout(ctx, explainWithin)
		said[subject] = e.world.Explain(within, subject)
		cancel()
	}
	e.book.Take(ev, said[subject], e.look())
	e.todo = append(e.todo, e.actions.choose(&ev, now)...)
}

// rouse has the engine look at what is due.
func (e *Engine) rouse() {
	select {
	case e.turns <- struct{}{}:
	default:
	}
}

// all lists the outboxes in the order of the channels.
func (e *Engine) all() (list []*outbox) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.cfg.Channels {
		if o := e.boxes[e.cfg.Channels[i].Name]; o != nil {
			list = append(list, o)
		}
	}
	return list
}

func (e *Engine) box(name string) *outbox {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.boxes[name]
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
